// The packer walks through every file below its folder before it looks at .vscodeignore, and caches here hold hundreds of thousands. So it gets a copy of what could ship at all.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../test/support/vscode/repository';

/** Never part of a package, and large: installed, downloaded or generated. */
const SKIPPED = new Set(['.cache', '.git', '.vscode-test', 'node_modules', 'out']);

/** Copies the repository without its caches into a folder, where `.vscodeignore` decides on the rest. */
export function stagePackage(target: string): void {
  for (const name of readdirSync(repository)) {
    if (SKIPPED.has(name)) continue;
    cpSync(join(repository, name), join(target, name), { recursive: true, filter: (path) => !path.endsWith('.vsix') });
  }
  // Pictures stay in the repository, and the page of the extension cannot fetch them: without its line the text reads whole.
  const readme = join(target, 'README.md');
  writeFileSync(readme, readFileSync(readme, 'utf8').replace(/^!\[.*\]\(media\/.*\)\n\n/gm, ''));
}
