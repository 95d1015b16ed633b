// Reads exported sessions (docs/sessions.md, "Format of exported sessions"): JSON with one entry
// per line, so that a long file is read in small steps.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { parsedJson } from '../../base/untrusted';
import { Slices } from '../../changes/lines/slices';
import type { TimedEvent } from '../../session/events/event';
import { ItemReader } from './fromItems';
import { readHead, readItem, type SessionHead } from './sessionItems';

export const SESSION_FILE = {
  format: 'parley-session',
  version: 1,
  maxBytes: 256 * 1024 * 1024,
  /** Per entry. Another program may have put a whole file on one line. */
  maxLine: 16 * 1024 * 1024,
  maxEntries: 200_000,
} as const;

/**
 * @param now latest possible time, in ms since 1970
 * @throws ParleyError `not-a-session`, `session-version`, `session-too-large`
 */
export async function readSessionFile(
  bytes: Uint8Array,
  now: number,
  signal: AbortSignal,
): Promise<{ readonly head: SessionHead; readonly events: readonly TimedEvent[]; readonly skipped: number }> {
  if (bytes.length > SESSION_FILE.maxBytes) throw tooLarge();
  const { head, lines } = open(bytes);
  const reader = new ItemReader(now);
  const events: TimedEvent[] = [];
  let skipped = 0;
  let count = 0;
  const slices = new Slices();
  for (const value of lines) {
    await slices.pause();
    signal.throwIfAborted();
    if (++count > SESSION_FILE.maxEntries) throw tooLarge();
    const item = readItem(value);
    if (item) events.push(...reader.read(item));
    else skipped++;
  }
  events.push(...reader.end());
  return { head, events, skipped };
}

function open(bytes: Uint8Array): { readonly head: SessionHead; readonly lines: Iterable<unknown> } {
  const end = bytes.indexOf(NEWLINE);
  const first = decode(bytes.subarray(0, end < 0 ? bytes.length : end));
  const isByLine = first.endsWith('"entries":[') || first.endsWith('"entries":[\r');
  const value = isByLine ? parsedJson(`${first.trimEnd()}]}`) : whole(bytes);
  const head = readHead(value);
  if (!head) throw notASession();
  if (head.version > SESSION_FILE.version)
    throw new ParleyError('session-version', localizable('This session was exported by a newer version of Parley.'));
  const entries = (value as { entries?: unknown }).entries;
  return { head, lines: isByLine ? linesOf(bytes, end + 1) : Array.isArray(entries) ? entries : [] };
}

const NEWLINE = 10;

function* linesOf(bytes: Uint8Array, from: number): Generator<unknown> {
  for (let at = from; at < bytes.length; ) {
    const next = bytes.indexOf(NEWLINE, at);
    const end = next < 0 ? bytes.length : next;
    const line = end - at > SESSION_FILE.maxLine ? undefined : decode(bytes.subarray(at, end)).trim();
    at = end + 1;
    if (line === ']}' || line === '') continue;
    yield line === undefined ? undefined : parsedJson(line.replace(/,$/, ''));
  }
}

function whole(bytes: Uint8Array): unknown {
  if (bytes.length > SESSION_FILE.maxLine) throw notASession();
  return parsedJson(decode(bytes));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.length > SESSION_FILE.maxLine ? bytes.subarray(0, 1024) : bytes);
}

function notASession(): ParleyError {
  return new ParleyError('not-a-session', localizable("This file isn't an exported session."), {
    hint: localizable('Export a session as JSON, or open a recording.'),
  });
}

function tooLarge(): ParleyError {
  return new ParleyError('session-too-large', localizable('The file is too large.'));
}
