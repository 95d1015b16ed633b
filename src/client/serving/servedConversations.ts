// Serves a configured agent over the Agent Communication Protocol, with a limited number of
// conversations: one per session, started by its first run and closed after a while without runs.
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import type { Conversation } from '../conversation/conversation';
import type { RunEmitter, ServedAgent, ServedRunContext } from '../ports/agentServers';
import type { Message } from '../ports/messages';
import { StateExchange } from '../sharing/stateExchange';
import { ServedConversation } from './servedConversation';

export interface ServedConversationsOptions {
  readonly name: string;
  readonly description: string;
  /**
   * Creates a conversation without starting it. Its services never ask this machine's user.
   * @throws ParleyError
   */
  readonly create: (key: string, state: StateExchange) => Conversation;
  /** How long a conversation is kept after its last run; 15 minutes by default. */
  readonly idleMs?: number;
  readonly maxOpen?: number;
  readonly log?: Log;
}

interface Open {
  readonly conversation: ServedConversation;
  timer?: NodeJS.Timeout;
}

export class ServedConversations implements ServedAgent, Disposable {
  readonly name: string;
  readonly description: string;
  readonly inputContentTypes = ['*/*'] as const;
  readonly outputContentTypes = ['*/*'] as const;
  readonly #options: ServedConversationsOptions;
  readonly #log: Log;
  readonly #open = new Map<string, Open>();
  readonly #closing = new Set<Promise<void>>();
  #sequence = 0;
  #isClosed = false;

  constructor(options: ServedConversationsOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
    this.name = options.name;
    this.description = options.description;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * @throws ParleyError `invalid-input`, `not-served`, `too-many-sessions`, `sign-in-needed`,
   * `prompt-refused`, `session-lost`, `turn-…`; errors of the agent's start
   */
  async run(input: readonly Message[], context: ServedRunContext, out: RunEmitter, signal: AbortSignal): Promise<void> {
    const { id } = context.session;
    const open = this.#conversationFor(id, context.session.history);
    try {
      await open.conversation.run(input, context, out, signal);
    } finally {
      this.#leave(id, open);
    }
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true;
    for (const [id, open] of [...this.#open]) this.#close(id, open);
    await Promise.all(this.#closing);
  }

  dispose(): void {
    void this.closeAll();
  }

  #conversationFor(id: string, history: readonly string[]): Open {
    if (this.#isClosed) throw new ParleyError('not-served', 'The agent is no longer served.');
    const existing = this.#open.get(id);
    if (existing) {
      // A busy conversation belongs to a run that was given up.
      if (!existing.conversation.isBusy && !existing.conversation.isBroken && existing.conversation.fits(history)) {
        clearTimeout(existing.timer);
        this.#open.delete(id);
        this.#open.set(id, existing);
        return existing;
      }
      this.#close(id, existing);
    }
    this.#makeRoom();
    const state = new StateExchange(this.#log);
    const key = `served-${this.name}-${++this.#sequence}-${process.pid}`;
    const conversation = new ServedConversation(this.#options.create(key, state), this.name, state);
    const open = { conversation };
    this.#open.set(id, open);
    return open;
  }

  #leave(id: string, open: Open): void {
    if (this.#open.get(id) !== open) return;
    if (open.conversation.isBroken) {
      this.#close(id, open);
      return;
    }
    open.timer = setTimeout(() => this.#close(id, open), this.#options.idleMs ?? 15 * 60_000);
    open.timer.unref();
  }

  #makeRoom(): void {
    if (this.#open.size < (this.#options.maxOpen ?? 8)) return;
    const idle = [...this.#open].find(([, { conversation }]) => !conversation.isBusy);
    if (!idle) {
      throw new ParleyError('too-many-sessions', 'The agent works in as many sessions as it may. Try again later.');
    }
    this.#close(...idle);
  }

  #close(id: string, open: Open): void {
    clearTimeout(open.timer);
    if (this.#open.get(id) === open) this.#open.delete(id);
    const closing = open.conversation
      .close()
      .catch((error: unknown) => this.#log.warn(`A served session of ${this.name} did not close: ${messageOf(error)}`))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/**
 * Converts an id to lower-case letters, digits, dashes and underscores, as the protocol requires.
 */
export function servedName(id: string, taken: ReadonlySet<string>): string {
  const plain = id
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 60)
    .replace(/[-_]+$/, '');
  const base = plain === '' ? 'agent' : plain;
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base.slice(0, 55)}-${number}`;
  return name;
}
