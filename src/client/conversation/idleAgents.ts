// Ends the processes of idle agents, each of which can hold hundreds of megabytes. A hidden session
// without activity is closed after a while, if its agent can reopen it. The next message, or
// showing the session, starts the agent again.

import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { SessionState } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';

/** Delay between a change and the check that begins the idle time. */
const CHECK_DELAY_MS = 60_000;

export interface Suspendable {
  readonly key: string;
  readonly agent: { readonly name: string };
  readonly isIdle: boolean;
  suspend(): Promise<void>;
}

export interface IdleAgentsOptions {
  readonly conversations: () => readonly Suspendable[];
  readonly isShown: (key: string) => boolean;
  /** Undefined: forever. */
  readonly limitMs: () => number | undefined;
  /** Called at each check, to release other resources. */
  readonly onCheck: () => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly log: Log;
}

export class IdleAgents implements Disposable {
  readonly #options: IdleAgentsOptions;
  /** When each session became idle, by key. */
  readonly #idleSince = new Map<string, number>();
  #timer: Disposable | undefined;
  #nextCheckAt = Number.POSITIVE_INFINITY;
  #isDisposed = false;

  constructor(options: IdleAgentsOptions) {
    this.#options = options;
  }

  changed(key: string): void {
    this.#idleSince.delete(key);
    this.#schedule(CHECK_DELAY_MS);
  }

  async check(): Promise<void> {
    const { conversations, isShown, limitMs, onCheck, now, log } = this.#options;
    onCheck();
    const limit = limitMs();
    const idle = conversations().filter(({ key, isIdle }) => isIdle && !isShown(key));
    const keys = new Set(idle.map(({ key }) => key));
    for (const key of this.#idleSince.keys()) if (!keys.has(key)) this.#idleSince.delete(key);
    if (limit === undefined) return;
    const expired = idle.filter(({ key }) => {
      const since = this.#idleSince.get(key) ?? now();
      this.#idleSince.set(key, since);
      return now() - since >= limit;
    });
    this.#scheduleNext(limit);
    await Promise.all(
      expired.map(async (conversation) => {
        const { key, agent } = conversation;
        this.#idleSince.delete(key);
        log.info(`session ${key}: ${agent.name} is idle and gives its process back`);
        await conversation.suspend().catch((error: unknown) => log.warn(`session ${key}: ${messageOf(error)}`));
      }),
    );
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#idleSince.clear();
  }

  /**
   * Schedules the next check: when a hidden session's time is over, or to see whether a shown one
   * is still shown.
   */
  #scheduleNext(limit: number): void {
    const { conversations, now } = this.#options;
    const delays = conversations()
      .filter(({ isIdle }) => isIdle)
      .map(({ key }) => this.#idleSince.get(key))
      .map((since) => (since === undefined ? limit / 4 : limit - (now() - since)));
    if (delays.length > 0) this.#schedule(Math.max(1000, Math.min(...delays)));
  }

  #schedule(ms: number): void {
    const { limitMs, now, schedule } = this.#options;
    if (this.#isDisposed || now() + ms >= this.#nextCheckAt) return;
    const wait = Math.min(ms, limitMs() ?? ms);
    this.#timer?.dispose();
    this.#nextCheckAt = now() + wait;
    this.#timer = schedule(() => {
      this.#nextCheckAt = Number.POSITIVE_INFINITY;
      void this.check();
    }, wait);
  }
}

export function isAtWork(state: Readonly<SessionState>): boolean {
  const { agentState = 'idle', background, elicitations, entries, permissions, replaying, terminals, turn } = state;
  if (turn || replaying || agentState !== 'idle') return true;
  if (background.length > 0 || permissions.size > 0 || elicitations.size > 0) return true;
  if ([...terminals.values()].some(({ exit, released }) => !exit && !released)) return true;
  return entries.some((entry) => entry.kind === 'tool' && entry.toolKind === 'subagent' && !isEnded(entry.status));
}
