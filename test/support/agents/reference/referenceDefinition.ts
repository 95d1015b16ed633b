// How a test names the reference agent, and how it reads what that agent found wrong.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../agents/rawClient';
import type { ReferenceScript } from './referenceScript';

export function referenceAgent(script: ReferenceScript, log: string): AgentDefinition {
  return {
    command: process.execPath,
    args: [join(process.cwd(), 'out/support/agents/referenceAgent.js'), JSON.stringify(script)],
    env: { AGENT_LOG: log, REFERENCE_VIOLATIONS: violationsFile(log) },
  };
}

export function readViolations(log: string): readonly string[] {
  const file = violationsFile(log);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function violationsFile(log: string): string {
  return `${log}.violations`;
}
