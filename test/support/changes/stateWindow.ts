// A window in a process of its own that takes and holds states of a folder, for tests that kill it or run another one beside it.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { build } from 'esbuild';
import type { FileVersion, Snapshot } from '../../../src/changes/model/fileChange';

export type WindowStep =
  | { readonly do: 'turn'; readonly files: Readonly<Record<string, string>>; readonly hold?: string }
  | { readonly do: 'write'; readonly content: string }
  | { readonly do: 'release'; readonly name: string }
  | { readonly do: 'collect' };

export interface WindowAnswer {
  readonly snapshot?: Snapshot;
  readonly version?: FileVersion;
}

export async function buildStateWindow(folder: string): Promise<string> {
  const outfile = join(folder, 'stateWindow.mjs');
  await build({
    entryPoints: [join(process.cwd(), 'test/support/changes/stateWindowProcess.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    outfile,
    logLevel: 'silent',
  });
  return outfile;
}

export class StateWindow {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;
  readonly #ended: Promise<void>;

  constructor(program: string, folder: string, storage: string, env: NodeJS.ProcessEnv) {
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    this.#child = spawn(process.execPath, [program, folder, storage], { env, stdio: [...stdio] });
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.stdin?.on('error', () => undefined);
    this.#reader = createInterface({ input: this.#child.stdout! });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  tell(step: WindowStep): void {
    this.#child.stdin?.write(`${JSON.stringify(step)}\n`);
  }

  async answer(): Promise<WindowAnswer | undefined> {
    const line = await this.#lines.next();
    return line.done ? undefined : JSON.parse(line.value);
  }

  async run(step: WindowStep): Promise<WindowAnswer> {
    this.tell(step);
    const answer = await this.answer();
    if (!answer) throw new Error('the window has ended');
    return answer;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
