// Recordings of traffic as playable JSON lines: `{"dir": "c2a" | "a2c", "t": ms, "msg": {…}}` is a
// message to or from the agent, with `raw` instead of `msg` a line that is not a message; `err`
// (stderr) and `mark` are notes. Messages too long to keep have only a length. The last line has
// the `turns`, a lane for each prompt, which readers ignore.
import * as l10n from '@vscode/l10n';
import { ParleyError } from '../base/errors';
import { oneLine } from '../base/text';
import { at, parseMessage } from '../base/untrusted';
import type { TurnLane } from '../panel/trafficContract';
import { type CleanEntry, slices } from './cleanMessages';

export const RECORDING_LIMITS = { bytes: 64 * 1024 * 1024, lines: 100_000, lineChars: 8 * 1024 * 1024 } as const;

const MAX_NAME = 100;
/** Maximum duration, ms: about four months. */
const MAX_TIME = 1e10;

export interface RecordedMessage {
  readonly fromAgent: boolean;
  /** Since the start, ms. */
  readonly at: number;
  readonly message: Readonly<Record<string, unknown>>;
}

export interface Recording {
  readonly messages: readonly RecordedMessage[];
  readonly agent?: string;
  /** Start of the recording, ms since 1970. */
  readonly began?: number;
  readonly skipped: number;
}

export interface RecordingFacts {
  readonly agent: string;
  readonly version: string;
}

export function writeRecording(
  entries: readonly CleanEntry[],
  lanes: readonly TurnLane[],
  { agent, version }: RecordingFacts,
): string {
  const began = entries[0]?.entry.at ?? 0;
  const lines: unknown[] = [{ dir: 'mark', t: 0, at: began, agent, parley: version }];
  for (const { entry, message, text } of entries) {
    const t = Math.max(0, entry.at - began);
    const dir = entry.kind === 'out' ? 'c2a' : 'a2c';
    if (entry.kind === 'stderr') lines.push({ dir: 'err', t, text });
    else if (message) lines.push({ dir, t, msg: message });
    else if (entry.length > entry.text.length) lines.push({ dir, t, len: entry.length, beginning: text });
    else lines.push({ dir, t, raw: text });
  }
  const last = Math.max(0, (entries.at(-1)?.entry.at ?? 0) - began);
  if (lanes.length > 0) lines.push({ dir: 'mark', t: last, turns: turnsOf(entries, lanes, began) });
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/** Returns lanes with times since the start, and line numbers of the file, from 1. */
function turnsOf(entries: readonly CleanEntry[], lanes: readonly TurnLane[], began: number): readonly unknown[] {
  const lines = new Map(entries.map(({ entry }, index) => [entry.seq, index + 2]));
  return lanes.map(({ requestId, isOwn, marks, more }) => ({
    ...(isOwn ? { own: true } : { prompt: requestId ?? null }),
    marks: marks.map(({ kind, at, ms, seq = -1, note, count }) => ({
      kind,
      t: Math.max(0, at - began),
      ms,
      line: lines.has(seq) ? lines.get(seq) : undefined,
      note,
      count,
    })),
    more,
  }));
}

/**
 * Reads a recording in slices, skipping invalid lines.
 * @throws ParleyError `recording-too-large`, `not-a-recording`; the reason of `signal`
 */
export async function readRecording(bytes: Uint8Array, signal?: AbortSignal): Promise<Recording> {
  if (bytes.length > RECORDING_LIMITS.bytes) throw tooLarge();
  const text = new TextDecoder().decode(bytes);
  const messages: RecordedMessage[] = [];
  let agent: string | undefined;
  let began: number | undefined;
  let skipped = 0;
  let lines = 0;
  let last = 0;
  const yieldIfDue = slices(signal);
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const line = text.slice(from, to);
    from = to + 1;
    if (line.trim() === '') continue;
    if (++lines > RECORDING_LIMITS.lines) throw tooLarge();
    const read = readLine(line);
    if (read?.kind === 'message') {
      // Times never decrease, whatever the file contains.
      last = Math.max(last, read.at);
      messages.push({ fromAgent: read.fromAgent, at: last, message: read.message });
    } else if (read?.kind === 'mark') {
      agent ??= read.agent;
      began ??= read.began;
    } else if (read === undefined) skipped++;
    await yieldIfDue();
  }
  if (messages.length === 0)
    throw new ParleyError('not-a-recording', l10n.t('The file has no recorded messages.'), {
      hint: l10n.t('Choose a file that was exported from the traffic inspector.'),
    });
  return { messages, skipped, agent, began };
}

type Line =
  | ({ readonly kind: 'message' } & RecordedMessage)
  | { readonly kind: 'mark'; readonly agent?: string; readonly began?: number }
  | { readonly kind: 'note' };

function readLine(line: string): Line | undefined {
  if (line.length > RECORDING_LIMITS.lineChars) return undefined;
  let value: unknown;
  try {
    value = parseMessage(line);
  } catch {
    return undefined;
  }
  const dir = at(value, 'dir');
  if (dir === 'mark') {
    const agent = at(value, 'agent');
    const began = at(value, 'at');
    return {
      kind: 'mark',
      agent: typeof agent === 'string' && agent !== '' ? oneLine(agent, MAX_NAME) : undefined,
      began: isTime(began, 8.64e15) ? began : undefined,
    };
  }
  if (dir === 'err' || dir === 'exit') return { kind: 'note' };
  if (dir !== 'a2c' && dir !== 'c2a') return undefined;
  const message = at(value, 'msg');
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  const t = at(value, 't');
  return {
    kind: 'message',
    fromAgent: dir === 'a2c',
    at: isTime(t, MAX_TIME) ? t : 0,
    message: message as Readonly<Record<string, unknown>>,
  };
}

function isTime(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max;
}

function tooLarge(): ParleyError {
  return new ParleyError('recording-too-large', l10n.t('The recording is too large.'), {
    hint: l10n.t(
      'Parley opens recordings of up to {0} MB and {1} messages.',
      RECORDING_LIMITS.bytes / (1024 * 1024),
      RECORDING_LIMITS.lines,
    ),
  });
}
