// The window's sessions with their agents, and the commands for sessions and their queues.

import { join } from 'node:path';
import { type ExtensionContext, l10n, workspace } from 'vscode';
import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import type { SessionInfo } from '../../acp/protocol/dialect';
import { missingFileReadsEmpty } from '../../acp/quirks/gemini';
import { Awake, isOnBattery } from '../../agents/awake';
import { listGuarded } from '../../agents/orphanGuard';
import { WindowsOrphans } from '../../agents/windowsOrphans';
import { ParleyError } from '../../base/errors';
import { openFolderStates } from '../../changes/folderStates';
import { livenessOf } from '../../client/connection/livenessProbe';
import { canContinueLater } from '../../client/connection/sessionOpenStrategy';
import type { RememberedChoices } from '../../client/connection/shownChoices';
import type { Conversation } from '../../client/conversation/conversation';
import type { ConversationServices } from '../../client/conversation/conversationOptions';
import { IdleAgents } from '../../client/conversation/idleAgents';
import { choiceOf, nextOf, valueLabel } from '../../client/conversation/sessionChoices';
import { WarmAgent } from '../../client/conversation/warmAgent';
import { ServerRefusals } from '../../client/mcp/serverRefusals';
import type { FactStore } from '../../client/ports/ports';
import { AgentFiles } from '../../client/requests/agentFiles';
import { Terminals } from '../../client/terminals/terminals';
import { Keepers } from '../../client/transport/keepers';
import { ProtocolOffers } from '../../client/transport/protocolOffers';
import { worksByItself } from '../../client/view/sessionStatus';
import { pastOf } from '../../session/model/pastOf';
import type { SearchResult } from '../../store/search/search';
import type { SessionRecord } from '../../store/sessions/records';
import { TrafficLog } from '../../traffic/trafficLog';
import { statusAnswerLabel } from '../../troubleshoot/checks/protocol';
import { EditorWorkingFiles } from '../changes/documents/workingFiles';
import { EditorUserEdits } from '../changes/userEdits';
import { ChatHome } from '../chat/chatHome';
import { clearQueue } from '../chat/clearQueue';
import { isProgram } from '../commands/commandErrors';
import { onlyOf, registerForSession, sessionOf } from '../commands/commandSession';
import { continueWithSummary } from '../commands/continueWith';
import { confirmForeign, knownFolders, mayOpen } from '../commands/foreignFolders';
import { folderOfNew, isUnused, startInPlaceOf } from '../commands/newSessions';
import { offerRemoval } from '../commands/removeWorktrees';
import { showSessionInfo } from '../commands/showSessionInfo';
import { type NewWorktreeSession, openInWorktree } from '../commands/worktreeActions';
import { AgentCatalog } from '../config/agentCatalog';
import { McpServers } from '../config/mcpServers';
import { permissionRules } from '../config/permissionSettings';
import { RemoteHeaders } from '../config/remoteHeaders';
import { SavedKeys } from '../config/savedKeys';
import {
  afterCancel,
  backgroundPolicy,
  idleLimitMs,
  keepAwake,
  keepsWarmAgent,
  promptSuggestions,
  recordsChanges,
  restartsAgents,
  startTimeoutMs,
} from '../config/settings';
import { systemPrompt } from '../config/systemPrompt';
import { type Contribution, schedule, type Workbench } from '../core/workbench';
import { EditorFiles } from '../editor/editorFiles';
import { Proposals } from '../editor/proposals';
import { SessionTexts } from '../editor/readOnlyTexts';
import { signInTerminal } from '../editor/signInTerminal';
import { EditorToolHost } from '../editorTools/editorToolHost';
import { Descriptors } from '../sharing/descriptors';
import { askLine, pick } from '../ui/input';
import { showInfo, showStatus, showWarning, tellError } from '../ui/messages';
import { Archive } from './archive';
import { AsideQuestions } from './asideQuestions';
import { Conversations } from './conversations';
import { KeptSessions, nameOf } from './keptSessions';
import { ProblemsAfterTurn } from './problemsAfterTurn';
import { type ExportArgument, exportToFile, type ImportArgument, importFromFile } from './sessionFiles';
import { isForeign, short, titleOf } from './sessionLabels';
import { sessionMarkdown } from './sessionMarkdown';
import { pickSession } from './sessionPicker';

const ANSWER_MS = 15_000;
const MOST_FOUND = 100;

/** `search` and `recall` are about stored sessions, the others about the current agent's. */
interface SessionArgument {
  readonly action?: 'list' | 'open' | 'delete' | 'archive' | 'unarchive' | 'rename' | 'search' | 'recall';
  readonly session?: string;
  readonly sessionId?: string;
  readonly title?: string;
  readonly text?: string;
  readonly key?: string;
}

