// Runs processes in parallel and prints their output sequentially.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Wait for remaining output after a process has ended, ms: a child can hold its pipes open. */
const LAST_OUTPUT_MS = 2_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Run {
  /** Resolves with the exit code, or 1 if there is none. */
  readonly code: Promise<number>;
  /** Prints the output so far, and all that follows. */
  readonly show: () => void;
}

/** Starts a script with this Node, which signals to this process kill too. */
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

/** Prints the output of the processes in order. @returns their exit codes */
export async function inOrder(runs: Iterable<Run | Promise<Run>>): Promise<readonly number[]> {
  const codes: number[] = [];
  for (const run of runs) {
    const { code, show } = await run;
    show();
    codes.push(await code);
  }
  return codes;
}

/** Starts processes in order, at most `lanes` in parallel. */
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
