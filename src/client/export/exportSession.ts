// Writes a whole session as a file, without secrets.
import { redact } from '../../base/redact';
import { Slices } from '../../changes/lines/slices';
import type { SessionState } from '../../session/model/state';
import { inNestedOrder } from '../../session/model/state';
import { cleanItem } from './cleanItem';
import { headLine, itemLine, LAST_LINE } from './sessionFile';
import type { SessionHead, SessionItem } from './sessionItems';
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

/** Characters that are put together before they become bytes. */
const CHUNK = 256 * 1024;

export async function exportSession(
  { state, head }: ExportedSession,
  format: PageFormat,
  { language, report }: ExportOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const writer = new ItemWriter(state);
  const form = format === 'json' ? new JsonForm() : new HtmlForm(head.agent?.name ?? '', language);
  const chunks: Buffer[] = [];
  let text = form.begin(cleanHead(head));
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

/** Returns what was said as rich text for the clipboard of the user, who has the secrets already. */
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

function cleanHead(head: SessionHead): SessionHead {
  return head.title === undefined ? head : { ...head, title: redact(head.title) };
}

class JsonForm {
  #isFirst = true;

  begin(head: SessionHead): string {
    return headLine(head);
  }

  entry(item: SessionItem): string {
    const line = itemLine(item, this.#isFirst);
    this.#isFirst = false;
    return line;
  }

  end(): string {
    return LAST_LINE;
  }
}

class HtmlForm {
  readonly #page: SessionPage;
  readonly #language: string;

  constructor(agent: string, language: string) {
    this.#page = new SessionPage(agent);
    this.#language = language;
  }

  begin(head: SessionHead): string {
    return this.#page.begin(head, this.#language);
  }

  entry(item: SessionItem): string {
    return this.#page.entry(item);
  }

  end(): string {
    return this.#page.end();
  }
}
