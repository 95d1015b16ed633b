// Checks the version of VS Code, and reports where the extension runs.
import * as l10n from '@vscode/l10n';
import { type Check, check, type Finding } from './check';

export interface EditorCheckOptions {
  readonly version: string;
  readonly needs: string;
  /** Such as `ssh-remote`; undefined: this computer. */
  readonly remote: string | undefined;
  readonly isWeb: boolean;
  readonly node: string;
}

export function editorCheck({ version, needs, remote, isWeb, node }: EditorCheckOptions): Check {
  return check('editor', l10n.t('VS Code'), 1_000, async () => {
    const facts: Finding['facts'] = [
      [l10n.t('Version'), version],
      [l10n.t('Remote'), remote ?? l10n.t('none')],
      [l10n.t('Window'), isWeb ? l10n.t('browser') : l10n.t('desktop')],
      ['Node.js', node],
    ];
    if (isOlder(version, needs.replace(/^\^/, '')))
      return {
        outcome: 'problem',
        found: l10n.t('VS Code {0} is older than {1}, which Parley needs.', version, needs.replace(/^\^/, '')),
        advice: l10n.t('Update VS Code.'),
        facts,
      };
    return {
      outcome: 'ok',
      found:
        remote === undefined
          ? l10n.t('VS Code {0}. Agents run on this computer.', version)
          : l10n.t('VS Code {0}. Agents run on the remote computer ({1}), not on yours.', version, remote),
      facts,
    };
  });
}

function isOlder(one: string, other: string): boolean {
  const numbers = (text: string): readonly number[] =>
    text.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  const [a, b] = [numbers(one), numbers(other)];
  const different = [0, 1, 2].find((index) => a[index] !== b[index]);
  return different !== undefined && (a[different] ?? 0) < (b[different] ?? 0);
}
