// Compares the PATH of the login shell, which agents get, with that of the window.
import { delimiter } from 'node:path';
import * as l10n from '@vscode/l10n';
import type { ShellAnswer } from '../../agents/agentEnvironment';
import { formatTenths } from '../../base/localFormat';
import { type Check, check, type Finding } from './check';
import { notTrusted } from './trust';

/** Duration from which a login shell counts as slow, ms: it delays the first agent of a window. */
const SLOW_MS = 2_000;
const MAX_SHOWN = 40;

export interface SearchPathCheckOptions {
  readonly isTrusted: boolean;
  readonly isWindows: boolean;
  readonly windowPath: string;
  readonly ask: () => Promise<ShellAnswer | undefined>;
}

export function searchPathCheck({ isTrusted, isWindows, windowPath, ask }: SearchPathCheckOptions): Check {
  return check('search-path', l10n.t('Search path (PATH)'), 65_000, async () => {
    const own = foldersOf(windowPath);
    if (isWindows) return { outcome: 'ok', found: l10n.t('Agents get the PATH of VS Code.'), facts: listed(own) };
    if (!isTrusted) return { ...notTrusted(), facts: listed(own) };
    const answer = await ask();
    if (!answer)
      return { outcome: 'warning', found: l10n.t('You have no login shell. Agents get the PATH of VS Code.') };
    const { shell, ms, path, problem } = answer;
    const facts: Finding['facts'] = [
      [l10n.t('Shell'), shell],
      [l10n.t('Answered after'), l10n.t('{0} ms', Math.round(ms))],
    ];
    if (path === undefined)
      return {
        outcome: 'warning',
        found: l10n.t("The login shell didn't print its PATH: {0}.", problem ?? l10n.t('no reason given')),
        advice: l10n.t(
          'Agents get the PATH of VS Code. Check the profile of the shell, then reload the window. Or use absolute paths.',
        ),
        action: 'editAgent',
        facts: [...facts, ...listed(own)],
      };
    const folders = foldersOf(path);
    const more = folders.filter((folder) => !own.includes(folder));
    const details = [...facts, ...listed(folders), ...(more.length > 0 ? [onlyThere(more)] : [])];
    if (ms > SLOW_MS)
      return {
        outcome: 'warning',
        found: l10n.t('The login shell took {0} s to print its PATH.', formatTenths(ms / 1000)),
        advice: l10n.t('A slow profile delays the first agent of each window.'),
        facts: details,
      };
    return {
      outcome: 'ok',
      found:
        more.length === 0
          ? l10n.t('The login shell and VS Code have the same folders in PATH.')
          : l10n.t('The login shell has {0} folders in PATH that VS Code lacks. Agents get them.', more.length),
      facts: details,
    };
  });
}

function foldersOf(path: string): readonly string[] {
  return path.split(delimiter).filter((folder) => folder !== '');
}

function listed(folders: readonly string[]): readonly (readonly [string, string])[] {
  return [['PATH', folders.slice(0, MAX_SHOWN).join(delimiter)]];
}

function onlyThere(folders: readonly string[]): readonly [string, string] {
  return [l10n.t('Only in the shell'), folders.slice(0, MAX_SHOWN).join(delimiter)];
}
