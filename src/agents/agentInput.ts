// Parses and checks what a person types for an agent: a command line, a URL, a folder, the name of
// a variable or of a header.
import { isAbsolute } from 'node:path';
import * as l10n from '@vscode/l10n';
import { isCredential, isHeaderName, isHeaderValue } from '../base/httpHeader';

const MAX_ID = 40;

/**
 * Splits a command line into words. Quotes keep spaces. In double quotes, a backslash escapes a
 * quote or backslash; elsewhere it is literal, for Windows paths.
 * @returns undefined if a quote is not closed
 */
export function wordsOf(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = line.trimStart();
  while (rest !== '') {
    const [matched] = /^(?:'[^']*'|"(?:\\["\\]|[^"\\]|\\(?!["\\]))*"|[^\s'"])+(?=\s|$)/.exec(rest) ?? [];
    if (matched === undefined) return undefined;
    words.push(
      matched.replace(/'([^']*)'|"((?:\\["\\]|[^"\\]|\\(?!["\\]))*)"/g, (_whole, single?: string, double = '') =>
        single === undefined ? double.replace(/\\(["\\])/g, '$1') : single,
      ),
    );
    rest = rest.slice(matched.length).trimStart();
  }
  return words;
}

export function lineOf(words: readonly string[]): string {
  return words
    .map((word) => {
      if (word !== '' && !/[\s'"]/.test(word)) return word;
      return word.includes("'") ? `"${word.replace(/["\\]/g, '\\$&')}"` : `'${word}'`;
    })
    .join(' ');
}

/** Returns whether words survive an input box, which drops line breaks and other controls. */
export function fitsInLine(words: readonly string[]): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return words.every((word) => !/[\u0000-\u001f\u007f\u2028\u2029]/.test(word));
}

export function idFrom(name: string): string {
  const id = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_ID)
    .replace(/^-+|-+$/g, '');
  return id === '' || id === '__proto__' ? 'agent' : id;
}

// Each returns an error message, or undefined.

export function commandProblem(line: string): string | undefined {
  const words = wordsOf(line);
  if (words === undefined) return l10n.t('A quotation mark is not closed.');
  if (words.length === 0 || words[0] === '') return l10n.t('Enter the command that starts the agent.');
  return undefined;
}

export function addressProblem(text: string, schemes: readonly string[]): string | undefined {
  const address = text.trim();
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !schemes.includes(url.protocol))
    return l10n.t('Enter an address that begins with {0}.', schemes.map((scheme) => `${scheme}//`).join(', '));
  if (url.username !== '' || url.password !== '')
    return l10n.t('Remove the user name and password. Add a header instead.');
  return undefined;
}

export function folderProblem(text: string): string | undefined {
  const folder = text.trim();
  return folder === '' || folder.startsWith('~') || isAbsolute(folder)
    ? undefined
    : l10n.t('Enter an absolute path, or leave it empty.');
}

export function variableProblem(name: string): string | undefined {
  return /^[^=\s]{1,200}$/.test(name.trim()) ? undefined : l10n.t('Enter a name without spaces or “=”.');
}

export function headerProblem(name: string): string | undefined {
  return isHeaderName(name.trim()) ? undefined : l10n.t('Use letters, digits and hyphens.');
}

export function headerValueProblem(value: string): string | undefined {
  return isHeaderValue(value) ? undefined : l10n.t('Use one line of letters, digits and punctuation.');
}

export function credentialProblem(text: string): string | undefined {
  const credential = text.trim();
  return credential === '' || isCredential(credential)
    ? undefined
    : l10n.t('Enter it in one line, without spaces and accented letters.');
}

export function nameProblem(name: string): string | undefined {
  return name.trim() === '' ? l10n.t('Enter a name.') : undefined;
}
