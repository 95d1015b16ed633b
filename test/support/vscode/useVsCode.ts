// A VS Code with the packaged extension for the tests of one `describe`: started before the first, ended after the last, with a picture and the log of a test that failed. In
// everything that they do, the content policy of our webviews must have nothing to stop and no script of theirs break.
import { strict as assert } from 'node:assert';
import { openWindow, type Problem, screenshot, type Window, type WindowOptions } from './openWindow';
import type { ProcessEntry } from './processTree';
import { vsixPath } from './repository';
import { type Server, type ServerOptions, startServer } from './startServer';

export interface VsCodeUnderTest {
  readonly server: Server;
  readonly window: Window;
  /** Problems that a test makes on purpose go in here. */
  readonly deliberate: Set<Problem>;
  /** What outlived the server's orderly end; known after the last test. */
  readonly leftBehind: readonly ProcessEntry[];
}

/**
 * Registers the hooks. Call it inside a `describe`, and read the result inside of tests only.
 * @param options for the server and the window; the VSIX of dist/ is installed in any case
 */
export function useVsCode(options: ServerOptions & WindowOptions = {}): VsCodeUnderTest {
  let server: Server | undefined;
  let window: Window | undefined;
  let leftBehind: readonly ProcessEntry[] = [];
  const deliberate = new Set<Problem>();

  before('start VS Code', async function () {
    this.timeout(180_000);
    const say = (line: string): boolean => process.stdout.write(`${line}\n`);
    server = await startServer({ say, ...options, extensions: [vsixPath, ...(options.extensions ?? [])] });
    window = await openWindow(server, { say, ...options });
  });

  afterEach('show what a failure looked like', async function () {
    if (this.currentTest?.state !== 'failed' || window === undefined) return;
    const name = `failed-${this.currentTest.fullTitle().replace(/\W+/g, '-').slice(0, 80)}`;
    const path = await screenshot(window.page, name).catch(() => 'no picture');
    process.stdout.write(`${path}\n${window.log.slice(-25).join('\n')}\n`);
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await window?.close();
    leftBehind = (await server?.stop()) ?? [];
    const problems = window?.problems.filter((problem) => !deliberate.has(problem)) ?? [];
    assert.deepEqual(problems, [], 'the content policy stopped something of ours, or a script of ours broke');
  });

  return {
    get server() {
      return present(server);
    },
    get window() {
      return present(window);
    },
    deliberate,
    get leftBehind() {
      return leftBehind;
    },
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('VS Code is there only while a test runs');
  return value;
}
