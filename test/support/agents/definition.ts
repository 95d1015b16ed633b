// How a test names a scripted agent, and how it reads what that agent saw.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition, Message } from '../../agents/rawClient';
import type { AgentScript, presets } from './script';

/** One line of an agent's log. Messages that were too long for it have only their size. */
export interface AgentLogLine {
  /** Milliseconds since 1970, with a fraction. */
  readonly t: number;
  readonly pid: number;
  readonly dir?: 'in' | 'out';
  readonly msg?: Message;
  /** `start`, `child` (with its pid as `child`), `violation` (with a `reason`), `sigterm`, `stdin-end`. */
  readonly ev?: string;
  readonly [more: string]: unknown;
}

/**
 * An entry for `parley.agents` that starts the scripted agent.
 * @param script a preset's name or a script @param log file that gets one JSON line for each message and event
 */
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

/** The log so far; empty where the agent has not started. */
export function readAgentLog(path: string): readonly AgentLogLine[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop(); // what follows the last newline is being written
  return lines.map((line) => JSON.parse(line) as AgentLogLine);
}

/** The methods that the client called, in order: requests and notifications, not answers. */
export function calledMethods(log: readonly AgentLogLine[]): readonly string[] {
  return log.flatMap(({ dir, msg }) => (dir === 'in' && msg?.method !== undefined ? [msg.method] : []));
}
