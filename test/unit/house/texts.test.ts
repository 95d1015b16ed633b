// The texts of the product and their translations: the bundles hold what the sources ask for, in every language.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { l10nJsonFormat } from '@vscode/l10n-dev';
import { bundleOf, ENGLISH, LANGUAGES, placeholdersOf, readBundle, textsOfSources } from '../../../scripts/lib/texts';
import { codeOf } from './codeOf';
import { sources } from './sources';

const root = process.cwd();

/** The texts of package.json, and the same in a language. */
const manifestTexts = (language?: string): string => `package.nls${language ? `.${language}` : ''}.json`;

/** What a translation lacks, has too much, or has with other placeholders. */
function faults(english: l10nJsonFormat, translation: l10nJsonFormat): readonly string[] {
  const missing = Object.keys(english).filter((key) => !(key in translation));
  const others = Object.entries(translation).flatMap(([key, text]) => {
    const original = english[key];
    if (original === undefined) return [`no source asks for it: ${key}`];
    const same = placeholdersOf(original).join() === placeholdersOf(text).join();
    return same ? [] : [`other placeholders: ${key}`];
  });
  return [...missing.map((key) => `missing: ${key}`), ...others];
}

describe('the texts of the product', () => {
  let texts: l10nJsonFormat;

  before(async function () {
    this.timeout(60_000);
    texts = await textsOfSources(root);
  });

  it('stand in the English bundle (npm run l10n writes it)', () => {
    assert.deepEqual(readBundle(root, ENGLISH), texts);
  });

  it('are each one literal that a bundle can hold, asked of l10n by its name', () => {
    const wrong = sources().flatMap(({ path, text }) => {
      const calls = [...codeOf(text).matchAll(/\bl10n\.t\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|)/g)];
      return calls
        .map(([, single, double]) => (single ?? double)?.replaceAll(/\\(.)/g, '$1'))
        .filter((key) => key === undefined || !(key in texts))
        .map((key) => `${path}: ${key ?? 'not a literal'}`);
    });
    assert.deepEqual(wrong, []);
  });

  for (const language of LANGUAGES) {
    it(`are translated with the same placeholders: ${language}`, () => {
      assert.deepEqual(faults(texts, readBundle(root, bundleOf(language))), []);
    });

    it(`are translated where VS Code shows them before Parley runs: ${language}`, () => {
      const path = manifestTexts(language);
      assert.ok(existsSync(join(root, path)), path);
      assert.deepEqual(faults(readBundle(root, manifestTexts()), readBundle(root, path)), []);
    });
  }

  it('name the folder of their bundles in package.json', () => {
    const { l10n } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { l10n?: string };
    assert.equal(l10n, './l10n');
  });
});

describe('the comparison of a translation', () => {
  it('finds what is missing, what is left over and placeholders that differ', () => {
    assert.deepEqual(faults({ a: 'a', b: 'b {0} {1}', c: 'c {name}' }, { b: 'B {1} {0}', c: 'C {nam}', d: 'D' }), [
      'missing: a',
      'other placeholders: c',
      'no source asks for it: d',
    ]);
  });
});
