// The packer walks through every file below its folder before it looks at .vscodeignore, and caches
// here hold hundreds of thousands. So it gets a copy of what could ship at all.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../test/support/vscode/repository';
import { type AddressedManifest, withPages } from './addresses';

/** Never part of a package: sources, and installed, downloaded or generated files. */
const SKIPPED = new Set(['.cache', '.git', '.vscode-test', 'node_modules', 'out', 'scripts', 'src', 'test']);

/**
 * Copies the rest of the repository into a folder, where `.vscodeignore` decides what ships. The
 * manifest gets the addresses of the project.
 * @param hasBase the relative links and pictures of the README will get a base
 */
export function stagePackage(target: string, hasBase = false): void {
  for (const name of readdirSync(repository)) {
    if (SKIPPED.has(name)) continue;
    cpSync(join(repository, name), join(target, name), { recursive: true, filter: (path) => !path.endsWith('.vsix') });
  }
  const manifest = join(target, 'package.json');
  const addressed = withPages(JSON.parse(readFileSync(manifest, 'utf8')) as AddressedManifest);
  writeFileSync(manifest, `${JSON.stringify(addressed, undefined, 2)}\n`);
  if (hasBase) return;
  const readme = join(target, 'README.md');
  writeFileSync(readme, packagedReadme(readFileSync(readme, 'utf8')));
}

/**
 * Returns the README for a package without a known address of its files: VS Code's page of the
 * extension follows no relative link and fetches no picture of the package, so it is without
 * pictures, and with the words of relative links alone.
 */
export function packagedReadme(text: string): string {
  return text
    .replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n/gm, '')
    .replace(/(?<!!)\[([^\]]+)\]\((?!https:|#)[^)]+\)/g, '$1');
}
