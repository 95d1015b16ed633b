// The composition root: builds the parts, connects them, and ends them in order.
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as texts from '@vscode/l10n';
import {
  type ExtensionContext,
  commands as editorCommands,
  env,
  type LogOutputChannel,
  l10n,
  window,
  workspace,
} from 'vscode';
import type { AgentDefinition } from '../agents/agentDefinition';
import { listGuarded } from '../agents/orphanGuard';
import { userEnvironment } from '../agents/userEnvironment';
import { WindowsOrphans } from '../agents/windowsOrphans';
import { type Disposable, DisposableStore } from '../base/disposable';
import { messageOf } from '../base/errors';
import { formatFor } from '../base/localFormat';
import { BARE_TRAFFIC, type BareContext } from '../client/connection/bareAgent';
import type { Conversation } from '../client/conversation/conversation';
import { IdleAgents } from '../client/conversation/idleAgents';
import { WarmAgent } from '../client/conversation/warmAgent';
import { FragmentLines } from '../client/requests/fragmentLines';
import { FileStore } from '../client/sharing/fileStore';
import { Terminals } from '../client/terminals/terminals';
import { Keepers } from '../client/transport/keepers';
import { Stages } from '../client/transport/stages';
import type { NetworkPolicy } from '../distributed/fetch/guard';
import { ResourceCache } from '../distributed/fetch/resourceCache';
import { TrafficLog } from '../traffic/trafficLog';
import { createApi, type ParleyApi } from './api';
import { CommitDrafts } from './changes/commitDrafts';
import { VersionDocuments } from './changes/documents/versionDocuments';
import { readVersion } from './changes/documents/versionReading';
import { EditorWorkingFiles } from './changes/documents/workingFiles';
import { HunkLenses } from './changes/hunks';
import { KeptStates } from './changes/keptStates';
import { RestoreActions } from './changes/restoreActions';
import { actOnChanges } from './changes/reviewActions';
import { ReviewIndex } from './changes/reviewIndex';
import type { NO_COMMENTS } from './changes/reviewKeys';
import { markReview } from './changes/reviewMarks';
import { SessionRestore } from './changes/sessionRestore';
import { SessionWorktrees } from './changes/sessionWorktrees';
import { ReviewSourceControl } from './changes/sourceControl';
import { UndoneWatch } from './changes/undoneWatch';
import { EditorUserEdits } from './changes/userEdits';
import { WorktreeDocuments } from './changes/worktreeDocuments';
import { WorktreeKeys } from './changes/worktreeKeys';
import { ActiveEditor } from './chat/activeEditor';
import { Away } from './chat/away';
import { ChatHome, type ChatPlaces } from './chat/chatHome';
import { ContextKeyPublisher } from './chat/contextKeys';
import { EarlierSessions } from './chat/earlierSessions';
import { Feedback } from './chat/feedback';
import type { NO_TERMINAL_COMMANDS } from './chat/lastCommands';
import { Mentions } from './chat/mentions';
import { pastOf } from './chat/rulePast';
import { TerminalCommands } from './chat/terminalCommands';
import { Welcome } from './chat/welcome';
import { onlyOf } from './commands/commandSession';
import { commandsOf } from './commands/commands';
import { continueFromMessage } from './commands/continueFromMessage';
import { reviewWith } from './commands/reviewWith';
import { AgentCatalog } from './config/agentCatalog';
import { AnswerKeys } from './config/answerKeys';
import { FolderConsent } from './config/folderConsent';
import { rememberingSecrets } from './config/knownSecretStorage';
import { McpServers } from './config/mcpServers';
import { RemoteHeaders } from './config/remoteHeaders';
import { SavedKeys } from './config/savedKeys';
import { backgroundPolicy, historyLimits, idleLimitMs, keepsWarmAgent, resourcesSetting } from './config/settings';
import { Diagrams } from './diagrams/diagrams';
import { CodeBlocks } from './editor/codeBlocks';
import { DiffEditor } from './editor/diffEditor';
import { EditorFiles } from './editor/editorFiles';
import { EditorContents } from './editor/entryContents';
import { Follow } from './editor/follow';
import { EditorLinks } from './editor/linkOpener';
import { OutputEditor } from './editor/outputEditor';
import { Proposals } from './editor/proposals';
import { RealTerminals } from './editor/realTerminal';
import { Reports } from './editor/reports';
import { SessionTexts } from './editor/sessionTexts';
import { EditorToolHost } from './editorTools/editorToolHost';
import { vscodeLog } from './log/vscodeLog';
import { Overview } from './overview/overview';
import type { ListNode } from './overview/sessionTree';
import { AgentRegistry } from './registry/agentRegistry';
import { FirstUse } from './registry/firstUse';
import { FoundAgents } from './registry/foundAgents';
import { useFoundAgent } from './registry/useFoundAgent';
import { Archive } from './sessions/archive';
import { AsideQuestions } from './sessions/asideQuestions';
import { changesFolder, conversationServices } from './sessions/conversationServices';
import { Conversations } from './sessions/conversations';
import { ProblemsAfterTurn } from './sessions/problemsAfterTurn';
import { titleOf } from './sessions/sessionLabels';
import { AllowedOrigins } from './sharing/allowedOrigins';
import { Descriptors } from './sharing/descriptors';
import { ResourceAccess } from './sharing/resourceAccess';
import { ResourceStores } from './sharing/resourceStores';
import { Serve } from './sharing/serve';
import { Recordings } from './traffic/recordings';
import { TrafficInspector } from './traffic/trafficInspector';
import { Troubleshooter } from './troubleshoot/troubleshooter';
import type { Tree } from './ui/treeView';

