// The accounts signed in to an agent: `auth/status` and its notification (unstable), and the older
// notification of adapters. Personal data: shown, never logged or stored.

import { head } from '../../base/text';
import { at } from '../../base/untrusted';

export interface AuthAccount {
  readonly label: string;
  /** Name, email address and organization, if given. */
  readonly details: readonly string[];
  readonly isActive?: boolean;
}

export interface AuthStatus {
  readonly state: (typeof STATES)[number];
  readonly accounts: readonly AuthAccount[];
}

const STATES = ['authenticated', 'unauthenticated', 'not_required', 'unknown'] as const;
const MAX_ACCOUNTS = 20;
/** In characters. */
const MAX_TEXT = 200;

/** Never throws. */
export function readAuthStatus(raw: unknown): AuthStatus {
  const accounts = at(raw, 'accounts');
  return {
    state: STATES.find((state) => state === at(raw, 'state')) ?? 'unknown',
    accounts: (Array.isArray(accounts) ? accounts.slice(0, MAX_ACCOUNTS) : []).flatMap((account) => {
      const isActive = at(account, 'active');
      const fields = ['name', 'email', 'organization'].map((field) => at(account, field));
      return toAccount(at(account, 'label'), fields, typeof isActive === 'boolean' ? isActive : undefined);
    }),
  };
}

/** @returns undefined for other notifications */
export function readAuthUpdate(method: string, params: unknown): AuthStatus | undefined {
  if (method === 'auth/status_update') return readAuthStatus(params);
  if (method !== '_auth/status_update') return undefined;
  const status = at(params, 'authStatus');
  const kind = at(status, 'kind');
  if (typeof kind !== 'string') return undefined;
  if (kind === 'none') return { state: 'unauthenticated', accounts: [] };
  const fields = [at(status, 'detail'), at(status, 'account', 'email'), at(status, 'account', 'organization')];
  return { state: 'authenticated', accounts: toAccount(at(status, 'label'), fields) };
}

function toAccount(label: unknown, fields: readonly unknown[], isActive?: boolean): readonly AuthAccount[] {
  if (typeof label !== 'string' || label === '') return [];
  const details = fields.filter((text): text is string => typeof text === 'string' && text !== '');
  return [{ label: head(label, MAX_TEXT), details: details.map((text) => head(text, MAX_TEXT)), isActive }];
}
