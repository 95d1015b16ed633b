// JSON-RPC errors, from the agent and from the client.

import { oneLine } from '../../base/text';
import { parseMessage } from '../../base/untrusted';

/** Limits on an agent's error text: characters, and depth in `data`. */
const MAX_CHARS = 2000;
const MAX_DEPTH = 5;
/** SDKs that answer "Internal error" put the original error into `details`. */
const WORD_KEYS = ['message', 'details', 'detail', 'description', 'reason', 'error', 'errors', 'cause'] as const;

/** Codes of JSON-RPC 2.0 (section 5.1) and of the protocol (1.7). */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  cancelled: -32800,
  authRequired: -32000,
  resourceNotFound: -32002,
} as const;

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/**
 * Returns the message and text that is only in `data`, as one bounded line without control
 * characters. A message that is JSON is treated as `data`.
 */
export function errorSentence(message: string, data: unknown): string {
  const words: string[] = [];
  collectWords(message, words, 0);
  collectWords(data, words, 0);
  const sentence = words.map((one, index) => (index < words.length - 1 ? one.replace(/[.:]$/, '') : one)).join(': ');
  return oneLine(sentence, MAX_CHARS) || 'No reason given';
}

function collectWords(value: unknown, words: string[], depth: number): void {
  if (depth > MAX_DEPTH || words.join('').length > MAX_CHARS) return;
  if (typeof value === 'string') {
    const parsed = jsonOf(value);
    const before = words.length;
    if (parsed !== undefined) collectWords(parsed, words, depth + 1);
    if (words.length === before) addWords(value.slice(0, MAX_CHARS * 2), words);
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_DEPTH)) collectWords(item, words, depth + 1);
  } else if (typeof value === 'object' && value !== null) {
    for (const key of WORD_KEYS) if (Object.hasOwn(value, key)) collectWords(Reflect.get(value, key), words, depth + 1);
  }
}

function addWords(text: string, words: string[]): void {
  const trimmed = text.trim();
  const isKnown = words.some((one) => one.includes(trimmed.replace(/[.:]$/, '')));
  if (trimmed !== '' && !isKnown) words.push(trimmed);
}

function jsonOf(text: string): object | undefined {
  if (!text.trimStart().startsWith('{') || text.length > 100_000) return undefined;
  try {
    return parseMessage(text) as object;
  } catch {
    return undefined;
  }
}
