// A message without a user: it gets its turn now, or leaves the queue with a reason. No one can
// sign in, resume the queue or send it again.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { Changes } from '../../session/model/changes';
import { isAway, type QueuedAttachment } from '../../session/queue/queue';
import { readReason } from '../../session/queue/waitReason';
import type { TurnResult } from '../turns/turnState';
import type { Conversation } from './conversation';

const LOST: ReadonlySet<string> = new Set(['session-lost', 'session-not-opened', 'agent-closed-input']);

/**
 * A message got no turn: `session-lost`, `not-sent` (another may be sent), or `prompt-refused` by
 * the agent.
 */
export class NoTurn extends ParleyError {
  /** The reason of the queue or the message; empty: unknown. */
  readonly wait: string;

  constructor(code: 'session-lost' | 'not-sent' | 'prompt-refused', wait: string) {
    super(code, readReason(wait)?.detail || localizable("The message wasn't sent."));
    this.wait = wait;
  }
}

export type ChangedEntries = ReadonlyMap<number, true | string>;

type Outcome = { readonly result: TurnResult } | { readonly error: unknown };

export class UnattendedMessage {
  readonly #conversation: Conversation;
  readonly #id: string;
  #outcome: Outcome | undefined;
  readonly #ended = new AbortController();
  #wake: () => void = () => {};

  /**
   * @param conversation its queue is empty
   * @throws as `Conversation.send`
   */
  constructor(conversation: Conversation, text: string, attachments: readonly QueuedAttachment[] = []) {
    this.#conversation = conversation;
    const { id, done } = conversation.send(text, attachments);
    this.#id = id;
    done.then(
      (result) => this.#over({ result }),
      (error: unknown) => this.#over({ error }),
    );
  }

  /**
   * Resolves with the end of its turn. After a rejection by `look` or `signal`, the agent may still
   * have the message: {@link withdraw} it.
   * @param look called with changes, and once more at the end, after the signal
   * @throws NoTurn; ParleyError `sign-in-needed`, or how the agent failed before the turn; errors
   * of `look`; the reason of `signal`
   */
  attend(
    look: (changed: ChangedEntries, ended: AbortSignal) => Promise<void> | void,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    return this.#watch(signal, async (changes, next) => {
      for (;;) {
        signal.throwIfAborted();
        this.#leaveQueue();
        const outcome = this.#outcome;
        await look(this.#take(changes), this.#ended.signal);
        if (outcome && 'error' in outcome) throw outcome.error;
        if (outcome) return outcome.result;
        await next();
      }
    });
  }

  /**
   * Takes the message back, or stops its turn.
   * @returns false if the agent hasn't stopped within `ms`
   */
  async withdraw(ms: number): Promise<boolean> {
    const { queue, queueActions, model } = this.#conversation;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ms);
    let isAsked = false;
    let turnId: string | undefined;
    await this.#watch(late.signal, async (changes, next) => {
      for (; !this.#outcome && !late.signal.aborted; await next()) {
        changes.reset();
        const [item, { turn }] = [queue.find(this.#id), model.state];
        if (!item) turnId ??= turn?.id;
        if (!item && turn && turn.id === turnId && turn.cancelRequested !== true) this.#conversation.cancel();
        if (!item || (item.state === 'accepted' && isAsked)) continue;
        isAsked = item.state === 'accepted';
        queueActions.remove(this.#id);
      }
    });
    clearTimeout(timer);
    this.#leaveQueue();
    return this.#outcome !== undefined;
  }

  #over(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#ended.abort();
    this.#wake();
  }

  /** Removes it from the queue once it is finished or can't have a turn. */
  #leaveQueue(): void {
    const { queue, queueActions } = this.#conversation;
    const error = this.#outcome ? undefined : this.#whyNoTurn();
    if (error) this.#over({ error });
    if (!this.#outcome) return;
    const remaining = queue.items.filter(({ id, repeats }) => id === this.#id || repeats === this.#id);
    for (const { id } of remaining) queueActions.remove(id);
  }

  /** Returns the problem that only a user could resolve. */
  #whyNoTurn(): ParleyError | undefined {
    const { connection, queue, agent } = this.#conversation;
    const item = queue.find(this.#id);
    if (!item || isAway(item)) return undefined;
    if (connection.kind === 'failed' || connection.kind === 'exited') return connection.error;
    if (connection.kind === 'authRequired')
      return new ParleyError('sign-in-needed', localizable('Sign in to use {0}.', agent.name), {
        hint: localizable('Start a session with {0} to sign in.', agent.name),
      });
    if (item.state === 'failed') return new NoTurn('prompt-refused', item.reason ?? '');
    if (queue.paused === undefined) return undefined;
    return new NoTurn(LOST.has(readReason(queue.paused)?.code ?? '') ? 'session-lost' : 'not-sent', queue.paused);
  }

  #take(changes: Changes): ChangedEntries {
    const { entries } = this.#conversation.model.state;
    const all = entries.map((_entry, index) => [index, true] as const);
    const changed = new Map<number, true | string>(changes.cleared ? all : changes.entries);
    for (const index of changes.blocks.keys()) changed.set(index, true);
    changes.reset();
    return changed;
  }

  /**
   * Runs something that can wait for the next change, or the signal. Changes are reported while
   * they happen; waiters continue once they are complete.
   */
  async #watch<T>(signal: AbortSignal, run: (changes: Changes, next: () => Promise<void>) => Promise<T>): Promise<T> {
    let isAwake = false;
    let goOn: (() => void) | undefined;
    const wake = (): void => {
      isAwake = true;
      goOn?.();
    };
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    const changes = new Changes(wake);
    const watching = this.#conversation.model.observe(changes);
    const next = async (): Promise<void> => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
        if (isAwake) resolve();
      });
      isAwake = false;
    };
    try {
      return await run(changes, next);
    } finally {
      watching.dispose();
      signal.removeEventListener('abort', wake);
    }
  }
}

export function turnFailure({ connection, model }: Conversation, turnId: string): ParleyError {
  const entry = model.state.entries.findLast((candidate) => candidate.kind === 'error' && candidate.turnId === turnId);
  if (entry?.kind === 'error') return new ParleyError(entry.code, entry.text, entry.hint ? { hint: entry.hint } : {});
  if ('error' in connection && connection.error instanceof ParleyError) return connection.error;
  const note = model.turn(turnId)?.note;
  return new ParleyError('turn-failed', typeof note === 'object' ? note : localizable('The agent failed.'));
}
