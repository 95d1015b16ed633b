// Lists, renames, archives and deletes an agent's sessions (protocol.md 1.2, 2), if the agent
// offers it.

import { resolve } from 'node:path';
import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import type { AgentFeatures, SessionInfo, StoredSessions } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { type Localizable, localizable } from '../../base/localizable';
import type { SessionEvent } from '../../session/events/event';
import { askStatus } from '../connection/askStatus';
import type { AgentLink, OpenedSession } from '../ports/agentLink';

/** Limits of one list; the timeout is per page. */
const MAX_PAGES = 200;
const ANSWER_MS = 15_000;
const MAX_TITLE = 500;

interface OperatingConversation {
  readonly agent: { readonly name: string };
  readonly cwd: string;
  readonly connector: { readonly link: AgentLink | undefined; readonly session: OpenedSession | undefined };
  readonly recorder: { readonly apply: (event: SessionEvent) => void };
}

export interface SessionQuery {
  readonly everywhere?: boolean;
  readonly archived?: boolean;
}

export type SessionAction = 'list' | 'fork' | 'delete' | 'title' | 'archive' | 'logout' | 'load' | 'resume' | 'status';

const LACKS = {
  list: (agent: string) => localizable("{0} can't list its sessions.", agent),
  delete: (agent: string) => localizable("{0} can't delete sessions.", agent),
  archive: (agent: string) => localizable("{0} can't archive sessions.", agent),
  title: (agent: string) => localizable("{0} can't rename sessions.", agent),
} satisfies { readonly [Feature in keyof AgentFeatures]?: (agent: string) => Localizable };

export class SessionOps {
  readonly #conversation: OperatingConversation;

  constructor(conversation: OperatingConversation) {
    this.#conversation = conversation;
  }

  can(action: SessionAction): boolean {
    return this.#conversation.connector.link?.description.features[action] !== undefined;
  }

  /**
   * Yields non-empty pages of the agent's sessions (`session/list`), up to the last one or until
   * the agent repeats itself.
   * @throws ParleyError `cannot-do`; what the agent answers
   */
  async *list(query: SessionQuery, signal: AbortSignal): AsyncGenerator<readonly SessionInfo[]> {
    const stored = this.#storedSessions('list');
    const { cwd } = this.#conversation;
    const archived = this.can('archive') ? query.archived === true : undefined;
    let isEmpty = true;
    for await (const page of pagesOf(stored, { cwd: query.everywhere ? undefined : cwd, archived }, signal)) {
      isEmpty = false;
      yield page;
    }
    if (query.everywhere || !isEmpty) return;
    for await (const page of pagesOf(stored, { archived }, signal)) {
      const inFolder = page.filter((session) => resolve(session.cwd) === resolve(cwd));
      if (inFolder.length > 0) yield inFolder;
    }
  }

  /**
   * Returns `unsupported` if the agent can't be asked.
   * @throws ParleyError if the agent has ended; `signal`'s reason
   */
  async status(sessionId: string, signal: AbortSignal): Promise<StatusAnswer> {
    const { link } = this.#conversation.connector;
    return link ? (await askStatus({ link, sessionId }, signal)).answer : 'unsupported';
  }

  /** @throws ParleyError `cannot-do`; what the agent answers */
  async delete(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#storedSessions('delete').delete(sessionId, signal);
  }

  /**
   * `session/archive`, `session/unarchive` (unstable).
   * @throws as {@link delete}
   */
  async archive(sessionId: string, archived: boolean, signal: AbortSignal): Promise<void> {
    await this.#storedSessions('archive').archive(sessionId, archived, signal);
  }

  /**
   * `session/set_title` (unstable) for any session of the agent.
   * @returns the stored title
   * @throws ParleyError `cannot-do`, `empty-title`; what the agent answers
   */
  async setTitle(sessionId: string, title: string, signal: AbortSignal): Promise<string> {
    const newTitle = titleOf(title);
    return this.#storedSessions('title').setTitle(sessionId, newTitle, signal);
  }

  /**
   * Renames the open session: in the agent if supported, else only here.
   * @throws as {@link setTitle}
   */
  async rename(title: string, signal: AbortSignal): Promise<void> {
    const { session } = this.#conversation.connector;
    const stored =
      session && this.can('title') ? await this.setTitle(session.sessionId, title, signal) : titleOf(title);
    this.#conversation.recorder.apply({ type: 'info', title: stored, byUser: true });
  }

  #storedSessions(feature: keyof typeof LACKS): StoredSessions {
    const { link } = this.#conversation.connector;
    const sessions = link?.description.features[feature] && link.dialect.sessions;
    if (sessions) return sessions;
    const { name } = this.#conversation.agent;
    throw new ParleyError('cannot-do', link ? LACKS[feature](name) : localizable("{0} isn't running.", name));
  }
}

async function* pagesOf(
  stored: StoredSessions,
  query: { readonly cwd?: string | undefined; readonly archived: boolean | undefined },
  signal: AbortSignal,
): AsyncGenerator<readonly SessionInfo[]> {
  const seen = new Set<string>();
  const ids = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const stop = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const { sessions, nextCursor } = await stored.list({ ...query, cursor }, stop);
    const fresh = sessions.filter(({ sessionId }) => !ids.has(sessionId));
    for (const { sessionId } of fresh) ids.add(sessionId);
    if (fresh.length > 0) yield fresh;
    if (nextCursor === undefined || seen.has(nextCursor)) return;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

function titleOf(text: string): string {
  const title = text.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
  if (title === '')
    throw new ParleyError('empty-title', localizable('A session title must contain at least one letter.'));
  return title;
}
