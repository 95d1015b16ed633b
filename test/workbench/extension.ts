// The installed extension, as programs and keybindings use it.
import { strict as assert } from 'node:assert';
import { commands, extensions } from 'vscode';
import type { ParleyApi } from '../../src/workbench/api';

export async function activated(): Promise<ParleyApi> {
  const extension = extensions.getExtension<ParleyApi>('parley.parley');
  assert.ok(extension);
  return extension.activate();
}

export function run<T>(name: string, ...args: unknown[]): Thenable<T> {
  return commands.executeCommand<T>(`parley.${name}`, ...args);
}
