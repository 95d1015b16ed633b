// A folder with files under git, for tests of what agents change.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes files, by their paths, and commits them to a new repository. */
export function gitFolder(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const as = ['-c', 'user.name=T', '-c', 'user.email=t@t'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...as, 'commit', '-qm', 'first'],
  ])
    execFileSync('git', args, { cwd: folder });
}
