// Commands for sessions: list, open, fork, rename, delete.
import { l10n } from 'vscode';
import type { SessionInfo } from '../../acp/protocol/dialect';
import { messageOf, ParleyError } from '../../base/errors';
import { mayGoOn, pastOf } from '../../client/connection/sessionOpenStrategy';
import type { Conversation } from '../../client/conversation/conversation';
import type { SearchResult } from '../../store/search/search';
import type { SessionRecord } from '../../store/sessions/records';
import { KeptSessions, nameOf } from '../sessions/keptSessions';
import { type ExportArgument, exportToFile, type ImportArgument, importFromFile } from '../sessions/sessionFiles';
import { askTitle, isForeign, titleOf } from '../sessions/sessionLabels';
import { sessionMarkdown } from '../sessions/sessionMarkdown';
import { pickSession } from '../sessions/sessionPicker';
import { showError } from '../ui/messages';
import type { Command, CommandServices, Register } from './commandServices';
import { sessionOf } from './commandSession';
import { continueWithSummary } from './continueWithSummary';
import { confirmForeign, knownFolders, mayOpen } from './foreignFolders';
import { offerRemoval } from './worktreeCommands';

/**
 * What a keybinding or a program may ask of the sessions: `search` and `recall` of those that are
 * kept, the others of those of the agent of the session that is shown.
 */
interface SessionArgument {
  readonly action?: 'list' | 'open' | 'delete' | 'archive' | 'unarchive' | 'rename' | 'search' | 'recall';
  /** Our key of a session of the agent; absent: the one that is shown. */
  readonly session?: string;
  /** The agent's id of the session. */
  readonly sessionId?: string;
  readonly title?: string;
  /** What was said in it. */
  readonly text?: string;
  /** Our key of a session. */
  readonly key?: string;
}

/** A session that is kept, as `search` answers it; times are milliseconds since 1970. */
export interface FoundSession {
  readonly key: string;
  readonly name: string;
  readonly agentId: string;
  readonly cwd: string;
  readonly updatedAt: number;
  /** The words around what was looked for; empty where only the title fits. */
  readonly snippet: string;
}

const MOST_FOUND = 100;

