// The texts of the product for its translators: what the sources ask `l10n.t` for, and the bundles
// in l10n/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getL10nJson, type l10nJsonFormat } from '@vscode/l10n-dev';

/** The folder that `l10n` in package.json names, relative to the repository. */
export const BUNDLES = 'l10n';
/** The languages that Parley is translated into, besides English. */
export const LANGUAGES = ['de'] as const;

/** The bundle of the sources' own English. */
export const ENGLISH = `${BUNDLES}/bundle.l10n.json`;
export const bundleOf = (language: string): string => `${BUNDLES}/bundle.l10n.${language}.json`;

/** What the extractor knows `l10n` by. */
const IMPORTS = "import * as l10n from '@vscode/l10n';\nimport * as vscode from 'vscode';\n";

/**
 * Returns the English texts of all calls of `l10n.t` and `localizable` in src, sorted by key.
 * @throws Error for a text that is put together, which no bundle can hold
 */
export async function textsOfSources(root: string): Promise<l10nJsonFormat> {
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  // The extractor creates a parser for each file, so all files of a kind are passed as one.
  const scripts = ['.ts', '.tsx'].map((extension) => {
    const bodies = files
      .filter((file) => file.endsWith(extension))
      .map((file) => readFileSync(file, 'utf8'))
      .filter((text) => /\bl10n\.t\(|(?<!function )\blocalizable\(/.test(text))
      // `localizable` takes the same arguments, for texts that become words later.
      .map((text) => text.replaceAll(/^import [^;]*;$/gm, '').replaceAll(/(?<!function )\blocalizable\(/g, 'l10n.t('));
    return { extension, contents: IMPORTS + bodies.join('\n') };
  });
  return sorted(await getL10nJson(scripts));
}

/** Reads a bundle. @param path relative to `root` */
export function readBundle(root: string, path: string): l10nJsonFormat {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as l10nJsonFormat;
}

/** The `{placeholders}` of a text, in an order that does not depend on the language. */
export function placeholdersOf(text: l10nJsonFormat[string]): readonly string[] {
  const message = typeof text === 'string' ? text : text.message;
  return [...message.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? '').sort();
}

/**
 * A bundle as its file: keys in the order of their characters, so that two branches seldom touch
 * one line.
 */
export function sorted(bundle: l10nJsonFormat): l10nJsonFormat {
  return Object.fromEntries(Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
