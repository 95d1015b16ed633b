// Checks the reference agent as `npm run check-agent` does, in the process of the test.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { type ConformanceReport, checkAgent } from '../../../../src/conformance/checkAgent';
import type { CheckLimits, CheckPrompts } from '../../../../src/conformance/run/checkOptions';
import { startProgram } from '../../sessions/memoryAgents';
import { runReferenceAgent } from './referenceProgram';
import type { ReferenceScript } from './referenceScript';

const PROMPTS: CheckPrompts = {
  answer: 'say OK',
  cancel: 'say busy\nwait',
  permission: 'ask',
  held: 'hold',
  refusal: 'say no\nstop refusal',
  error: 'say oops\nfail',
};

const LIMITS: Partial<CheckLimits> = {
  beforeCancel: 5,
  output: 500,
  held: 20,
  quiet: 5,
  noise: 100,
  request: 5_000,
  prompt: 5_000,
  cancel: 5_000,
};

export const WHOLE: ReferenceScript = {
  offers: ['load', 'resume', 'list', 'close'],
  saved: ['reference-1'],
  status: {},
  turnComplete: { when: 'before' },
};

export interface CheckedReference {
  readonly report: ConformanceReport;
  readonly violations: readonly string[];
}

export async function checkReference(
  script: ReferenceScript,
  version: 1 | 2,
  limits: Partial<CheckLimits> = {},
): Promise<CheckedReference> {
  const logs = await mkdtemp(join(tmpdir(), 'parley-reference-'));
  const file = join(logs, 'violations');
  const ready = {
    path: version === 2 ? ['capabilities', 'session', 'ready'] : ['agentCapabilities', 'session', 'ready'],
  };
  try {
    const report = await checkAgent(
      {
        client: { name: 'check', title: 'Check', version: '1' },
        versions: [version],
        prompts: PROMPTS,
        limits: { ...LIMITS, ...limits },
        start: (cwd, signal) =>
          startProgram(runReferenceAgent, {
            command: 'reference',
            args: ['reference', JSON.stringify({ ready, ...script })],
            cwd,
            env: { REFERENCE_VIOLATIONS: file },
            log: silentLog,
            signal,
          }),
      },
      new AbortController().signal,
    );
    const violations = await readFile(file, 'utf8').catch(() => '');
    return { report, violations: violations.split('\n').filter((line) => line !== '') };
  } finally {
    await rm(logs, { recursive: true, force: true });
  }
}
