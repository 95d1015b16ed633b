// The runs of our server: started, queued per session, recorded, and eventually removed.
import { messageOf, ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import type { Log } from '../../base/log';
import { plainSentence } from '../client/agentServerError';
import { Deadline, orAborted } from '../model/deadline';
import type { AcpError, Message, RunCreate, SessionDescriptor } from '../model/model';
import type { PastMessage, RunState, ServedAgent, ServedRunContext } from './servedAgent';
import { notFound, ServerRefusal } from './serverRequest';
import { type RunNotice, type RunOutcome, runNotice, ServerRun } from './serverRun';
import type { Branch, ServerSessions } from './serverSessions';

export const RUN_LIMITS = {
  /** Number of stored runs, milliseconds after their end, and characters of their events. */
  kept: 1000,
  keptMs: 60 * 60_000,
  keptChars: 256 * 1024 * 1024,
  active: 64,
  activeInSession: 16,
  /** Milliseconds that a question stays open. */
  awaitMs: 60 * 60_000,
  graceMs: 5000,
  recordMs: 15_000,
};

export type RunLimits = Readonly<typeof RUN_LIMITS>;

export interface ServerRunsOptions {
  readonly sessions: ServerSessions;
  readonly history: (session: SessionDescriptor, signal: AbortSignal) => Promise<readonly PastMessage[]>;
  readonly withTexts: ServedRunContext['withTexts'];
  readonly state: (url: string, signal: AbortSignal) => Promise<Uint8Array | string>;
  readonly limits: RunLimits;
  readonly now: () => number;
  readonly log: Log;
}

export class ServerRuns {
  readonly #options: ServerRunsOptions;
  /** Oldest first. */
  readonly #runs = new Map<string, ServerRun>();
  readonly #queue = new KeyedQueue<string>();
  readonly #working = new Set<Promise<void>>();
  readonly #pendingSessions: (string | undefined)[] = [];
  #isStopped = false;

  constructor(options: ServerRunsOptions) {
    this.#options = options;
  }

  /** Queued after the session's earlier runs. Throws ServerRefusal 400, 409, 429, 503. */
  async create(agent: ServedAgent, request: RunCreate): Promise<ServerRun> {
    if (this.#isStopped) throw stopping();
    this.#removeOldRuns();
    const sessionId = request.session?.id ?? request.session_id;
    this.#checkRoom(sessionId);
    this.#pendingSessions.push(sessionId);
    const { branch, notice } = await this.#options.sessions.enter(request).finally(() => {
      this.#pendingSessions.splice(this.#pendingSessions.indexOf(sessionId), 1);
    });
    if (this.#isStopped) throw stopping();
    const run = new ServerRun(agent.name, branch.id, this.#options.now);
    this.#runs.set(run.id, run);
    const work = this.#queue.run(branch.id, () => this.#execute(run, agent, branch, request.input, notice));
    this.#working.add(work);
    void work.finally(() => this.#working.delete(work));
    return run;
  }

  /** @throws ServerRefusal 404 */
  get(id: string): ServerRun {
    this.#removeOldRuns();
    const run = this.#runs.get(id);
    if (!run) throw notFound(`Run ${id}`);
    return run;
  }

  /** Cancels active runs, and resolves when they are recorded. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const run of this.#runs.values()) if (!run.isOver) run.cancel();
    await Promise.all(this.#working);
  }

  /** @throws ServerRefusal 409, 429 */
  #checkRoom(sessionId: string | undefined): void {
    const { active: all, activeInSession } = this.#options.limits;
    const active = [...this.#runs.values()].filter((run) => !run.isOver);
    const siblings = active.filter((run) => run.sessionId === sessionId);
    const waiting = siblings.find((run) => run.status === 'awaiting');
    if (waiting) {
      throw new ServerRefusal(409, 'invalid_input', `Run ${waiting.id} of this session awaits an answer`);
    }
    const pendingCount = this.#pendingSessions.filter((one) => one !== undefined && one === sessionId).length;
    if (active.length + this.#pendingSessions.length >= all || siblings.length + pendingCount >= activeInSession) {
      throw new ServerRefusal(429, 'server_error', 'Too many runs at the same time', 5);
    }
  }

  /** Never throws: errors are the outcome of the run. */
  async #execute(
    run: ServerRun,
    agent: ServedAgent,
    branch: Branch,
    input: readonly Message[],
    notice: RunNotice | undefined,
  ): Promise<void> {
    // The caller gets `run.created` first.
    await new Promise((resolve) => setImmediate(resolve));
    const found = { length: 0 };
    const outcome = run.signal.aborted ? CANCELLED : await this.#runAgent(run, agent, branch, input, notice, found);
    run.settle(outcome.status === 'completed');
    // Readers look at the session as soon as the run ends.
    await this.#record(run, branch, [...input, ...run.output], found.length);
    run.finish(outcome);
  }

  async #runAgent(
    run: ServerRun,
    agent: ServedAgent,
    branch: Branch,
    input: readonly Message[],
    notice: RunNotice | undefined,
    found: { length: number },
  ): Promise<RunOutcome> {
    const { limits, log, sessions } = this.#options;
    const stop = new AbortController();
    let grace: NodeJS.Timeout | undefined;
    const onCancel = (): void => {
      grace = setTimeout(() => stop.abort(run.signal.reason), limits.graceMs);
    };
    run.signal.addEventListener('abort', onCancel, { once: true });
    try {
      run.begin();
      if (notice) run.tell(runNotice(notice));
      const session = await sessions.descriptorOf(branch);
      found.length = session.history.length;
      const history = (signal: AbortSignal) => this.#history(run, session, signal);
      const state = this.#state(run, branch, session.state);
      const context = { runId: run.id, session, history, withTexts: this.#options.withTexts, state };
      await orAborted(agent.run(input, context, run.emitter, run.signal), stop.signal);
      return run.signal.aborted ? CANCELLED : { status: 'completed' };
    } catch (error) {
      if (run.signal.aborted) return CANCELLED;
      log.warn(`Run ${run.id} of ${agent.name} failed: ${messageOf(error)}`);
      return { status: 'failed', error: wireError(error) };
    } finally {
      run.signal.removeEventListener('abort', onCancel);
      clearTimeout(grace);
    }
  }

  /** Reports unreadable messages to the caller; the agent answers without them. */
  async #history(run: ServerRun, session: SessionDescriptor, signal: AbortSignal): Promise<readonly PastMessage[]> {
    const past = await this.#options.history(session, signal);
    const gaps = past.flatMap((entry, index) =>
      entry.kind === 'gap' ? [{ number: index + 1, reason: entry.reason }] : [],
    );
    if (gaps.length > 0 && !run.isOver) run.tell(runNotice({ kind: 'history-gaps', of: past.length, gaps }));
    return past;
  }

  #state(run: ServerRun, branch: Branch, url: string | undefined): RunState {
    const { state, sessions, limits } = this.#options;
    const tell = (notice: RunNotice): void => {
      if (!run.isOver) run.tell(runNotice(notice));
    };
    return {
      read: async (signal) => (url === undefined ? undefined : { url, content: await state(url, signal) }),
      store: async (content, previous) => {
        const deadline = new Deadline('The resource store', limits.recordMs, new AbortController().signal);
        try {
          const storing = sessions.storeState(branch, content, previous, deadline.signal);
          const stored = await orAborted(storing, deadline.signal);
          if (stored === undefined) tell({ kind: 'state-conflict' });
          return stored;
        } catch (error) {
          tell({ kind: 'state-not-saved', why: reasonOf(error) });
          throw error;
        } finally {
          deadline.dispose();
        }
      },
    };
  }

  /** Includes failed and cancelled turns. A failure to record doesn't lose the answer. */
  async #record(run: ServerRun, branch: Branch, messages: readonly Message[], found: number): Promise<void> {
    const { log, limits, sessions } = this.#options;
    const deadline = new Deadline('The resource store', limits.recordMs, new AbortController().signal);
    try {
      const { before, waiting } = await orAborted(sessions.append(branch, messages, deadline.signal), deadline.signal);
      if (before > found) run.tell(runNotice({ kind: 'session-grew', more: before - found }));
      if (waiting > 0) run.tell(runNotice({ kind: 'messages-waiting', waiting }));
    } catch (error) {
      log.error(`The messages of run ${run.id} are not recorded: ${messageOf(error)}`);
      run.tell(runNotice({ kind: 'not-recorded', messages: messages.length, why: reasonOf(error) }));
    } finally {
      deadline.dispose();
    }
  }

  #removeOldRuns(): void {
    const { limits, now } = this.#options;
    const time = now();
    let chars = 0;
    for (const run of this.#runs.values()) {
      if (run.status === 'awaiting' && time - run.since > limits.awaitMs) run.cancel();
      chars += run.bytes;
    }
    let count = this.#runs.size;
    for (const run of this.#runs.values()) {
      if (!run.isOver) continue;
      if (time - run.since <= limits.keptMs && count <= limits.kept && chars <= limits.keptChars) continue;
      this.#runs.delete(run.id);
      count -= 1;
      chars -= run.bytes;
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof ParleyError ? plainSentence(error.message) : 'The server cannot write it.';
}

function stopping(): ServerRefusal {
  return new ServerRefusal(503, 'server_error', 'The server stops');
}

const CANCELLED: RunOutcome = { status: 'cancelled' };

/** Our own sentences are for users; other internal errors are hidden from callers. */
function wireError(error: unknown): AcpError {
  if (!(error instanceof ParleyError)) return { code: 'server_error', message: 'An unexpected error occurred' };
  const code = error.code === 'invalid-input' ? 'invalid_input' : 'server_error';
  return { code, message: plainSentence(error.message) };
}
