// The entries of the user's setting `parley.agents`.
import { ConfigurationTarget, workspace } from 'vscode';
import { userValue } from '../config/folderSettings';

/** The user's entries as they are written, by id. */
export function entries(): Readonly<Record<string, unknown>> {
  const value = userValue('agents');
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Replaces the user's entries. */
export async function writeEntries(all: Readonly<Record<string, unknown>>): Promise<void> {
  await workspace.getConfiguration('parley').update('agents', all, ConfigurationTarget.Global);
}

/** Returns an id that no entry has: the wanted one, or that with a number. */
export function freeId(wanted: string): string {
  const all = entries();
  let id = wanted;
  for (let number = 2; Object.hasOwn(all, id); number += 1) id = `${wanted}-${number}`;
  return id;
}
