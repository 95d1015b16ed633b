// Replaces the VS Code executable on machines without a desktop: accepts its arguments
// (`--extensionDevelopmentPath=…`, `--extensionTestsPath=…`, a folder), runs the suite in the
// extension host of a server and a headless browser, and exits with the suite's code.
import { format } from 'node:util';
import { Deferred } from '../src/base/deferred';
import { isNoise } from '../test/support/vscode/noise';
import { openWindow, screenshot } from '../test/support/vscode/openWindow';
import { startServer } from '../test/support/vscode/startServer';

/** Silence after which the suite counts as hung, ms. */
const SILENCE = 120_000;

function argument(name: string): string {
  const found = process.argv.find((item) => item.startsWith(`--${name}=`));
  if (found === undefined) throw new Error(`--${name} is missing`);
  return found.slice(name.length + 3);
}

async function main(): Promise<number> {
  const say = (line: string): boolean => process.stdout.write(`${line}\n`);
  const version = process.env.PARLEY_TEST_VERSION === 'minimum' ? 'minimum' : 'newest';
  const folder = process.argv.slice(2).find((item) => !item.startsWith('-'));
  const server = await startServer({
    version,
    say,
    trust: process.argv.includes('--disable-workspace-trust'),
    // VS Code's Git extension throws into the suite if `git check-ignore` ends before reading its
    // input. It runs it in detected repositories even without decorations; tests open those that
    // they need.
    settings: { 'git.decorations.enabled': false, 'git.autoRepositoryDetection': false },
    ...(folder === undefined ? {} : { folder }),
  });
  const ended = new Deferred<number>();
  let watchdog: NodeJS.Timeout | undefined;
  const alive = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => ended.reject(new Error(`The suite was silent for ${SILENCE / 1000} s`)), SILENCE);
  };
  const stop = (): void => ended.resolve(130);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  void server.exited.then(() => ended.reject(new Error(`The server ended:\n${server.output()}`)));
  const remote = (path: string): string => `vscode-remote://127.0.0.1:${server.port}${path}`;
  try {
    alive();
    const window = await openWindow(server, {
      say,
      payload: [
        ['extensionDevelopmentPath', remote(argument('extensionDevelopmentPath'))],
        ['extensionTestsPath', remote(argument('extensionTestsPath'))],
      ],
      expose: {
        // The console of the extension host, as passed to VS Code's test driver.
        codeAutomationLog: (type, args) => {
          alive();
          const list: unknown[] = Array.isArray(args) ? args : [args];
          const text = format(...list);
          if (isNoise(text)) return;
          const stream = type === 'error' ? process.stderr : process.stdout;
          stream.write(`${text}\n`);
        },
        codeAutomationExit: (code) => ended.resolve(Number(code)),
      },
    });
    try {
      const code = await ended.promise;
      if (code !== 0) await screenshot(window.page, `workbench-failed-${version}`).catch(() => undefined);
      return code;
    } catch (error) {
      say(`${window.log.slice(-30).join('\n')}`);
      throw error;
    } finally {
      await window.close();
    }
  } finally {
    clearTimeout(watchdog);
    for (const left of await server.stop()) say(`Left behind: ${left.pid} ${left.command}`);
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
