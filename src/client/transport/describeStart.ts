// Describes everything that a configuration from elsewhere would start or connect to, for the
// user's consent.
import * as l10n from '@vscode/l10n';

export interface StartDescription {
  readonly name: string;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, unknown>> | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly allow?: { readonly files: boolean; readonly terminals: boolean };
}

/** One line each for the command or address, and each variable and header. */
export function describeStart(started: StartDescription): string {
  const { name, command, args = [], cwd, env = {}, url, headers = {}, allow } = started;
  const what = url ?? commandLine([command ?? '', ...args]);
  return [
    `${singleLine(name)}: ${singleLine(what)}`,
    ...(allow?.files ? [`    ${l10n.t('may read and write files on this machine')}`] : []),
    ...(allow?.terminals ? [`    ${l10n.t('may run commands on this machine')}`] : []),
    ...(cwd === undefined ? [] : [`    ${l10n.t('in {0}', singleLine(cwd))}`]),
    ...Object.entries(env).map(
      ([key, value]) => `    ${l10n.t('variable {0} = {1}', singleLine(key), singleLine(String(value)))}`,
    ),
    ...Object.entries(headers).map(
      ([key, value]) => `    ${l10n.t('header {0} = {1}', singleLine(key), singleLine(String(value)))}`,
    ),
  ].join('\n');
}

/** Returns a command on one line, with its arguments quoted as in a shell. */
export function commandLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/**
 * Returns the user's environment variables that a configuration reads.
 * @param value any JSON
 */
export function environmentReadBy(value: unknown): readonly string[] {
  const found = JSON.stringify(value).matchAll(/\$\{env:([^}]*)\}/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}

function quoted(text: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}

/** A line break could start a line that looks like another entry. */
function singleLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]/g, (char) => (char === '\r' ? '\\r' : '\\n'));
}
