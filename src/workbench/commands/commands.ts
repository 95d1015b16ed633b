// The commands of the palette. Each is a few lines over a conversation, with VS Code's own UI.
import { l10n, Uri, window, workspace } from 'vscode';
import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { livenessOf } from '../../client/connection/livenessProbe';
import type { Conversation } from '../../client/conversation/conversation';
import { choiceOf, valueLabel } from '../../client/conversation/sessionChoices';
import { statusAnswerLabel } from '../../troubleshoot/checks/session';
import { manageAgents, tellForgotten } from '../agents/agentsEditor';
import type { EditorServices } from '../agents/pages';
import { clearQueue } from '../chat/clearQueue';
import type { AgentCatalog, AgentOrigin } from '../config/agentCatalog';
import { openAgentSettings, openSettings } from '../config/settings';
import { installById, pickNewAgent } from '../registry/agentPicker';
import { short, titleOf } from '../sessions/sessionLabels';
import type { RecordingArgument } from '../traffic/recordings';
import type { TroubleshootArgument } from '../troubleshoot/troubleshooter';
import { askLine, type PickItem, pick } from '../ui/input';
import { showInfo, showWarning } from '../ui/messages';
import { addCommands } from './addCommands';
import { manageApprovals } from './approvals';
import { changesCommands } from './changesCommands';
import { chatCommands } from './chatCommands';
import { failureFor, isProgram, showFailure } from './commandErrors';
import type { Command, CommandServices, Register } from './commandServices';
import { NothingChosen, onlyOf, sessionOf } from './commandSession';
import { descriptorCommands } from './descriptorCommands';
import { feedbackCommands } from './feedbackCommands';
import { managePermissions } from './managePermissions';
import { overviewCommands } from './overviewCommands';
import { serveCommands } from './serveCommands';
import { sessionCommands } from './sessionCommands';
import { showMcpServers } from './showMcpServers';
import { signInCommands } from './signInCommands';
import { type NewWorktreeSession, openInWorktree, pickFolder, worktreeCommands } from './worktreeCommands';

/** Leaves out the address of a page in an editor, which VS Code's menus put before what they belong to. */
function withoutPage(args: readonly never[]): readonly never[] {
  const [first] = args as readonly unknown[];
  return first instanceof Uri && first.scheme === 'webview-panel' ? args.slice(1) : args;
}

