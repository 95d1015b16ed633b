// Indexes tool calls for search: titles, commands and paths. Progress is separate from that of
// messages, so that sessions of earlier versions are indexed too, gradually.
import type { SessionEvent } from '../../session/events/event';
import { decode } from '../events/rowCodec';
import { numberOf, type Sql, textOf } from '../file/sql';
import { cut } from './searchText';

/** Limits of one step: sessions, tool rows of one session, and their bytes. */
const MAX_SESSIONS = 5;
const MAX_ROWS = 200;
const MAX_BYTES = 2 * 1024 * 1024;
/** Rows of any kind that are skipped in one step. */
const MAX_PASSED = 5000;
/** Maximum characters of one title, command or path. */
const MAX_LINE = 2000;
const MAX_LINES = 50;
/** Names of commands, paths and patterns in tool inputs. */
const INPUTS = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url'] as const;

/**
 * Indexes the tool calls of some sessions.
 * @returns whether there is more
 */
export function indexTools(sql: Sql): boolean {
  const keys = sql.all('SELECT key FROM sessions WHERE tools_seq < last_seq LIMIT ?', MAX_SESSIONS);
  let more = keys.length === MAX_SESSIONS;
  for (const row of keys) more = indexSession(sql, textOf(row.key) ?? '') || more;
  return more;
}

function indexSession(sql: Sql, key: string): boolean {
  return sql.transaction(() => {
    const session = sql.get('SELECT tools_seq, last_seq FROM sessions WHERE key = ?', key);
    const from = (numberOf(session?.tools_seq) ?? 0) + 1;
    const lastSeq = numberOf(session?.last_seq) ?? 0;
    let done = Math.min(lastSeq, from + MAX_PASSED - 1);
    const sentence = `SELECT seq, octet_length(json) AS bytes FROM events WHERE key = ? AND seq BETWEEN ? AND ?
      AND type = 'tool_call' ORDER BY seq LIMIT ${MAX_ROWS}`;
    const rows = sql.all(sentence, key, from, done);
    const calls = new Map<string, { readonly seq: number; readonly lines: Set<string> }>();
    let bytes = 0;
    for (const row of rows) {
      const seq = numberOf(row.seq) ?? 0;
      bytes += numberOf(row.bytes) ?? 0;
      // Read at least one row, so that indexing always progresses.
      if (bytes > MAX_BYTES && calls.size > 0) {
        done = seq - 1;
        break;
      }
      const event = decode(sql.get('SELECT json FROM events WHERE key = ? AND seq = ?', key, seq)?.json);
      if (event?.type === 'tool_call') take(calls, seq, event);
      if (rows.length === MAX_ROWS && row === rows.at(-1)) done = seq;
    }
    for (const { seq, lines } of calls.values())
      for (const text of cut([...lines].join('\n'))) sql.insert('texts', { key, seq, role: 'tool', text });
    if (done >= from) sql.run('UPDATE sessions SET tools_seq = ? WHERE key = ?', done, key);
    return done < lastSeq;
  });
}

/** Adds the fields of a row to what is known of the call. */
function take(
  calls: Map<string, { readonly seq: number; readonly lines: Set<string> }>,
  seq: number,
  { toolCallId, patch }: Extract<SessionEvent, { type: 'tool_call' }>,
): void {
  const call = calls.get(toolCallId) ?? { seq, lines: new Set<string>() };
  calls.set(toolCallId, call);
  const { title, locations, rawInput } = patch;
  const input = typeof rawInput === 'object' && rawInput !== null ? (rawInput as Record<string, unknown>) : {};
  const said: unknown[] = [title, ...INPUTS.map((name) => words(input[name]))];
  if (Array.isArray(locations)) said.push(...locations.slice(0, MAX_LINES).map((location) => location?.path));
  for (const line of said)
    if (typeof line === 'string' && line !== '' && call.lines.size < MAX_LINES) call.lines.add(line.slice(0, MAX_LINE));
}

/** A command can be a list of words. */
function words(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, MAX_LINES).join(' ') : value;
}
