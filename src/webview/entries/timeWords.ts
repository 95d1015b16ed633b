// How long something took, in words.
import { formatDuration } from '../text/format';
import { strings } from '../text/strings';

/** A duration in ms, and how much of it was waiting for the user where that is a second or more. */
export function timeWords(ms: number, waitedMs = 0): string {
  const all = formatDuration(ms);
  return waitedMs < 1000 ? all : strings.waitedForYou(all, formatDuration(waitedMs));
}
