// The installed extension, as used by programs and keybindings.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { ConfigurationTarget, commands, extensions, workspace } from 'vscode';
import type { ParleyApi } from '../../src/workbench/api';

export async function activated(): Promise<ParleyApi> {
  const extension = extensions.getExtension<ParleyApi>('parley.parley');
  assert.ok(extension);
  return extension.activate();
}

export function run<T>(name: string, ...args: unknown[]): Thenable<T> {
  return commands.executeCommand<T>(`parley.${name}`, ...args);
}

/** Sets a user setting of Parley, or removes it without a value. */
export function configure(key: string, value?: unknown): Thenable<void> {
  return workspace.getConfiguration('parley').update(key, value, ConfigurationTarget.Global);
}

/** Returns an entry of `parley.agents` for the scripted agent. */
export function scripted(script: string | object = 'plain') {
  const program = join(process.env.PARLEY_REPOSITORY ?? '', 'out/support/agents/scriptedAgent.js');
  return {
    command: process.env.PARLEY_TEST_NODE,
    args: [program, typeof script === 'string' ? script : JSON.stringify(script)],
  };
}