/** Everything that package.json contributes, by its id. */
export function commandsOf(services: CommandServices): ReadonlyMap<string, Command[1]> {
  const { conversations, catalog, chat, follow, archive } = services;
  const register: Register = (id, run) => [
    `parley.${id}`,
    async (...all) => {
      const args = withoutPage(all);
      try {
        return await run(...args);
      } catch (error) {
        if (error instanceof NothingChosen) return undefined;
        if (isProgram(args)) throw failureFor(error);
        showFailure(error, { conversation: onlyOf(chat.current), isChatVisible: chat.isVisible });
        return undefined;
      }
    },
  ];

  const begin = async (conversation: Conversation): Promise<string> => {
    chat.show(conversation);
    const surface = chat.open();
    await conversation.start();
    surface.focus();
    return conversation.key;
  };
  const newSession = async (argument?: NewWorktreeSession): Promise<string | undefined> => {
    const { agent, worktree } = argument ?? {};
    const cwd = argument?.cwd ?? (await folderOfNew(conversations.folders, !isProgram([argument])));
    if (cwd === undefined) return undefined;
    return begin(
      worktree
        ? await openInWorktree(services, { ...argument, ...(cwd !== '' && { cwd }) })
        : conversations.create({ agent, cwd: cwd !== '' ? cwd : undefined }),
    );
  };

  return new Map([
    ...sessionCommands(services, register),
    ...signInCommands(services, register),
    ...descriptorCommands(services, register),
    ...serveCommands(services.serve, register),
    ...changesCommands(services, register),
    ...worktreeCommands(services, register, begin),
    ...addCommands(services, register),
    ...overviewCommands(services, register),
    ...chatCommands(services, register),
    ...feedbackCommands(services, register),
    register('open', async () => chat.begin()),
    register('focusQuestion', () => chat.focusQuestion()),
    register('find', () => chat.find()),
    register('timeline', () => chat.timeline()),
    register('follow', async () => follow.toggle()),
    register('newSession', newSession),
    register('send', async (argument?: { text?: string; session?: string }) => {
      const text = argument?.text ?? (await askLine({ prompt: l10n.t('Message to the agent') }));
      if (!text) return undefined;
      // Without any session, the one that the chat begins with gets it, and is seen.
      const isFirst = conversations.list().length === 0 && argument?.session === undefined;
      const conversation = isFirst ? chat.open().conversation : await sessionOf(services, argument);
      return conversation.send(text).done;
    }),
    register('cancel', async (argument?: unknown) => (await sessionOf(services, argument)).cancel()),
    register('selectAgent', async (argument?: { agent?: string }) => {
      const old = onlyOf(chat.current);
      const id = argument?.agent ?? (await pickAgent(catalog, old?.agent.id));
      if (id === undefined) return;
      if (id === '') return manageAgents(editorServices(services));
      if (id === ADD_AGENT) return addAgent(services);
      if (!catalog.find(id)) throw new ParleyError('no-such-agent', l10n.t('There is no agent “{0}”.', id));
      await catalog.use(id);
      const fresh = conversations.create({ agent: id });
      // A session in which nothing happened is not worth an agent that waits for it: it is replaced.
      if (!old || old.model.state.entries.length > 0 || old.queue.items.length > 0) return void (await begin(fresh));
      const { draft, attachments } = old.unsent;
      fresh.unsent.takeOver(old.unsent);
      await begin(fresh);
      await conversations.close(old.key);
      // What was typed since stays with it.
      if (old.unsent.draft === draft && old.unsent.attachments === attachments) archive.delete(old.key);
    }),
    register('installAgent', (argument?: { id?: string; wanted?: string }) => addAgent(services, argument)),
    register('manageAgents', (argument?: { agent?: string }) =>
      manageAgents(editorServices(services), argument?.agent),
    ),
    register('restartAgent', async (argument?: unknown) => (await sessionOf(services, argument)).restart()),
    register('checkStatus', async (argument?: unknown) => {
      const conversation = await sessionOf(services, argument);
      const answer = await conversation.checkStatus();
      if (!isProgram([argument])) showAnswer(conversation, answer);
      return { status: livenessOf(answer) };
    }),
    register('setMode', async (argument?: { mode?: string }) =>
      choose(await sessionOf(services, argument), 'mode', argument?.mode),
    ),
    register('setModel', async (argument?: { model?: string }) =>
      choose(await sessionOf(services, argument), 'model', argument?.model),
    ),
    register('setConfigOption', async (argument?: { id?: string; value?: string | boolean }) => {
      const conversation = await sessionOf(services, argument);
      const { config } = conversation.model.state;
      if (config.length === 0)
        throw new ParleyError('no-options', l10n.t('{0} has no options.', conversation.agent.name));
      const id =
        argument?.id ??
        (await pick(
          config.map((option) => ({
            id: option.id,
            label: option.name,
            description: valueLabel(option),
            detail: option.description,
          })),
          l10n.t('Select an option'),
        ));
      const option = config.find((candidate) => candidate.id === id);
      if (!option) return;
      const value =
        argument?.value ??
        (option.type === 'boolean'
          ? !option.value
          : await pick(
              option.values.map(({ value, name, description }) => ({ id: value, label: name, description })),
              option.name,
            ));
      if (value !== undefined) await conversation.choices.setConfigOption(option.id, value);
    }),
    register('queue.pause', async (argument?: unknown) => (await sessionOf(services, argument)).queue.pause('by-user')),
    register('queue.resume', async (argument?: unknown) => (await sessionOf(services, argument)).queueActions.resume()),
    register('queue.clear', async (argument?: unknown) => void clearQueue(await sessionOf(services, argument))),
    register('mcp.show', (argument?: unknown) => showMcpServers(services, argument)),
    register('mcp.reset', () => services.mcp.reset()),
    register('manageApprovals', () => manageApprovals(services.approvals)),
    register('managePermissions', (argument?: { rule?: string }) => managePermissions(services, argument)),
    register('forgetSecrets', async () => {
      tellForgotten((await services.remote.forget()) + (await services.keys.forgetAll()));
    }),
    register('showTraffic', () => services.inspector.show()),
    register('inspectTraffic', () => services.inspector.show()),
    register('troubleshoot', (argument?: TroubleshootArgument) => services.troubleshooter.run(argument ?? {})),
    register('exportRecording', () => services.recordings.save()),
    register('openRecording', (argument?: RecordingArgument) => services.recordings.open(argument ?? {})),
    register('openSettings', (query?: string) =>
      query === 'parley.agents' ? openAgentSettings() : openSettings(query),
    ),
  ]);
}

