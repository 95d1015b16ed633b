// The empty folder for sessions of a window without a folder.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Used if the user's own folders are not writable; its name cannot be guessed. */
let temporary: string | undefined;

/**
 * Returns `wanted`, created if missing, else another folder. Never throws: a chat opens even if
 * nothing can be written.
 */
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
