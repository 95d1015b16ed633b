// Plays a recording into a conversation: all in one go, in slices, or at its original pace.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../base/log';
import type { TimedEvent } from '../../session/events/event';
import type { RecordedMessage, Recording } from '../../traffic/recording';
import { RecordedSession } from './recordedSession';

const MAX_PAUSE_MS = 2_000;
const SLICE_MS = 10;

export interface PlayOptions {
  /** At the recorded pace; else as fast as possible. */
  readonly isPaced: boolean;
  readonly note: (events: readonly TimedEvent[]) => void;
  /**
   * Called before the message takes effect.
   * @param at ms since 1970
   */
  readonly onMessage?: (message: RecordedMessage, at: number) => void;
  readonly log: Log;
  /** Start of a recording without times, ms since 1970. */
  readonly now: number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Resolves at the end, or when `signal` is aborted. */
export async function playRecording(recording: Recording, options: PlayOptions, signal: AbortSignal): Promise<void> {
  const { isPaced, note, onMessage, log, now } = options;
  const { wait = (ms: number) => delay(ms, undefined, { signal }).catch(() => {}) } = options;
  const session = new RecordedSession({ note, log });
  const began = recording.began ?? now - (recording.messages.at(-1)?.at ?? 0);
  let last = 0;
  let paused = performance.now();
  for (const message of recording.messages) {
    const gap = isPaced ? Math.min(MAX_PAUSE_MS, message.at - last) : 0;
    if (gap >= 1 || performance.now() - paused > SLICE_MS) {
      await wait(gap, signal);
      paused = performance.now();
    }
    if (signal.aborted) return;
    last = message.at;
    onMessage?.(message, began + message.at);
    session.take(message, began + message.at);
  }
  session.end();
}
