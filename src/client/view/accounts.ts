// Describes who is signed in to an agent.
import * as l10n from '@vscode/l10n';
import type { AuthStatus } from '../../acp/protocol/authStatus';

/** @returns undefined if the agent hasn't reported it */
export function accountsText(status: AuthStatus | undefined): string | undefined {
  if (!status) return undefined;
  const { state, accounts } = status;
  if (state === 'unauthenticated') return l10n.t('signed out');
  const active = accounts.filter(({ isActive }) => isActive);
  const listed = active.length > 0 ? active : accounts;
  if (listed.length > 0) return listed.map(({ label, details }) => [label, ...details].join(' · ')).join(', ');
  if (state === 'not_required') return l10n.t('no sign-in needed');
  return state === 'authenticated' ? l10n.t('signed in') : undefined;
}