/**
 * Returns the folder of a new session: the only one, or the one that the user chooses, the folder of
 * the active editor first. A program gets that one without being asked.
 * @returns '' for the usual one; undefined where the user went away
 */
async function folderOfNew(folders: readonly string[], asks: boolean): Promise<string | undefined> {
  if (folders.length < 2) return '';
  const uri = window.activeTextEditor?.document.uri;
  const active = uri && workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  const sorted = [...folders].sort((one, other) => Number(other === active) - Number(one === active));
  return asks ? pickFolder(sorted) : sorted[0];
}

function editorServices({
  conversations,
  catalog,
  keys,
  remote,
  registry,
  bare,
  reports,
}: CommandServices): EditorServices {
  return {
    catalog,
    keys,
    remote,
    registry,
    bare,
    reports,
    signInChanged: (agent) => {
      for (const conversation of conversations.list()) {
        const { kind } = conversation.connection;
        // One that works goes on with what it has.
        if (conversation.agent.id !== agent || conversation.isBusy) continue;
        if (kind === 'ready' || kind === 'authRequired' || kind === 'failed') void conversation.restart();
      }
    },
  };
}

/**
 * Shows the agents to add, or installs the one of the registry that has this id.
 * @throws ParleyError `untrusted-workspace`, `no-such-agent`; why it could not be installed
 */
async function addAgent(
  services: CommandServices,
  { id, wanted }: { id?: string; wanted?: string } = {},
): Promise<void> {
  if (!workspace.isTrusted)
    throw new ParleyError('untrusted-workspace', l10n.t("Agents can't be added in an untrusted workspace."));
  try {
    if (id === undefined) await pickNewAgent(services, wanted);
    else await installById(id, services);
  } catch (error) {
    // The user has pressed Cancel.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
}

/**
 * Sets the mode or the model of a session.
 * @param wanted asked for where it is absent
 * @throws ParleyError `no-modes`, `no-models`
 */
async function choose(conversation: Conversation, what: 'mode' | 'model', wanted?: string): Promise<void> {
  const choice = choiceOf(conversation, what);
  if (!choice)
    throw new ParleyError(
      `no-${what}s`,
      what === 'mode'
        ? l10n.t('{0} has no modes.', conversation.agent.name)
        : l10n.t('{0} has no models.', conversation.agent.name),
    );
  const items = choice.values.map(({ value, name, description }) => ({
    id: value,
    label: name,
    description,
    picked: value === choice.current,
  }));
  const id = wanted ?? (await pick(items, what === 'mode' ? l10n.t('Select a mode') : l10n.t('Select a model')));
  if (id !== undefined) await choice.choose(id);
}

/** Says what an agent has answered about a session. */
function showAnswer(conversation: Conversation, answer: StatusAnswer): void {
  const text = `${short(titleOf(conversation))}: ${statusAnswerLabel(answer)}`;
  void (answer === 'live' || answer === 'saved' ? showInfo(text) : showWarning(text));
}

function descriptionOf(agent: AgentDefinition, origin: AgentOrigin | undefined): string {
  if (origin?.kind === 'shipped') return l10n.t('scripted demo, no model');
  const what = agent.type === 'process' ? [agent.command, ...agent.args].join(' ') : new URL(agent.url).host;
  return origin?.kind === 'folder' ? l10n.t('{0} · defined in {1}', what, origin.file) : what;
}

/** The row of the list of agents that leads to more. */
const ADD_AGENT = '+';

/** The id of an agent, '' for "manage", {@link ADD_AGENT}, undefined for dismissed. */
async function pickAgent(catalog: AgentCatalog, current: string | undefined): Promise<string | undefined> {
  const items: PickItem[] = catalog.list().map((agent) => ({
    id: agent.id,
    label: agent.name,
    description: descriptionOf(agent, catalog.originOf(agent.id)),
    picked: agent.id === current,
  }));
  return pick(
    [
      ...items,
      { id: ADD_AGENT, label: [{ icon: 'add' }, ` ${l10n.t('Add agent…')}`] },
      { id: '', label: [{ icon: 'gear' }, ` ${l10n.t('Manage agents…')}`] },
    ],
    l10n.t('Select an agent'),
  );
}
