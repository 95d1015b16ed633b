// The empty folder for sessions of a window without a folder.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Fallback if the user's folders are not writable; not guessable. */
let temporary: string | undefined;

/** Returns `wanted`, created if missing, or a fallback. Never throws. */
export function ensureScratch(wanted: string): string {
  try {
    mkdirSync(wanted, { recursive: true });
    return wanted;
  } catch {
    try {
      temporary ??= mkdtempSync(join(tmpdir(), 'parley-'));
      return temporary;
    } catch {
      return homedir();
    }
  }
}
