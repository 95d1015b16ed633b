// Leaves out of messages who is signed in to an agent (acp/protocol/authStatus.ts), before anything is
// logged, recorded or reported.
import { REDACTED } from './knownSecrets';
import { at } from './untrusted';

type WireMessage = Readonly<Record<string, unknown>>;

export function withoutAccounts(message: WireMessage): WireMessage {
  const { method, params, result } = message;
  if (method === '_auth/status_update') return { ...message, params: { authStatus: REDACTED } };
  if (method === 'auth/status_update')
    return { ...message, params: { state: at(params, 'state'), accounts: REDACTED } };
  // The answer to auth/status.
  const isStatus = at(result, 'accounts') !== undefined && at(result, 'state') !== undefined;
  return isStatus ? { ...message, result: { state: at(result, 'state'), accounts: REDACTED } } : message;
}

/** As {@link withoutAccounts}, for messages, batches, and lines that were cut or only quote one. */
export function lineWithoutAccounts(line: string): string {
  if (!/"accounts"|auth\/status_update/.test(line)) return line;
  try {
    const value: unknown = JSON.parse(line);
    const clean = (one: unknown) =>
      typeof one === 'object' && one !== null ? withoutAccounts(one as WireMessage) : one;
    return JSON.stringify(Array.isArray(value) ? value.map(clean) : clean(value));
  } catch {
    return line.includes('auth/status_update') ? REDACTED : line;
  }
}
