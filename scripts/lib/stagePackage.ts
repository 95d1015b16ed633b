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
  const readme = join(target, 'README.md');
  writeFileSync(readme, packagedReadme(readFileSync(readme, 'utf8')));
}

/**
 * Returns the README as VS Code shows it on the page of the extension, which follows no relative link and
 * fetches no picture of the package: without pictures, and with the words of relative links alone.
 */
export function packagedReadme(text: string): string {
  return text
    .replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n/gm, '')
    .replace(/(?<!!)\[([^\]]+)\]\((?!https:|#)[^)]+\)/g, '$1');
}
