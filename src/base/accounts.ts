// Redacts account details (acp/protocol/authStatus.ts) before messages are logged or reported.
import { REDACTED } from './knownSecrets';
import { at } from './untrusted';

type WireMessage = Readonly<Record<string, unknown>>;

export function withoutAccounts(message: WireMessage): WireMessage {
  const { method, params, result } = message;
  if (method === '_auth/status_update') return { ...message, params: { authStatus: REDACTED } };
  if (method === 'auth/status_update')
    return { ...message, params: { state: at(params, 'state'), accounts: REDACTED } };
  const isStatus = at(result, 'accounts') !== undefined && at(result, 'state') !== undefined;
  return isStatus ? { ...message, result: { state: at(result, 'state'), accounts: REDACTED } } : message;
}

/** Like {@link withoutAccounts}, for lines: messages, batches, and truncated or quoted messages. */
export function lineWithoutAccounts(line: string): string {
  if (!/"accounts"|auth\/status_update/.test(line)) return line;
  try {
    const value: unknown = JSON.parse(line);
    const clean = (item: unknown) =>
      typeof item === 'object' && item !== null ? withoutAccounts(item as WireMessage) : item;
    return JSON.stringify(Array.isArray(value) ? value.map(clean) : clean(value));
  } catch {
    return line.includes('auth/status_update') ? REDACTED : line;
  }
}
