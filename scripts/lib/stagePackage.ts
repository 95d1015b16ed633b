// Copies what could ship to a staging folder: vsce walks all files before it reads .vscodeignore.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../test/support/vscode/repository';
import { type AddressedManifest, withPages } from './addresses';

/** Never packaged: sources, and what is installed, downloaded or generated. */
const SKIPPED = new Set(['.cache', '.git', '.vscode-test', 'node_modules', 'out', 'scripts', 'src', 'test']);

/**
 * Copies the rest of the repository, from which `.vscodeignore` selects, with addresses added to
 * the manifest.
 * @param hasBase whether relative links and pictures of the README get a base URL
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

/** Removes pictures and relative links, which VS Code can't load without a base URL. */
export function packagedReadme(text: string): string {
  return text
    .replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n/gm, '')
    .replace(/(?<!!)\[([^\]]+)\]\((?!https:|#)[^)]+\)/g, '$1');
}
