// Labels for durations.
import { formatDuration } from '../text/format';
import { strings } from '../text/strings';

/**
 * Formats a duration in ms, with the time spent waiting for the user if that is a second or more.
 */
export function timeWords(ms: number, waitedMs = 0): string {
  const all = formatDuration(ms);
  return waitedMs < 1000 ? all : strings.waitedForYou(all, formatDuration(waitedMs));
}
