// Starts the agent of the next new session in advance. At most one waits, initialized and without a
// session; it ends if unused for a while.
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Deferred } from '../../base/deferred';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Conversation } from './conversation';

export interface WarmAgentOptions {
  readonly isOn: () => boolean;
  /** Undefined: forever. */
  readonly limitMs: () => number | undefined;
  readonly schedule: (run: () => void, ms: number) => Disposable;
}

interface PreparedAgent {
  readonly conversation: Conversation;
  readonly opening: Deferred<void>;
  readonly timer: Disposable | undefined;
}

export class WarmAgent {
  readonly #options: WarmAgentOptions;
  #prepared: PreparedAgent | undefined;

  constructor(options: WarmAgentOptions) {
    this.#options = options;
  }

  /**
   * Starts an agent, unless one of its kind waits.
   * @param make creates the next new session, which is opened after `beforeOpen`
   */
  prepare(agent: AgentDefinition, make: (beforeOpen: Promise<void>) => Conversation): void {
    const { isOn, limitMs, schedule } = this.#options;
    if (agent.type !== 'process' || !isOn() || this.#prepared?.conversation.agent.id === agent.id) return;
    void this.end();
    const opening = new Deferred<void>();
    opening.promise.catch(() => {});
    const conversation = make(opening.promise);
    const limit = limitMs();
    const timer = limit === undefined ? undefined : schedule(() => void this.end(), limit);
    this.#prepared = { conversation, opening, timer };
    void conversation.start();
  }

  /**
   * Returns the waiting conversation; undefined if its agent has failed.
   * @param fits whether it equals a new one
   */
  take(fits: (conversation: Conversation) => boolean): Conversation | undefined {
    const { conversation, opening, timer } = this.#prepared ?? {};
    if (!conversation || !fits(conversation)) return undefined;
    if (conversation.connection.kind !== 'starting') {
      void this.end();
      return undefined;
    }
    timer?.dispose();
    this.#prepared = undefined;
    opening?.resolve();
    return conversation;
  }

  async end(): Promise<void> {
    const { conversation, opening, timer } = this.#prepared ?? {};
    this.#prepared = undefined;
    timer?.dispose();
    opening?.reject(new ParleyError('start-cancelled', localizable('The start was stopped.')));
    await conversation?.close();
  }
}