/** A stored session as `search` returns it; times are in ms since 1970. */
export interface FoundSession {
  readonly key: string;
  readonly name: string;
  readonly agentId: string;
  readonly cwd: string;
  readonly updatedAt: number;
  readonly snippet: string;
}

export const sessions: Contribution = {
  parts(workbench) {
    const { environment, log } = workbench;
    const archive = workbench.get(Archive);
    const catalog = workbench.get(AgentCatalog);
    workbench.add(new Terminals({ log, env: environment, isTrusted: () => workspace.isTrusted }));
    if (process.platform === 'win32') {
      const orphans = new WindowsOrphans(workbench.folder('started'), log);
      listGuarded(orphans);
      void orphans.endOthers();
    }
    workbench.add(
      new Keepers({
        folder: workbench.folder('keepers'),
        program: join(workbench.context.extensionUri.fsPath, 'dist', 'keeper.js'),
        policy: backgroundPolicy,
        log,
      }),
    );
    workbench.add(new TrafficLog());
    const services = conversationServices(workbench);
    const scratch = workbench.folder('no-folder');
    const storage = { scratch, worktrees: workbench.folder('worktrees') };
    const warm = new WarmAgent({ isOn: keepsWarmAgent, limitMs: idleLimitMs, schedule });
    const conversations = workbench.add(new Conversations(catalog, services, archive, storage, warm));
    workbench.own(workspace.onDidGrantWorkspaceTrust(() => conversations.onTrusted()));
    const questions = workbench.add(new AsideQuestions({ services, catalog, folder: workbench.folder('drafts') }));
    workbench.add(new ProblemsAfterTurn({ conversations, diagnoser: workbench.get(EditorToolHost).diagnoser, log }));
    const idle = workbench.own(
      new IdleAgents({
        conversations: () => conversations.list(),
        isShown: (key) => workbench.get(ChatHome).isShown(key),
        limitMs: idleLimitMs,
        onCheck: () => conversations.forgetRead((key) => workbench.get(ChatHome).holds(key)),
        now: () => performance.now(),
        schedule,
        log,
      }),
    );
    workbench.own(conversations.onDidChange((key) => idle.changed(key)));
    workbench.own(conversations.onDidActivate((key) => idle.changed(key)));
    workbench.own(
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('parley.idleMinutes')) void idle.check();
      }),
    );
    const awake = workbench.own(
      new Awake({
        policy: () => (workspace.isTrusted ? keepAwake() : 'off'),
        isWorking: () => conversations.list().some(worksByItself),
        isOnBattery: () => isOnBattery(process.platform),
        platform: process.platform,
        log,
      }),
    );
    workbench.own(conversations.onDidChange(() => awake.changed()));
    // Sharing may continue after the last turn has ended.
    workbench.onEnd(() => conversations.closeAll().finally(() => workbench.get(Descriptors).settled()));
    workbench.onEnd(() => questions.end());
  },

  commands(workbench) {
    const conversations = workbench.get(Conversations);
    const archive = workbench.get(Archive);
    const chat = workbench.get(ChatHome);
    const texts = workbench.get(SessionTexts);

    const end = async (conversation: Conversation): Promise<void> => {
      await conversations.close(conversation.key);
      chat.show(conversations.active());
    };
    const recall = (key: string): string => {
      const conversation = conversations.recall(key);
      if (!conversation) throw new ParleyError('no-such-session', l10n.t('There is no session {0}.', key));
      chat.present(conversation);
      return key;
    };
    const keptSessions = async (): Promise<KeptSessions> =>
      new KeptSessions({
        archive,
        copies: workbench.get(Descriptors).leftovers.copies,
        agentName: (id) => workbench.get(AgentCatalog).nameOf(id),
        isOpen: (key) => conversations.find(key) !== undefined,
        roots: await knownFolders(workbench),
        open: async (session: SessionRecord, seq?: number): Promise<void> => {
          if (!(await mayOpen(workbench, session))) return;
          const { key } = session;
          const found = seq === undefined ? undefined : archive.eventAt(key, seq);
          recall(key);
          if (found) chat.reveal(key, found);
        },
        // Not awaited: the notification may stay open for long.
        deleted: ({ cwd }) => void offerRemoval(workbench, cwd).catch(tellError),
      });

    workbench.register('newSession', (argument?: NewSessionArgument) => newSession(workbench, argument));
    workbench.register('selectFolder', () => selectFolder(workbench));
    workbench.register('sessions', async (argument?: SessionArgument) => {
      if (argument?.action === undefined) {
        conversations.active(); // creates one if there is none
        return pickSession({
          conversations,
          kept: await keptSessions(),
          show: (conversation) => void chat.present(conversation),
          openStored: (lister, info) => openStored(workbench, lister, info),
          end,
        });
      }
      if (argument.action === 'search') return (await searchAll(archive, argument.text ?? '')).map(toFoundSession);
      if (argument.action === 'recall') return recall(argument.key ?? '');
      return byArgument(workbench, await sessionOf(workbench, argument), argument);
    });
    registerForSession(workbench, {
      forkSession: (conversation) => fork(workbench, conversation),
      continueWithSummary: async (conversation) => (await continueWithSummary(workbench, conversation))?.key,
      async openAsMarkdown(conversation) {
        await texts.show(titleOf(conversation), await sessionMarkdown(conversation));
      },
      export: (conversation, argument: ExportArgument = {}) => exportToFile(conversation, argument),
      closeSession: end,
      cancel: (conversation) => conversation.cancel(),
      restartAgent: (conversation) => conversation.restart(),
      async checkStatus(conversation, argument?: unknown) {
        const answer = await conversation.checkStatus();
        if (!isProgram([argument])) showAnswer(conversation, answer);
        return { status: livenessOf(answer) };
      },
      sessionInfo: showSessionInfo,
      'queue.pause': ({ queue }) => queue.pause('by-user'),
      'queue.resume': ({ queueActions }) => queueActions.resume(),
      'queue.steer'({ queueActions }) {
        if (queueActions.steerable) queueActions.steer(queueActions.steerable.id);
      },
      'queue.clear': (conversation) => void clearQueue(conversation),
      setMode: (conversation, argument?: { mode?: string }) => choose(conversation, 'mode', argument?.mode),
      setModel: (conversation, argument?: { model?: string }) => choose(conversation, 'model', argument?.model),
      setConfigOption,
    });
    // The keybinding does not name a session, so the user may be asked.
    workbench.register('nextOption', async ({ of = 'mode', session }: NextOption = {}) =>
      chooseNext(await sessionOf(workbench, session === undefined ? undefined : { session }), of),
    );
    workbench.register('import', async (argument: ImportArgument = {}) => {
      const conversation = await importFromFile({ conversations, catalog: workbench.get(AgentCatalog) }, argument);
      if (conversation) chat.present(conversation);
      return conversation?.key;
    });
    workbench.register('send', async (argument?: { text?: string; session?: string }) => {
      const text = argument?.text ?? (await askLine({ prompt: l10n.t('Message to the agent') }));
      if (!text) return undefined;
      // Without any session, the chat's first one gets it, and is shown.
      const isFirst = conversations.list().length === 0 && argument?.session === undefined;
      const conversation = isFirst ? chat.open().conversation : await sessionOf(workbench, argument);
      return conversation.send(text).done;
    });
  },
};

