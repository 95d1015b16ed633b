// The packer walks through every file below its folder before it looks at .vscodeignore, and caches here hold hundreds of thousands. So it gets a copy of what could ship at all.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repository } from '../../test/support/vscode/repository';
import { type AddressedManifest, withPages } from './addresses';

/** Never part of a package, and large: installed, downloaded or generated. */
const SKIPPED = new Set(['.cache', '.git', '.vscode-test', 'node_modules', 'out']);

/**
 * Copies the repository without its caches into a folder, where `.vscodeignore` decides on the rest.
 * @param hasBase the relative links and pictures of the README will get a base
 */
export function stagePackage(target: string, hasBase = false): void {
  for (const name of readdirSync(repository)) {
    if (SKIPPED.has(name)) continue;
    cpSync(join(repository, name), join(target, name), { recursive: true, filter: (path) => !path.endsWith('.vsix') });
  }
  for (const path of [...jsonIn(target, /^package(\.nls.*)?\.json$/), ...jsonIn(join(target, 'l10n'), /\.json$/)]) {
    const value = JSON.parse(readFileSync(path, 'utf8')) as AddressedManifest & BuildFields;
    writeFileSync(path, JSON.stringify(basename(path) === 'package.json' ? shipped(value) : value));
  }
  if (hasBase) return;
  const readme = join(target, 'README.md');
  writeFileSync(readme, packagedReadme(readFileSync(readme, 'utf8')));
}

function jsonIn(folder: string, name: RegExp): readonly string[] {
  return readdirSync(folder)
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));
}

/** What of package.json is about building. */
interface BuildFields {
  readonly scripts?: unknown;
  readonly devDependencies?: unknown;
  readonly overrides?: unknown;
}

/** Returns package.json with the addresses of the project, without what only building needs. */
function shipped({
  scripts,
  devDependencies,
  overrides,
  ...manifest
}: AddressedManifest & BuildFields): AddressedManifest {
  return withPages(manifest);
}

/**
 * Returns the README for a package of which nobody knows where its files can be read: VS Code's page of the extension follows no relative link
 * and fetches no picture of the package, so it is without pictures, and with the words of relative links alone.
 */
export function packagedReadme(text: string): string {
  return text
    .replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n/gm, '')
    .replace(/(?<!!)\[([^\]]+)\]\((?!https:|#)[^)]+\)/g, '$1');
}
