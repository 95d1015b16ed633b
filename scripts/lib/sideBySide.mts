// Processes that run side by side. Their output is shown one after another: that of the first
// immediately, that of another one when those before it have ended.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a process may leave in its pipes when it ends, ms: a child process may hold them open. */
const LAST_OUTPUT_MS = 2_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Run {
  /** Settles when the process has ended: its exit code, or 1 if it has none. */
  readonly code: Promise<number>;
  /** Writes its output so far, and from now on what follows. */
  readonly show: () => void;
}

/**
 * Starts this Node with a script. A signal to this process ends the other one too.
 * @param args the script and its arguments
 */
export function start(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Run {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env });
  const stop = (signal: NodeJS.Signals): unknown => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, stop);
  const held: (() => void)[] = [];
  let isShown = false;
  const write = (to: NodeJS.WriteStream, data: Buffer): void => {
    if (isShown) to.write(data);
    else held.push(() => to.write(data));
  };
  child.stdout.on('data', (data: Buffer) => write(process.stdout, data));
  child.stderr.on('data', (data: Buffer) => write(process.stderr, data));
  const closed = new Promise((resolve) => child.once('close', resolve));
  const code = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (status) => {
      void Promise.race([closed, sleep(LAST_OUTPUT_MS)]).then(() => resolve(status ?? 1));
    });
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, stop);
  });
  return {
    code,
    show: () => {
      isShown = true;
      for (const writeHeld of held.splice(0)) writeHeld();
    },
  };
}

/** Shows the output of each process when those before it have ended. @returns their exit codes */
export async function inOrder(runs: Iterable<Run | Promise<Run>>): Promise<readonly number[]> {
  const codes: number[] = [];
  for (const run of runs) {
    const { code, show } = await run;
    show();
    codes.push(await code);
  }
  return codes;
}

/**
 * Starts processes in order, a limited number at a time.
 * @returns each of them, once it has been started
 */
export function startInLanes(starts: readonly (() => Run)[], lanes: number): readonly Promise<Run>[] {
  const started = starts.map((begin) => ({ begin, ...Promise.withResolvers<Run>() }));
  const waiting = started.values();
  const lane = async (): Promise<void> => {
    for (const { begin, resolve } of waiting) {
      const run = begin();
      resolve(run);
      await run.code;
    }
  };
  for (let count = 0; count < lanes; count++) void lane();
  return started.map(({ promise }) => promise);
}