function conversationServices(workbench: Workbench): ConversationServices {
  const { context, environment, log, version } = workbench;
  const files = workbench.get(EditorFiles);
  const userEdits = workbench.get(EditorUserEdits);
  const forAgents = userEdits.filesForAgents(files);
  const traffic = workbench.get(TrafficLog);
  const facts: FactStore = {
    get: (key) => context.globalState.get(key),
    set: (key, value) => void context.globalState.update(key, value),
  };
  return {
    log,
    clock: { now: Date.now },
    client: { name: 'parley', title: 'Parley', version },
    environment,
    filesFor: (agentName, initializeResult, given) =>
      new AgentFiles(forAgents, { agentName, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) }, given),
    terminals: workbench.get(Terminals),
    keepers: workbench.get(Keepers),
    changes: {
      isEnabled: recordsChanges,
      openStates: async (session, roots) =>
        openFolderStates({ session, roots, storage: workbench.folder('changes'), env: await environment(), log }),
      userEdits,
      reviews: workbench.store('reviews'),
      files: workbench.get(EditorWorkingFiles),
    },
    offers: new ProtocolOffers(facts),
    choices: rememberedChoices(context),
    approve: workbench.get(AgentCatalog).approve,
    mcpServers: workbench.get(McpServers).gather,
    editorTools: workbench.get(EditorToolHost),
    serverRefusals: new ServerRefusals(facts),
    signInTerminal,
    remote: workbench.get(RemoteHeaders),
    keys: workbench.get(SavedKeys),
    systemPrompt,
    descriptors: workbench.store('http-sessions'),
    agentState: (key) => workbench.get(Descriptors).agentState(key),
    useEdited: (...answer) => workbench.get(Proposals).useEdited(...answer),
    historyLinks: (key, sessionId) => workbench.get(Descriptors).linksOf(key, sessionId),
    readPart: (key, gapId) => void workbench.get(Descriptors).missing.readPart(key, gapId),
    traceparent: process.env.TRACEPARENT,
    permissionRules,
    isTrusted: () => workspace.isTrusted,
    restarts: restartsAgents,
    startTimeoutMs,
    afterCancel,
    suggestions: promptSuggestions,
    onTraffic: (key, kind, line) => traffic.note(key, kind, line, Date.now()),
  };
}

