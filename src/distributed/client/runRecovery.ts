// Follows a run to its end, even if the stream breaks: missed events come from the run's event
// list, by position, so that none is lost or repeated.
import { errorText, messageOf, ParleyError } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';
import { type Log, silentLog } from '../../base/log';
import { pause } from '../model/deadline';
import type { Run, RunEvent, RunStatus } from '../model/model';
import { AgentServerError } from './agentServerError';
import type { CommunicationClient, RunStream } from './communicationClient';

export interface FollowOptions {
  readonly log?: Log;
  /** A stream is checked after this silence, because connections can die unnoticed. */
  readonly quietMs?: number;
  /** Milliseconds between polls of a running run. */
  readonly pollMs?: number;
  readonly retryMs?: readonly number[];
}

export interface RunPosition {
  runId: string | undefined;
  taken: number;
}

const RETRY_MS = [250, 500, 1000, 2000, 4000, 5000, 5000, 10_000, 10_000];

/** The run has ended or awaits an answer. */
export function endsStream(event: RunEvent): boolean {
  switch (event.type) {
    case 'run.awaiting':
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'error':
      return true;
    default:
      return false;
  }
}

export function isResting(status: RunStatus): boolean {
  return status === 'awaiting' || status === 'completed' || status === 'failed' || status === 'cancelled';
}

/**
 * Yields each event from `position` on once, until one that {@link endsStream}. Throws errors of
 * `open`; ParleyError `run-lost`.
 */
export async function* followRun(
  client: Pick<CommunicationClient, 'run' | 'events'>,
  open: (signal: AbortSignal) => Promise<RunStream>,
  position: RunPosition,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  const stop = new AbortController();
  const closed = AbortSignal.any([signal, stop.signal]);
  try {
    const stream = await open(closed);
    if (stream.kind === 'run') {
      position.runId = stream.run.run_id;
      if (isResting(stream.run.status)) {
        yield restingEvent(stream.run);
        return;
      }
    } else {
      position.runId ??= stream.runId;
      for await (const event of readStream(client, stream.events, position, options, signal)) {
        position.taken += 1;
        if (event.type === 'run.created') position.runId ??= event.run.run_id;
        yield event;
        if (endsStream(event)) return;
      }
    }
  } finally {
    stop.abort();
  }
  yield* recover(client, position, options, signal);
}

