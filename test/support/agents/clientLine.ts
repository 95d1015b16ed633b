// One line of what a client sends, read as JSON-RPC 2.0 by agents that judge it.
import { at } from '../../../src/base/untrusted';

export function readClientLine(text: string, violation: (reason: string) => void): Record<string, unknown> | undefined {
  const read = readMessage(text);
  if (typeof read === 'object') return read;
  violation(read);
  return undefined;
}

function readMessage(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return 'an empty line';
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return `a line that is not JSON: ${JSON.stringify(text.slice(0, 200))}`;
  }
  if (Array.isArray(message)) return 'a JSON-RPC batch';
  if (typeof message !== 'object' || message === null || at(message, 'jsonrpc') !== '2.0')
    return `no JSON-RPC 2.0 message: ${text.slice(0, 200)}`;
  return message as Record<string, unknown>;
}

export function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`;
}
