// Stand-ins for PowerShell and taskkill of Windows, which print and note what a test wants. On
// Linux a path of Windows is a name with backslashes, which is looked for in PATH.
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join, win32 } from 'node:path';
import { scratchFile, scratchFolder } from './scratch';

export interface FakeProcess {
  readonly pid: number;
  readonly parent?: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export class WindowsPrograms {
  readonly #folder: string;
  readonly #before = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot };

  static async install(): Promise<WindowsPrograms> {
    const programs = new WindowsPrograms(await scratchFolder());
    await programs.#write();
    return programs;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  async #write(): Promise<void> {
    const folder = this.#folder;
    process.env.SystemRoot = folder;
    process.env.PATH = `${folder}${delimiter}${this.#before.PATH}`;
    const name = (path: string): string => win32.join(folder, 'System32', path);
    await scratchFile(
      folder,
      name('WindowsPowerShell\\v1.0\\powershell.exe'),
      `#!/bin/sh\nprintf '%s\\n' "$*" >> '${folder}/lists'\ncat '${folder}/rows'\n`,
    );
    const taskkill = `#!/bin/sh\necho "$@" >> '${folder}/calls'\nexit $(cat '${folder}/code')\n`;
    await scratchFile(folder, name('taskkill.exe'), taskkill);
    await this.list([]);
    await this.answer(0);
    await writeFile(join(folder, 'calls'), '');
    await writeFile(join(folder, 'lists'), '');
  }

  async list(rows: readonly FakeProcess[]): Promise<void> {
    const lines = rows.map(({ pid, parent = 1, startedAt }) => {
      const time = new Date(startedAt).toISOString().replace('Z', '1234+00:00');
      return `${pid} ${parent} ${time}\r\n`;
    });
    await writeFile(join(this.#folder, 'rows'), lines.join(''));
  }

  async answer(code: number): Promise<void> {
    await writeFile(join(this.#folder, 'code'), String(code));
  }

  async calls(): Promise<readonly string[]> {
    return (await readFile(join(this.#folder, 'calls'), 'utf8')).split('\n').filter(Boolean).sort();
  }

  async lists(): Promise<readonly string[]> {
    return (await readFile(join(this.#folder, 'lists'), 'utf8')).split('\n').filter(Boolean);
  }

  end(): void {
    for (const [name, value] of Object.entries(this.#before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
