// A VS Code with the packaged extension for the tests of one `describe`: taken before the first
// (vsCodePool.ts), given back after the last, with a picture and the log of a test that failed. In
// everything that they do, the content policy of our webviews must have nothing to stop and no
// script of theirs break.
import { strict as assert } from 'node:assert';
import { type Problem, screenshot, type Window, type WindowOptions } from './openWindow';
import type { Server, ServerOptions } from './startServer';
import { type Lease, takeVsCode } from './vsCodePool';

export interface VsCodeUnderTest {
  readonly server: Server;
  readonly window: Window;
  readonly deliberate: Set<Problem>;
}

export interface VsCodeOptions extends ServerOptions, WindowOptions {
  readonly own?: true;
}

/** Registers the hooks. */
export function useVsCode(options: VsCodeOptions = {}): VsCodeUnderTest {
  let lease: Lease | undefined;
  let hasFailed = false;
  const deliberate = new Set<Problem>();

  before('start VS Code', async function () {
    this.timeout(180_000);
    const say = (line: string): boolean => process.stdout.write(`${line}\n`);
    lease = await takeVsCode({ say, ...options });
  });

  afterEach('show what a failure looked like', async function () {
    if (this.currentTest?.state !== 'failed' || lease === undefined) return;
    hasFailed = true;
    const { window } = lease;
    const name = `failed-${this.currentTest.fullTitle().replace(/\W+/g, '-').slice(0, 80)}`;
    for (const [index, page] of window.context.pages().entries()) {
      const path = await screenshot(page, index === 0 ? name : `${name}-${index + 1}`).catch(() => 'no picture');
      process.stdout.write(`${path}\n`);
    }
    process.stdout.write(`${window.log.slice(-25).join('\n')}\n`);
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await lease?.end(!hasFailed);
    const problems = lease?.window.problems.filter((problem) => !deliberate.has(problem)) ?? [];
    assert.deepEqual(problems, [], 'the content policy stopped something of ours, or a script of ours broke');
  });

  return {
    get server() {
      return present(lease).server;
    },
    get window() {
      return present(lease).window;
    },
    deliberate,
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('VS Code is there only while a test runs');
  return value;
}