interface NewSessionArgument extends Omit<NewWorktreeSession, 'preset'> {
  readonly preset?: string;
}

async function newSession(workbench: Workbench, argument?: NewSessionArgument): Promise<string | undefined> {
  const { worktree, preset: name } = argument ?? {};
  const preset = name === undefined ? undefined : workbench.get(AgentCatalog).presets.named(name);
  if (name !== undefined && !preset) throw new ParleyError('no-such-preset', l10n.t('There is no preset “{0}”.', name));
  const cwd = argument?.cwd ?? (await folderOfNew(workbench, !isProgram([argument])));
  if (cwd === undefined) return undefined;
  const agent = preset?.agent ?? argument?.agent;
  return workbench
    .get(ChatHome)
    .start(
      worktree
        ? await openInWorktree(workbench, { ...argument, agent, cwd, preset })
        : workbench.get(Conversations).create({ agent, cwd, preset }),
    );
}

async function selectFolder(workbench: Workbench): Promise<void> {
  const old = onlyOf(workbench.get(ChatHome).current);
  const cwd = await folderOfNew(workbench);
  if (cwd === undefined || (cwd === old?.cwd && isUnused(old))) return;
  await startInPlaceOf(workbench, old, workbench.get(Conversations).create({ agent: old?.agent.id, cwd }));
}

/** @returns the key of the conversation, even if it failed to open: the panel shows why */
async function openStored(workbench: Workbench, lister: Conversation, info: SessionInfo): Promise<string | undefined> {
  const conversations = workbench.get(Conversations);
  const chat = workbench.get(ChatHome);
  const { agent, link } = lister;
  const open = conversations.findSession(agent.id, info.sessionId);
  if (open) {
    chat.present(open);
    return open.key;
  }
  // The agent may replay less of it.
  const stored = workbench.get(Archive).findSession(agent.id, info.sessionId);
  if (!stored && link && !canContinueLater(link.description.features))
    throw new ParleyError('cannot-reopen', l10n.t("{0} can't reopen earlier sessions.", agent.name));
  const cwd = stored?.cwd ?? (info.cwd === '' ? lister.cwd : info.cwd);
  if (isForeign(cwd, lister.roots) && !(await confirmForeign(cwd, agent.name))) return undefined;
  const recalled = stored && conversations.recall(stored.key);
  if (recalled) {
    chat.present(recalled);
    return recalled.key;
  }
  const conversation = conversations.create({
    agent: agent.id,
    cwd,
    title: info.title,
    opening: { kind: 'reopen', sessionId: info.sessionId, transcript: 'replay', joins: true },
  });
  chat.present(conversation);
  await conversation.start();
  return conversation.key;
}

async function fork(workbench: Workbench, origin: Conversation): Promise<string> {
  const { sessionId, agent, cwd, model } = origin;
  if (sessionId === undefined) throw new ParleyError('no-session', l10n.t('{0} has no session yet.', agent.name));
  if (!origin.ops.can('fork')) throw new ParleyError('cannot-fork', l10n.t("{0} can't fork sessions.", agent.name));
  await origin.whole;
  const conversation = workbench.get(Conversations).create({
    agent: agent.id,
    cwd,
    title: l10n.t('{0} (fork)', titleOf(origin)),
    isNamed: model.state.isNamed,
    continues: origin,
    opening: { kind: 'fork', sessionId },
  });
  conversation.note(pastOf(model.state));
  workbench.get(ChatHome).present(conversation);
  await conversation.start();
  return conversation.key;
}

async function searchAll(archive: Archive, text: string): Promise<readonly SearchResult[]> {
  let all: readonly SearchResult[] = [];
  for await (const found of archive.search(text, MOST_FOUND, new AbortController().signal)) all = found;
  return all;
}

function toFoundSession({ session, snippet }: SearchResult): FoundSession {
  const { key, agentId, cwd, updatedAt } = session;
  return { key, name: nameOf(session), agentId, cwd, updatedAt, snippet: snippet.map(({ text }) => text).join('') };
}