/** Where Parley is shown. */
export interface Places extends ChatPlaces {
  /** The list of sessions. */
  readonly sessions: Tree<ListNode>;
}

export interface Product {
  readonly api: ParleyApi;
  readonly chat: ChatHome;
  /** Runs a command that package.json contributes. */
  run(command: string, args: readonly never[]): Promise<unknown>;
  /**
   * Ends agents and server in order, then all parts; the leases of the sessions are given up last.
   */
  end(): Promise<void>;
}

/**
 * Builds the product. Its parts end with {@link Product.end}, not with the extension's context: VS
 * Code disposes that while agents are still being ended.
 * @param places where the chat and the list of sessions are shown;
 * @param channel outlives the product
 * @throws where a part cannot be built; those built before it are gone then
 */
export function compose(given: ExtensionContext, places: Places, channel: LogOutputChannel): Product {
  // The rooms that do not know VS Code speak its language too.
  texts.config({ contents: l10n.bundle ?? {} });
  formatFor(env.language);
  const context = rememberingSecrets(given);
  const lifetime = new DisposableStore();
  try {
    return composeWithin(lifetime, context, places, channel);
  } catch (error) {
    lifetime.dispose();
    throw error;
  }
}

function composeWithin(
  lifetime: DisposableStore,
  context: ExtensionContext,
  places: Places,
  channel: LogOutputChannel,
): Product {
  const own = <T extends Disposable>(part: T): T => lifetime.add(part);
  const log = vscodeLog(channel);
  // Disposed last: leases are released after everything in their sessions has ended.
  const archive = own(new Archive(context, log));
  const environment = (command?: string): Promise<Record<string, string>> => userEnvironment(log, command);
  const terminals = own(new Terminals({ log, env: environment, isTrusted: () => workspace.isTrusted }));
  if (process.platform === 'win32') {
    const orphans = new WindowsOrphans(join(context.globalStorageUri.fsPath, 'started'), log);
    listGuarded(orphans);
    void orphans.endOthers();
  }
  const keepers = new Keepers({
    folder: join(context.globalStorageUri.fsPath, 'keepers'),
    program: join(context.extensionUri.fsPath, 'dist', 'keeper.js'),
    policy: backgroundPolicy,
    log,
  });
  const traffic = new TrafficLog();
  const consent = new FolderConsent({ context, log });
  const catalog = new AgentCatalog(context, consent, log);
  const remote = new RemoteHeaders(context);
  const savedKeys = new SavedKeys({ context, originOf: (id) => catalog.originOf(id), log });
  const mcp = new McpServers({ context, environment, consent });
  own(new AnswerKeys({ context, mcp }));
  // One of each: what is written to one file is written one after another.
  const httpSessions = new FileStore(join(context.globalStorageUri.fsPath, 'http-sessions'));
  const reviews = new FileStore(join(context.globalStorageUri.fsPath, 'reviews'));
  const restores = new FileStore(join(context.globalStorageUri.fsPath, 'restores'));
  const restoreLogs = new FileStore(join(context.globalStorageUri.fsPath, 'restores-running'));
  const cache = new ResourceCache({ folder: join(context.globalStorageUri.fsPath, 'resource-cache'), log });
  const historyLinks = (key: string, sessionId: string) => descriptors.linksOf(key, sessionId);
  const readPart = (key: string, gapId: string) => void descriptors.missing.readPart(key, gapId);
  const files = new EditorFiles({ log });
  const userEdits = own(new EditorUserEdits(Date.now));
  const workingFiles = new EditorWorkingFiles(log);
  const editorTools = own(new EditorToolHost({ context, files: workingFiles, asAgent: userEdits.asAgent, log }));
  const services = conversationServices({
    context,
    log,
    files: userEdits.filesForAgents(files),
    userEdits,
    reviews,
    workingFiles,
    environment,
    terminals,
    keepers,
    approve: catalog.approve,
    mcp,
    editorTools,
    remote,
    keys: savedKeys,
    traffic,
    historyLinks,
    readPart,
    httpSessions,
    agentState: (key) => descriptors.agentState(key),
    useEdited: (...answer) => proposals.useEdited(...answer),
  });
  const scratch = join(context.globalStorageUri.fsPath, 'no-folder');
  const worktreesFolder = join(context.globalStorageUri.fsPath, 'worktrees');
  const warm = new WarmAgent({ isOn: keepsWarmAgent, limitMs: idleLimitMs, schedule: later });
  const storage = { scratch, worktrees: worktreesFolder };
  const conversations = own(new Conversations(catalog, services, archive, storage, warm));
  own(workspace.onDidGrantWorkspaceTrust(() => conversations.onTrusted()));
  const reading = { policy: (): NetworkPolicy => access, stores: () => stores.all() };
  const serve: Serve = own(new Serve({ context, catalog, services, scratch, cache, reading, log }));
  const stores = own(new ResourceStores({ context, serve, log }));
  const served = (): readonly string[] => (serve.origin === undefined ? [] : [serve.origin]);
  const origins = own(new AllowedOrigins({ context, catalog, served, log }));
  const access = own(new ResourceAccess({ context, origins, log }));
  const sharing = { context, catalog, conversations, serve, stores, access, cache, httpSessions, log };
  const descriptors: Descriptors = own(new Descriptors(sharing));
  own(archive.onDidDelete((keys) => void descriptors.leftovers.forget(keys)));
  const kept = own(
    new KeptStates({
      storage: changesFolder(context),
      environment,
      texts: [reviews, restores, restoreLogs],
      sessions: () => archive.all(),
      maxBytes: () => historyLimits().maxBytes,
      log,
    }),
  );
  own(archive.onDidDelete((keys) => void kept.forget(keys)));
  own(archive.onDidPrune(() => void kept.collect()));
  own(own(new VersionDocuments((ref) => readVersion(conversations, ref))).register());
  const waiting = own(new ReviewIndex(conversations));
  own(new HunkLenses(waiting));
  own(new UndoneWatch(conversations));
  own(new ReviewSourceControl(waiting));
  own(markReview(waiting));
  const restore = new RestoreActions(new SessionRestore({ files: workingFiles, store: restores, logs: restoreLogs }));
  const worktrees = new SessionWorktrees({
    folder: worktreesFolder,
    store: new FileStore(join(context.globalStorageUri.fsPath, 'worktree-starts')),
    conversations,
    environment,
    files: workingFiles,
  });
  own(new WorktreeKeys(worktrees));
  own(own(new WorktreeDocuments(worktrees)).register());
  const questions = new AsideQuestions({
    services,
    catalog,
    folder: join(context.globalStorageUri.fsPath, 'drafts'),
  });
  const drafts = new CommitDrafts({ conversations, catalog, questions, worktrees });
  own(
    conversations.onDidAdd((conversation) => {
      const offering = conversation.changes.isReviewed ? restore.offerPending(conversation) : undefined;
      offering?.catch((error: unknown) => log.error(`restore: ${messageOf(error)}`));
    }),
  );
  const problems = own(new ProblemsAfterTurn({ conversations, diagnoser: editorTools.diagnoser, log }));
  const diffs = own(new DiffEditor());
  const openProposals = (scheme: string, folder: string): Proposals =>
    own(
      new Proposals({
        scheme,
        store: new FileStore(join(context.globalStorageUri.fsPath, folder)),
        files,
        conversations,
        texts: diffs.texts,
      }),
    );
  const proposals: Proposals = openProposals('parley-proposal', 'proposals');
  const codeProposals = openProposals('parley-code', 'code');
  const outputs = own(new OutputEditor());
  const realTerminals = own(new RealTerminals(terminals));
  const found = own(new FoundAgents({ environment, log }));
  const registry = new AgentRegistry({ context, log, environment });
  const firstUse = own(new FirstUse({ catalog, found, use: (agent) => useFoundAgent(agent, registry), log }));
  const away = own(
    new Away({
      conversations,
      isShown: (key) => chat.isShown(key),
      isFocused: () => window.state.focused,
      onDidFocus: (listener) => window.onDidChangeWindowState(({ focused }) => focused && listener()),
      memento: context.workspaceState,
      now: Date.now,
      log,
    }),
  );
  const diagrams = own(new Diagrams({ context, log }));
  const agentName = (id: string): string => catalog.find(id)?.name ?? id;
  const terminalCommands = own(
    new TerminalCommands({
      onChange: (hasTerminalCommands) => {
        const keys: typeof NO_TERMINAL_COMMANDS = { hasTerminalCommands };
        void editorCommands.executeCommand('setContext', 'parley.hasTerminalCommands', keys.hasTerminalCommands);
      },
    }),
  );
  const chat: ChatHome = new ChatHome(places, conversations, {
    log,
    feed: {
      fragmentLines: new FragmentLines((path, most) => files.readText(path, undefined, undefined, most)),
      isTerminalOpenable: (id) => realTerminals.isOpenable(id),
    },
    away,
    welcome: new Welcome({ archive, agentName, scratch, log }),
    worktrees,
    links: new EditorLinks(descriptors.missing.openPart),
    contents: new EditorContents({ diffs, proposals, outputs, scratch }),
    changes: {
      act: actOnChanges,
      restoreCheckpoint: async (conversation, turnId) => void (await restore.restoreCheckpoint(conversation, turnId)),
      undoRestore: async (conversation) => void (await restore.undoRestore(conversation)),
      continueFrom: async (conversation, turnId, how) => {
        const begin = how === 'review' ? reviewWith : continueFromMessage;
        await begin({ conversations, catalog, restore, chat }, conversation, { turnId, how });
      },
    },
    terminals: realTerminals,
    retryGap: descriptors.missing.retry,
    retryGaps: descriptors.missing.retryAll,
    fixProblems: (conversation) => problems.fix(conversation),
    firstUse,
    mentions: own(new Mentions({ sessions: new EarlierSessions({ archive, agentName }), terminals: terminalCommands })),
    activeEditor: own(new ActiveEditor()),
    rulePast: (rule) => pastOf(rule, conversations.list(), archive),
    code: own(
      new CodeBlocks(
        (source, conversation) => diagrams.show(source, conversation),
        (conversation, path, change) => codeProposals.propose(conversation, path, change),
      ),
    ),
  });
  own(chat);
  own(chat.onDidShow((key) => away.look(key)));
  const feedback = own(
    new Feedback({
      reviews: waiting,
      conversations,
      memento: context.workspaceState,
      deliver: async (conversation, text) => {
        const surface = chat.present(conversation);
        // A page that is still loading would not hear it.
        await surface.painted();
        surface.insert(text);
      },
      onCount: (count) => {
        const keys: typeof NO_COMMENTS = { hasComments: count > 0 };
        void editorCommands.executeCommand('setContext', 'parley.hasComments', keys.hasComments);
      },
    }),
  );
  own(archive.onDidDelete((keys) => feedback.forget(keys)));
  const overview = own(
    new Overview({ context, tree: places.sessions, archive, conversations, chat, catalog, keepers, log }),
  );
  const idle = own(
    new IdleAgents({
      conversations: () => conversations.list(),
      isShown: (key) => chat.isShown(key),
      limitMs: idleLimitMs,
      onLook: () => conversations.forgetRead((key) => chat.holds(key)),
      now: () => performance.now(),
      schedule: later,
      log,
    }),
  );
  own(conversations.onDidChange((key) => idle.changed(key)));
  const bare = async (agent: AgentDefinition): Promise<BareContext> => {
    await mkdir(scratch, { recursive: true });
    return { agent, cwd: scratch, services, stages: new Stages(Date.now, () => {}) };
  };
  const labelOf = (key: string): string => {
    if (key === BARE_TRAFFIC) return l10n.t('Agent check');
    const conversation = conversations.find(key);
    return conversation ? `${conversation.agent.name}: ${titleOf(conversation)}` : l10n.t('Closed session');
  };
  const { version } = context.extension.packageJSON as { version: string };
  const recordings = new Recordings({
    traffic,
    conversations,
    log,
    version,
    labelOf,
    agentOf: (key) => conversations.find(key)?.agent.name ?? labelOf(key),
    folder: () => workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir(),
    present: (key) => void chat.present(conversations.get(key)),
  });
  const save = (key: string | undefined): Promise<void> => recordings.save(key);
  const reports = own(new Reports());
  const troubleshooter = own(
    new Troubleshooter({ context, log, environment, catalog, conversations, archive, bare, reports }),
  );
  const inspector = own(new TrafficInspector({ context, traffic, log, labelOf, save }));
  const shown = (): Conversation | undefined => onlyOf(chat.current) ?? conversations.peek();
  const parts = {
    conversations,
    catalog,
    archive,
    inspector,
    recordings,
    troubleshooter,
    chat,
    away,
    feedback,
    terminalCommands,
    mcp,
    remote,
    keys: savedKeys,
    serve,
    stores,
    descriptors,
    found,
    registry,
    bare,
    reports,
    reviews: waiting,
    restore,
    proposals,
    codeProposals,
    worktrees,
    drafts,
    questions,
    overview,
    texts: own(new SessionTexts()),
    follow: own(new Follow({ active: shown, onDidActivate: conversations.onDidActivate, log })),
    approvals: { workspace: consent, servers: origins },
  };
  const commands = commandsOf(parts);
  const keys = new ContextKeyPublisher((key, value) => {
    void editorCommands.executeCommand('setContext', key, value);
  }, worktreesFolder);
  // Read once a change of the settings: VS Code makes a copy of them each time, and a session
  // changes often.
  let resources = resourcesSetting();
  const updateKeys = (): void => {
    const active = shown();
    keys.update(active, resources, { hasAway: away.has(active?.key), isInSideBar: chat.isInSideBar(active) });
  };
  own(away.onDidChange(updateKeys));
  own(conversations.onDidChange(updateKeys));
  own(conversations.onDidActivate(updateKeys));
  own(chat.onDidShow(updateKeys));
  own(
    workspace.onDidChangeConfiguration(() => {
      resources = resourcesSetting();
      updateKeys();
    }),
  );
  updateKeys();
  const { api, disposable } = createApi(conversations, descriptors, chat);
  own(disposable);
  return {
    api,
    chat,
    async run(command, args) {
      const run = commands.get(command);
      if (!run) throw new Error(`There is no command ${command}.`);
      return run(...args);
    },
    async end() {
      // What the end of a turn still writes comes after it.
      const agents = conversations.closeAll().finally(() => descriptors.settled());
      const ended = await Promise.allSettled([agents, serve.stop(), questions.end()]);
      for (const one of ended) if (one.status === 'rejected') log.error(`end: ${messageOf(one.reason)}`);
      lifetime.dispose();
    },
  };
}

/** Runs something later, without keeping the window open for it. */
function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return { dispose: () => clearTimeout(timer) };
}