async function* readStream(
  client: Pick<CommunicationClient, 'run'>,
  events: AsyncIterable<RunEvent>,
  position: RunPosition,
  { quietMs = 45_000, log = silentLog }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  const readNext = (): Promise<IteratorResult<RunEvent, unknown>> => {
    const taken = iterator.next();
    // Drops failures of a read that is no longer awaited.
    taken.catch(() => undefined);
    return taken;
  };
  let next = readNext();
  for (;;) {
    let result: IteratorResult<RunEvent, unknown> | undefined;
    try {
      result = await withinQuiet(next, quietMs, signal);
    } catch (error) {
      if (signal.aborted || isRefusal(error)) throw error;
      log.info(`The stream of run ${position.runId ?? '?'} broke: ${messageOf(error)}`);
      return;
    }
    if (result === undefined) {
      if (await hasEndedUnseen(client, position, signal)) return;
    } else if (result.done) return;
    else {
      yield result.value;
      next = readNext();
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'event-too-large';
}

async function withinQuiet<T>(next: Promise<T>, quietMs: number, signal: AbortSignal): Promise<T | undefined> {
  const timer = new AbortController();
  const quiet = pause(quietMs, AbortSignal.any([signal, timer.signal])).then(() => undefined);
  try {
    return await Promise.race([next, quiet]);
  } finally {
    quiet.catch(() => undefined);
    timer.abort();
  }
}

async function hasEndedUnseen(
  client: Pick<CommunicationClient, 'run'>,
  { runId }: RunPosition,
  signal: AbortSignal,
): Promise<boolean> {
  if (runId === undefined) return false;
  try {
    return isResting((await client.run(runId, signal)).status);
  } catch (error) {
    if (signal.aborted) throw error;
    // The recovery decides how long to wait for an unreachable server.
    return error instanceof AgentServerError && error.isSilence;
  }
}

async function* recover(
  client: Pick<CommunicationClient, 'run' | 'events'>,
  position: RunPosition,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  const { pollMs = 1000, retryMs = RETRY_MS, log = silentLog } = options;
  const { runId } = position;
  if (runId === undefined)
    throw runLostError(localizable('The connection was lost before the agent server named the run.'));
  for (let failures = 0; ; ) {
    let events: readonly RunEvent[];
    try {
      events = await fetchMissedEvents(client, runId, position, signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) throw error;
      const wait = retryMs[failures++];
      if (wait === undefined || !isTransient(error)) throw runLostError(errorText(error), error);
      log.info(`Run ${runId} is asked for again in ${wait} ms: ${messageOf(error)}`);
      await pause(wait, signal);
      continue;
    }
    for (const event of events) {
      yield event;
      if (endsStream(event)) return;
    }
    await pause(pollMs, signal);
  }
}

async function fetchMissedEvents(
  client: Pick<CommunicationClient, 'run' | 'events'>,
  runId: string,
  position: RunPosition,
  signal: AbortSignal,
): Promise<readonly RunEvent[]> {
  try {
    const all = await client.events(runId, signal);
    if (all.length >= position.taken) {
      const fresh = all.slice(position.taken);
      position.taken = all.length;
      // A list may be shorter than the run if the server limits it.
      if (fresh.length > 0) return fresh;
    }
  } catch (error) {
    if (!(error instanceof AgentServerError) || error.isSilence || isTransient(error)) throw error;
  }
  const run = await client.run(runId, signal);
  return isResting(run.status) ? [restingEvent(run)] : [];
}

export function isTransient(error: unknown): boolean {
  return error instanceof AgentServerError && (error.isSilence || (error.status ?? 0) >= 500 || error.status === 429);
}

function restingEvent(run: Run): RunEvent {
  // `isResting` was checked: these statuses are event names too.
  return { type: `run.${run.status as 'awaiting' | 'completed' | 'failed' | 'cancelled'}`, run };
}

function runLostError(reason: LocalizableText, cause?: unknown): ParleyError {
  return new ParleyError('run-lost', localizable('The connection to the running agent was lost. {0}', reason), {
    hint: localizable("The agent may have finished anyway. Send the message again if its answer doesn't appear."),
    cause,
  });
}

export interface MissedRunOptions {
  readonly pollMs: number;
  /** Milliseconds to wait after cancelling the run. */
  readonly stopMs: number;
  readonly onWait: () => void;
  readonly log?: Log;
}

export class MissedRun {
  readonly id: string | undefined;
  readonly #options: MissedRunOptions;
  #isAwaited = false;
  #isStopped = false;
  /** Last known state; undefined if it was not requested or the server doesn't know it. */
  last: Run | undefined;

  constructor(id: string | undefined, options: MissedRunOptions) {
    this.id = id;
    this.#options = options;
  }

  /** Returns whether the server has nothing more to report. Without `maxMs`, waits for the end. */
  async ended(client: CommunicationClient, signal: AbortSignal, maxMs?: number): Promise<boolean> {
    const { pollMs, stopMs, onWait, log = silentLog } = this.#options;
    const { id } = this;
    if (id === undefined) return true;
    const until = performance.now() + (maxMs ?? (this.#isStopped ? stopMs : Number.POSITIVE_INFINITY));
    this.#isAwaited = true;
    try {
      let run = await client.run(id, signal);
      // Its question was not seen, and another message is about to be sent.
      if (run.status === 'awaiting') run = await client.cancel(id, signal);
      else if (!isResting(run.status) && maxMs === undefined) onWait();
      while (!isResting(run.status)) {
        if (performance.now() > until) return this.#isStopped;
        await pause(pollMs, signal);
        run = await client.run(id, signal);
      }
      this.last = run;
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.info(`Run ${id} of the window before is not followed: ${messageOf(error)}`);
      return !(error instanceof AgentServerError && error.isSilence);
    } finally {
      this.#isAwaited = false;
    }
  }

  /** Cancels the run if it is awaited. Never rejects. */
  async stop(client: CommunicationClient, signal: AbortSignal): Promise<void> {
    if (!this.#isAwaited || this.id === undefined) return;
    const { log = silentLog } = this.#options;
    this.#isStopped = true;
    await client.cancel(this.id, signal).catch((error: unknown) => {
      log.info(`Run ${this.id} is not stopped: ${messageOf(error)}`);
    });
  }
}
