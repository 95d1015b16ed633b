// Writes a whole session as a file, without secrets.

import { REDACTED } from '../../base/knownSecrets';
import { redact } from '../../base/redact';
import { Slices } from '../../changes/lines/slices';
import { inNestedOrder, type SessionState } from '../../session/model/state';
import type { SessionHead } from './sessionItems';
import { SessionPage } from './sessionPage';
import { ItemWriter } from './toItems';

export type PageFormat = 'html' | 'json';

export interface ExportedSession {
  readonly state: Pick<SessionState, 'entries' | 'nests' | 'turns' | 'terminals'>;
  readonly head: SessionHead;
}

export interface ExportOptions {
  readonly language: string;
  readonly report?: (done: number, total: number) => void;
}

/** Characters collected before they are encoded. */
const CHUNK = 256 * 1024;

export async function exportSession(
  { state, head }: ExportedSession,
  format: PageFormat,
  { language, report }: ExportOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const writer = new ItemWriter(state);
  const form: Form = format === 'json' ? jsonForm() : new SessionPage(head.agent?.name ?? '', language);
  const chunks: Buffer[] = [];
  let text = form.begin({ ...head, title: head.title && redact(head.title) });
  const entries = inNestedOrder(state.entries, state.nests);
  const slices = new Slices();
  for (const [index, entry] of entries.entries()) {
    await slices.pause();
    signal.throwIfAborted();
    for (const item of writer.write(entry)) text += form.entry(cleanItem(item));
    if (text.length < CHUNK) continue;
    chunks.push(Buffer.from(text));
    text = '';
    report?.(index, entries.length);
  }
  for (const item of writer.end()) text += form.entry(item);
  chunks.push(Buffer.from(text + form.end()));
  return Buffer.concat(chunks);
}

/** Without redaction: the result is for the user's own clipboard. */
export async function sessionHtml(state: ExportedSession['state'], agent: string): Promise<string> {
  const writer = new ItemWriter(state);
  const page = new SessionPage(agent);
  const slices = new Slices();
  let html = '';
  for (const entry of inNestedOrder(state.entries, state.nests)) {
    await slices.pause();
    for (const item of writer.write(entry)) html += page.entry(item);
  }
  return html + page.close();
}

type Form = Pick<SessionPage, 'begin' | 'entry' | 'end'>;

function jsonForm(): Form {
  let separator = '';
  return {
    begin: (head) => `${JSON.stringify(head).slice(0, -1)},"entries":[\n`,
    entry(item) {
      const line = separator + JSON.stringify(item);
      separator = ',\n';
      return line;
    },
    end: () => '\n]}\n',
  };
}

/** Values of any shape. Their secrets are also recognized by field name. */
const RAW = new Set(['input', 'output', 'raw']);
/** Pictures and sounds: searching megabytes of base64 takes long. */
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

function cleanItem<T extends object>(fields: T): T {
  const cleaned = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    name === 'type' ? value : cleanValue(name, value),
  ]);
  return Object.fromEntries(cleaned) as T;
}

function cleanValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') {
    const isMedia = (name === 'data' || name === 'blob') && BASE64.test(value);
    return isMedia ? value : redact(value);
  }
  if (RAW.has(name)) return cleanRaw(value);
  if (Array.isArray(value)) return value.map((item) => cleanValue('', item));
  return typeof value === 'object' && value !== null ? cleanItem(value) : value;
}

function cleanRaw(value: unknown): unknown {
  if (value === undefined) return undefined;
  try {
    const text = JSON.stringify(value);
    const cleaned = redact(text);
    if (cleaned === text) return value;
    try {
      return JSON.parse(cleaned);
    } catch {
      // A match can be more than a string, which breaks the JSON.
      return cleaned;
    }
  } catch {
    return REDACTED;
  }
}
