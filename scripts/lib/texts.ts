// Texts for translators: what the sources pass to `l10n.t`, and the bundles in l10n/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getL10nJson, type l10nJsonFormat } from '@vscode/l10n-dev';

/** The folder named by `l10n` in package.json. */
export const BUNDLES = 'l10n';
export const LANGUAGES = ['de'] as const;

export const ENGLISH = `${BUNDLES}/bundle.l10n.json`;
export const bundleOf = (language: string): string => `${BUNDLES}/bundle.l10n.${language}.json`;

/** Imports by which the extractor recognizes `l10n`. */
const IMPORTS = "import * as l10n from '@vscode/l10n';\nimport * as vscode from 'vscode';\n";

/**
 * Returns the English texts of all `l10n.t` and `localizable` calls in src, sorted by key.
 * @throws Error for a concatenated text
 */
export async function textsOfSources(root: string): Promise<l10nJsonFormat> {
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  // The extractor creates a parser per file, so files are concatenated.
  const scripts = ['.ts', '.tsx'].map((extension) => {
    const bodies = files
      .filter((file) => file.endsWith(extension))
      .map((file) => readFileSync(file, 'utf8'))
      .filter((text) => /\bl10n\.t\(|(?<!function )\blocalizable\(/.test(text))
      // `localizable` takes the same arguments, for texts that are localized later.
      .map((text) => text.replaceAll(/^import [^;]*;$/gm, '').replaceAll(/(?<!function )\blocalizable\(/g, 'l10n.t('));
    return { extension, contents: IMPORTS + bodies.join('\n') };
  });
  return sorted(await getL10nJson(scripts));
}

export function readBundle(root: string, path: string): l10nJsonFormat {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as l10nJsonFormat;
}

/** Returns the `{placeholders}` of a text, sorted. */
export function placeholdersOf(text: l10nJsonFormat[string]): readonly string[] {
  const message = typeof text === 'string' ? text : text.message;
  return [...message.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? '').sort();
}

/** Sorts a bundle by key, which avoids merge conflicts. */
export function sorted(bundle: l10nJsonFormat): l10nJsonFormat {
  return Object.fromEntries(Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
