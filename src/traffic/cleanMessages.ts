// Removes secrets from traffic. A secret may be split between messages of streamed text, so all
// parts of a text are searched together.
import { setImmediate } from 'node:timers/promises';
import { lineWithoutAccounts, withoutAccounts } from '../base/accounts';
import { type KnownSecrets, REDACTED } from '../base/knownSecrets';
import { knownSecrets, redact, redactPieces } from '../base/redact';
import { at } from '../base/untrusted';
import type { TrafficEntry } from './trafficLog';
import { jsonObject, messageOf, type WireMessage } from './trafficLog';

/** Duration between two yields, ms. */
const SLICE_MS = 10;
/** Minimum length of a partial known secret that is removed at the end of a text. */
const MIN_OPEN = 6;
const MAX_TEXTS = 500;
const MAX_DEPTH = 32;

export interface CleanEntry {
  readonly entry: TrafficEntry;
  readonly message?: WireMessage;
  readonly text: string;
}

interface Parsed {
  readonly entry: TrafficEntry;
  message?: WireMessage;
}

interface Piece {
  readonly text: string;
  readonly replace: (text: string) => void;
}

/** Returns the entries without secrets, in order. @throws the reason of `signal` */
export async function cleanMessages(
  entries: readonly TrafficEntry[],
  { known = knownSecrets, signal }: { readonly known?: KnownSecrets; readonly signal?: AbortSignal } = {},
): Promise<readonly CleanEntry[]> {
  const yieldIfDue = slices(signal);
  const streams = new Map<string, Piece[]>();
  const parsed: Parsed[] = [];
  for (const entry of entries) {
    const message = messageOf(entry);
    parsed.push({ entry, message });
    if (message) collect(entry.key, message, streams);
    await yieldIfDue();
  }
  for (const pieces of streams.values()) {
    const clean = redactPieces(
      pieces.map(({ text }) => text),
      known,
    );
    const last = pieces.length - 1;
    for (const [index, { text, replace }] of pieces.entries()) {
      const piece = clean[index] ?? '';
      const visible = index === last ? withoutOpenEnd(piece, clean, known) : piece;
      if (visible !== text) replace(visible);
    }
    await yieldIfDue();
  }
  const cleaned: CleanEntry[] = [];
  for (const { entry, message } of parsed) {
    cleaned.push(message ? cleanMessage(entry, message, known) : { entry, text: cleanLine(entry.text, known) });
    await yieldIfDue();
  }
  return cleaned;
}

/** Redacts a line that is not a message. */
export function cleanLine(text: string, known: KnownSecrets = knownSecrets): string {
  const clean = redact(lineWithoutAccounts(text), known);
  return withoutOpenEnd(clean, [clean], known);
}

function cleanMessage(entry: TrafficEntry, message: WireMessage, known: KnownSecrets): CleanEntry {
  let text: string;
  try {
    text = redact(JSON.stringify(withoutAccounts(message)), known);
  } catch {
    return { entry, text: cleanLine(entry.text, known) };
  }
  const clean = jsonObject(text);
  // Redaction by appearance can replace more than a string, which breaks the JSON.
  return clean ? { entry, message: clean, text } : { entry, text };
}

function withoutOpenEnd(last: string, pieces: readonly string[], known: KnownSecrets): string {
  const open = known.openEnd(pieces.slice(-1000).join(''));
  return open < MIN_OPEN ? last : `${last.slice(0, Math.max(0, last.length - open))}${REDACTED}`;
}

function collect(key: string, message: WireMessage, streams: Map<string, Piece[]>): void {
  if (message.method !== 'session/update') return;
  const update = at(message, 'params', 'update');
  if (typeof update !== 'object' || update === null) return;
  const names = ['sessionUpdate', 'messageId', 'toolCallId', 'terminalId'].map((name) => at(update, name));
  const holder = [key, at(message, 'params', 'sessionId'), ...names].map((name) =>
    typeof name === 'string' ? name : null,
  );
  let remaining = MAX_TEXTS;
  const walk = (value: object, path: readonly string[]): void => {
    for (const [name, inner] of Object.entries(value)) {
      if (remaining <= 0 || path.length > MAX_DEPTH) return;
      if (typeof inner === 'object' && inner !== null) walk(inner, [...path, name]);
      if (typeof inner !== 'string') continue;
      remaining--;
      const stream = JSON.stringify([holder, path, name]);
      const piece = {
        text: inner,
        replace: (text: string): void => {
          (value as Record<string, unknown>)[name] = text;
        },
      };
      const pieces = streams.get(stream);
      if (pieces) pieces.push(piece);
      else streams.set(stream, [piece]);
    }
  };
  walk(update, []);
}

/** Returns a function that yields after each slice, and throws the reason of `signal`. */
export function slices(signal?: AbortSignal): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < SLICE_MS) return;
    await setImmediate();
    signal?.throwIfAborted();
    began = performance.now();
  };
}
