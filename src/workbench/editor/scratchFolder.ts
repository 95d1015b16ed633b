// The empty folder for sessions of a window without a folder.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Where nothing can be written in the user's own places; one for each process, under a name that no
 * one else can have created before.
 */
let temporary: string | undefined;

/**
 * Returns `wanted`, made if it is missing; where it cannot be made, another folder. Never throws: a
 * chat opens also where nothing can be written.
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