async function byArgument(
  workbench: Workbench,
  conversation: Conversation,
  { action, sessionId, title }: SessionArgument,
): Promise<unknown> {
  const { ops } = conversation;
  const signal = AbortSignal.timeout(ANSWER_MS);
  if (action === 'list') {
    const sessions: SessionInfo[] = [];
    for await (const page of ops.list({}, signal)) sessions.push(...page);
    return sessions;
  }
  if (sessionId === undefined) throw new ParleyError('no-session', l10n.t('The id of a session is missing.'));
  switch (action) {
    case 'open':
      return openStored(workbench, conversation, {
        sessionId,
        cwd: '',
        additionalDirectories: [],
        title: title || undefined,
      });
    case 'delete':
      return ops.delete(sessionId, signal);
    case 'rename':
      return ops.setTitle(sessionId, title ?? '', signal);
    default:
      return ops.archive(sessionId, action === 'archive', signal);
  }
}

function showAnswer(conversation: Conversation, answer: StatusAnswer): void {
  const text = `${short(titleOf(conversation))}: ${statusAnswerLabel(answer)}`;
  void (answer === 'live' || answer === 'saved' ? showInfo(text) : showWarning(text));
}

async function choose(conversation: Conversation, what: 'mode' | 'model', wanted?: string): Promise<void> {
  const choice = choiceOf(conversation, what) ?? noChoice(conversation, what);
  const items = choice.values.map(({ value, name, description }) => ({
    id: value,
    label: name,
    description,
    picked: value === choice.current,
  }));
  const id = wanted ?? (await pick(items, what === 'mode' ? l10n.t('Select a mode') : l10n.t('Select a model')));
  if (id !== undefined) await choice.choose(id);
}

async function chooseNext(conversation: Conversation, what: 'mode' | 'model'): Promise<string> {
  const choice = choiceOf(conversation, what) ?? noChoice(conversation, what);
  const next = nextOf(choice) ?? noChoice(conversation, what);
  await choice.choose(next.value);
  showStatus(what === 'mode' ? l10n.t('Mode: {0}', next.name) : l10n.t('Model: {0}', next.name));
  return next.value;
}

function noChoice({ agent }: Conversation, what: 'mode' | 'model'): never {
  throw new ParleyError(
    `no-${what}s`,
    what === 'mode' ? l10n.t('{0} has no modes.', agent.name) : l10n.t('{0} has no models.', agent.name),
  );
}

interface NextOption {
  readonly of?: 'mode' | 'model';
  readonly session?: string;
}

const MODE = '+mode';

interface OptionArgument {
  readonly id?: string;
  readonly value?: string | boolean;
}

async function setConfigOption(conversation: Conversation, argument: OptionArgument = {}): Promise<void> {
  const { config } = conversation.model.state;
  // For agents that don't have their modes as an option.
  const isMode = (one: { category?: string | undefined }): boolean => one.category === 'mode';
  const modes = config.some(isMode) ? undefined : choiceOf(conversation, 'mode');
  if (config.length === 0 && modes && argument.id === undefined) return choose(conversation, 'mode', undefined);
  if (config.length === 0) throw new ParleyError('no-options', l10n.t('{0} has no options.', conversation.agent.name));
  const items = config.map((option) => ({
    id: option.id,
    label: option.name,
    description: valueLabel(option),
    detail: option.description,
  }));
  const mode = {
    id: MODE,
    label: l10n.t('Mode'),
    description: modes?.values.find(({ value }) => value === modes.current)?.name,
  };
  const id = argument.id ?? (await pick([...(modes ? [mode] : []), ...items], l10n.t('Select an option')));
  if (id === MODE) return choose(conversation, 'mode', undefined);
  const option = config.find((candidate) => candidate.id === id);
  if (!option) return;
  const ask = async (): Promise<string | boolean | undefined> => {
    if (option.type === 'boolean') return !option.value;
    const values = option.values.map(({ value, name, description }) => ({ id: value, label: name, description }));
    return pick(values, option.name);
  };
  const value = argument.value ?? (await ask());
  if (value !== undefined) await conversation.choices.setConfigOption(option.id, value);
}

const PREFIX = 'choices:';
const MAX_CHARS = 1000;

function rememberedChoices({ globalState }: Pick<ExtensionContext, 'globalState'>): RememberedChoices {
  const of: RememberedChoices['of'] = (agentId) => globalState.get(PREFIX + agentId);
  return {
    of,
    remember: (agentId, id, value) => {
      if (id.length > MAX_CHARS || String(value).length > MAX_CHARS) return;
      void globalState.update(PREFIX + agentId, { ...of(agentId), [id]: value });
    },
  };
}
