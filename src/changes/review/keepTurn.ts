// Keeps what one turn changed in a file, and leaves what other turns changed to wait.
import { compareLines, inverted } from '../lines/hunks';
import { placeHunks, withHunks } from '../lines/placeHunks';
import type { FileVersion } from '../model/fileChange';
import { areFiles, type FileTexts } from './fileTexts';
import type { Change } from './takeBack';
import { type Ends, isSameVersion } from './waitingFiles';

/** The version that is kept then. `isEntangled`: a part of the change waits on. */
export interface KeptTurn {
  readonly base: FileVersion | undefined;
  readonly isEntangled: boolean;
}

/**
 * Puts what a turn changed into the kept version of a file, without what was undone since. A change
 * of lines that an earlier turn changed, which wait, is left.
 * @throws ParleyError `state-gone`, `version-not-kept`
 */
export async function keepTurn(
  texts: FileTexts,
  { base, left }: Ends,
  { before, after }: Pick<Change, 'before' | 'after'>,
): Promise<KeptTurn> {
  if (isSameVersion(base, after)) return { base, isEntangled: false };
  if (isSameVersion(base, before) && isSameVersion(left, after)) return { base: after, isEntangled: false };
  const lines =
    areFiles(before, after) && areFiles(base, left)
      ? [await texts.lines(before), await texts.lines(after), await texts.lines(base), await texts.lines(left)]
      : [];
  const [old, made, baseLines, leftLines] = lines;
  if (!old || !made || !baseLines || !leftLines) return { base, isEntangled: true };
  const { slices } = texts;
  const all = await compareLines(old, made, slices);
  const since = await compareLines(made, leftLines, slices);
  const there = await placeHunks(inverted(all), since, { edited: old, other: leftLines }, slices);
  const others = await compareLines(old, baseLines, slices);
  const found = await placeHunks(inverted(there.edits), others, { edited: made, other: baseLines }, slices);
  const mode = base!.mode === before!.mode ? after!.mode : base!.mode;
  const content = await withHunks(baseLines, made, found.placed, slices);
  return { base: await texts.keep(content, mode, left), isEntangled: found.blocked.length > 0 };
}
