// Starts processes that work on a journal (worker.ts). Each test file bundles the program once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';

export class WorkerProgram {
  readonly #folder: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param entry the program's file; absent: worker.ts */
  static async make(entry = 'test/support/store/worker.ts'): Promise<WorkerProgram> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-worker-'));
    await chmod(folder, 0o755);
    await build({
      absWorkingDir: process.cwd(),
      entryPoints: [entry],
      outfile: join(folder, 'worker.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node22',
      // Packages of the older kind expect it.
      banner: {
        js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
      },
      logLevel: 'warning',
    });
    return new WorkerProgram(folder);
  }

  start(args: readonly string[], prefix: readonly string[] = [], env = process.env): StoreWorker {
    const [command = '', ...rest] = [
      ...prefix,
      process.execPath,
      '--no-warnings',
      join(this.#folder, 'worker.mjs'),
      ...args,
    ];
    const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return new StoreWorker(child);
  }

  async dispose(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export class StoreWorker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exit: Promise<unknown>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, 'exit');
    child.stdin?.on('error', () => {});
    if (!child.stdout) throw new Error('the worker has no output');
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    return done ? undefined : JSON.parse(value);
  }

  goOn(line = ''): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Kills it, and leaves what it said to who reads that. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  async kill(): Promise<readonly unknown[]> {
    this.#child.kill('SIGKILL');
    const rest: unknown[] = [];
    for (let line = await this.next(); line !== undefined; line = await this.next()) rest.push(line);
    await this.#exit;
    return rest;
  }

  async ended(): Promise<void> {
    await this.#exit;
  }
}
