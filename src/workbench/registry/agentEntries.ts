// Writes agents into the user's setting `parley.agents`.
import { ConfigurationTarget, workspace } from 'vscode';
import { userValue } from '../config/folderSettings';

/** An entry of `parley.agents` that starts a program. */
export interface ProgramEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The user's entry of this id, as it is written; undefined where there is none. */
export function entryOf(id: string): unknown {
  const all = entries();
  return Object.hasOwn(all, id) ? all[id] : undefined;
}

/** Adds an entry, or replaces that of the same id. The others stay as they are. */
export async function writeEntry(id: string, entry: ProgramEntry): Promise<void> {
  await write({ ...entries(), [id]: entry });
}

/** Returns an id that no entry has: the wanted one, or that with a number. */
export function freeId(wanted: string): string {
  const all = entries();
  let id = wanted;
  for (let number = 2; Object.hasOwn(all, id); number += 1) id = `${wanted}-${number}`;
  return id;
}

function entries(): Readonly<Record<string, unknown>> {
  const value = userValue('agents');
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

async function write(all: Readonly<Record<string, unknown>>): Promise<void> {
  await workspace.getConfiguration('parley').update('agents', all, ConfigurationTarget.Global);
}
