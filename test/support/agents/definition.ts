// How a test names a scripted agent, and how it reads what that agent saw.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition, Message } from '../../agents/rawClient';
import type { AgentScript, presets } from './script';

export interface AgentLogLine {
  /** Milliseconds since 1970, with a fraction. */
  readonly t: number;
  readonly pid: number;
  readonly dir?: 'in' | 'out';
  readonly msg?: Message;
  readonly ev?: string;
  readonly [more: string]: unknown;
}

/** An entry for `parley.agents` that starts the scripted agent. */
export function scriptedAgent(script: keyof typeof presets | AgentScript, log?: string): AgentDefinition {
  return {
    command: process.execPath,
    args: [
      join(process.cwd(), 'out/support/agents/scriptedAgent.js'),
      typeof script === 'string' ? script : JSON.stringify(script),
    ],
    env: log === undefined ? {} : { AGENT_LOG: log },
  };
}

/** Settings with the agent Plain alone, which keeps this log. */
export function plainAgent(log?: string) {
  const plain = { ...scriptedAgent('plain', log), name: 'Plain' };
  return { 'parley.agents': { plain }, 'parley.defaultAgent': 'plain' };
}

export function readAgentLog(path: string): readonly AgentLogLine[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop(); // what follows the last newline is being written
  return lines.map((line) => JSON.parse(line) as AgentLogLine);
}

export function calledMethods(log: readonly AgentLogLine[]): readonly string[] {
  return log.flatMap(({ dir, msg }) => (dir === 'in' && msg?.method !== undefined ? [msg.method] : []));
}
