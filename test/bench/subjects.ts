// The subjects: Parley as it ships, and the floor beside it. Both open with the same key, look
// the same to the driver and talk to the same agent.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repository, vsixPath } from '../support/vscode/repository';

/** An extension under load. */
export interface Subject {
  readonly name: 'floor' | 'Parley';
  readonly vsix: string;
  /** Machine settings that make it start this agent. */
  readonly settings: (agent: AgentCommand) => Readonly<Record<string, unknown>>;
}

export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export const parley: Subject = {
  name: 'Parley',
  vsix: vsixPath,
  settings: (agent) => ({ 'parley.agents': { load: agent }, 'parley.defaultAgent': 'load' }),
};

/** Another version of Parley. @param vsix its package */
export function otherVersion(vsix: string): Subject {
  return { ...parley, vsix };
}

/** Packs the floor. @param folder where its VSIX goes */
export function packFloor(folder: string): Subject {
  const vsix = pack('test/bench/floor', join(folder, 'floor.vsix'));
  return { name: 'floor', vsix, settings: (agent) => ({ 'parleyFloor.agent': agent }) };
}

/** Packs an extension of ours. @returns the path of the VSIX */
export function pack(extension: string, vsix: string): string {
  const vsce = join(repository, 'node_modules/@vscode/vsce/vsce');
  const flags = ['--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', vsix];
  const cwd = join(repository, extension);
  const packed = spawnSync(process.execPath, [vsce, 'package', ...flags], { cwd, encoding: 'utf8' });
  if (packed.status !== 0) throw new Error(`${extension} could not be packed:\n${packed.stdout}${packed.stderr}`);
  return vsix;
}

/** The scripted agent, writing when and how much it sent to `log`. */
export function loadAgent(log: string): AgentCommand {
  return {
    command: process.execPath,
    args: [join(repository, 'out/support/agents/scriptedAgent.js'), 'plain'],
    env: { FLOOD_LOG: log },
  };
}