export function sessionCommands(services: CommandServices, register: Register): Command[] {
  const { conversations, chat, archive, catalog, descriptors, texts } = services;

  const show = (conversation: Conversation): void => {
    chat.present(conversation);
  };

  /**
   * @returns the key of the conversation, also where it could not be opened: the panel says why.
   */
  const openStored = async (lister: Conversation, info: SessionInfo): Promise<string | undefined> => {
    const { agent, link } = lister;
    const open = conversations.findSession(agent.id, info.sessionId);
    if (open) {
      show(open);
      return open.key;
    }
    if (link && !mayGoOn(link.description.features))
      throw new ParleyError('cannot-reopen', l10n.t("{0} can't reopen earlier sessions.", agent.name));
    const cwd = info.cwd === '' ? lister.cwd : info.cwd;
    if (isForeign(cwd, lister.roots) && !(await confirmForeign(cwd, agent.name))) return undefined;
    const conversation = conversations.create({
      agent: agent.id,
      cwd,
      title: info.title,
      opening: { kind: 'reopen', sessionId: info.sessionId, transcript: 'replay', joins: true },
    });
    show(conversation);
    await conversation.start();
    return conversation.key;
  };

  const end = async (conversation: Conversation): Promise<void> => {
    await conversations.close(conversation.key);
    chat.show(conversations.active());
  };

  /** Brings back a session that is kept; its agent is not started. */
  const recall = (key: string): string => {
    const conversation = conversations.recall(key);
    if (!conversation) throw new ParleyError('no-such-session', l10n.t('There is no session {0}.', key));
    show(conversation);
    return key;
  };

  const agentName = (id: string): string => catalog.find(id)?.name ?? id;

  const keptSessions = async (): Promise<KeptSessions> => {
    const isOpen = (key: string): boolean => conversations.list().some((one) => one.key === key);
    const roots = await knownFolders(services);
    const open = async (session: SessionRecord, seq?: number): Promise<void> => {
      if (!(await mayOpen(services, session))) return;
      const { key } = session;
      const found = seq === undefined ? undefined : archive.eventAt(key, seq);
      recall(key);
      if (found) chat.reveal(key, found);
    };
    const { copies } = descriptors.leftovers;
    // Not awaited: the notification may stay for long.
    const deleted = ({ cwd }: SessionRecord): void =>
      void offerRemoval(services, cwd).catch((error: unknown) => showError(`Parley: ${messageOf(error)}`));
    return new KeptSessions({ archive, copies, agentName, isOpen, roots, open, deleted });
  };

  return [
    register('sessions', async (argument?: SessionArgument) => {
      if (argument?.action === undefined) {
        conversations.active(); // a window without any gets one, so that its agent can be asked
        await pickSession({ conversations, kept: await keptSessions(), show, openStored, end });
        return undefined;
      }
      if (argument.action === 'search') return (await searchAll(archive, argument.text ?? '')).map(toFoundSession);
      if (argument.action === 'recall') return recall(argument.key ?? '');
      const conversation = await sessionOf(services, argument);
      return byArgument(conversation, argument, (info) => openStored(conversation, info));
    }),
    register('forkSession', async (argument?: { session?: string }) => {
      const origin = await sessionOf(services, argument);
      const { sessionId, agent, cwd } = origin;
      if (sessionId === undefined) throw new ParleyError('no-session', l10n.t('{0} has no session yet.', agent.name));
      if (!origin.ops.can('fork')) throw new ParleyError('cannot-fork', l10n.t("{0} can't fork sessions.", agent.name));
      const title = l10n.t('{0} (fork)', titleOf(origin));
      const past = pastOf(origin.model.state);
      const fork = conversations.create({
        agent: agent.id,
        cwd,
        title,
        isNamed: origin.model.state.isNamed,
        continues: origin,
        opening: { kind: 'fork', sessionId, past },
      });
      show(fork);
      await fork.start();
      return fork.key;
    }),
    register('continueWithSummary', async (argument?: { session?: string }) => {
      const old = await sessionOf(services, argument);
      return (await continueWithSummary(services, old))?.key;
    }),
    register('renameSession', async (argument?: { title?: string; session?: string }) => {
      const conversation = await sessionOf(services, argument);
      const title = argument?.title ?? (await askTitle(titleOf(conversation)));
      if (title !== undefined) await conversation.ops.rename(title, AbortSignal.timeout(ANSWER_MS));
    }),
    register('openAsMarkdown', async (argument?: { session?: string }) => {
      const conversation = await sessionOf(services, argument);
      await texts.show(titleOf(conversation), await sessionMarkdown(conversation));
    }),
    register('export', async (argument?: ExportArgument) => {
      const { session: _named, ...more } = argument ?? {};
      return exportToFile(await sessionOf(services, argument), more);
    }),
    register('import', async (argument?: ImportArgument) => {
      const conversation = await importFromFile({ conversations, catalog }, argument ?? {});
      if (conversation) show(conversation);
      return conversation?.key;
    }),
    register('closeSession', async (argument?: { session?: string }) => {
      await end(await sessionOf(services, argument));
    }),
  ];
}

/** How long an agent may take for one of these, in milliseconds. */
const ANSWER_MS = 15_000;

async function searchAll(archive: CommandServices['archive'], text: string): Promise<readonly SearchResult[]> {
  let all: readonly SearchResult[] = [];
  for await (const found of archive.search(text, MOST_FOUND, new AbortController().signal)) all = found;
  return all;
}

function toFoundSession({ session, snippet }: SearchResult): FoundSession {
  const { key, agentId, cwd, updatedAt } = session;
  return { key, name: nameOf(session), agentId, cwd, updatedAt, snippet: snippet.map(({ text }) => text).join('') };
}

async function byArgument(
  { ops }: Conversation,
  { action, sessionId, title }: SessionArgument,
  open: (info: SessionInfo) => Promise<string | undefined>,
): Promise<unknown> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  if (action === 'list') {
    const sessions: SessionInfo[] = [];
    for await (const page of ops.list({}, signal)) sessions.push(...page);
    return sessions;
  }
  if (sessionId === undefined) throw new ParleyError('no-session', l10n.t('The id of a session is missing.'));
  switch (action) {
    case 'open':
      return open({ sessionId, cwd: '', additionalDirectories: [], title: title || undefined });
    case 'delete':
      return ops.delete(sessionId, signal);
    case 'rename':
      return ops.setTitle(sessionId, title ?? '', signal);
    default:
      return ops.archive(sessionId, action === 'archive', signal);
  }
}
