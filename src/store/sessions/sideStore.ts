// Drafts with their attachments, scroll positions and read progress, which survive a reload.

import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { QueuedAttachment } from '../../session/queue/queue';
import { numberOf, readJson, type Sql, textOf } from '../file/sql';
import type { JournalPort } from './journalPort';
import { readAttachments } from './queueStore';
import type { Draft, ViewState } from './records';

const MAX_DRAFT_CHARS = 64 * 1024 * 1024;
/** Longer drafts go straight to their table instead of the stream file. */
const MAX_NOTE_CHARS = 64 * 1024;
const MAX_ATTACHMENTS = 1000;

/** Earlier versions had no revision and stored attachments with the text. */
const draftSchema = z.object({
  text: z.optional(z.string()),
  revision: z.optional(z.number()),
  attachments: z.optional(z.array(z.unknown())),
});
const viewSchema = z.object({ anchor: z.optional(z.string()), offset: z.optional(z.number()), atEnd: z.boolean() });

export class SideStore {
  readonly #port: JournalPort;

  constructor(port: JournalPort) {
    this.#port = port;
  }

  progress(key: string): string | undefined {
    const find = 'SELECT json FROM progress WHERE key = ?';
    return this.#port.noted(key, 'progress') ?? textOf(this.#port.read(key, (sql) => sql.get(find, key)?.json));
  }

  /**
   * Stores only the revision of an empty draft. Attachments never change.
   * @throws ParleyError `message-too-large`, those of {@link JournalPort.write}
   */
  saveDraft(key: string, { text, revision, attachments }: Draft): void {
    if (text.length > MAX_DRAFT_CHARS || attachments.length > MAX_ATTACHMENTS) throw tooLarge();
    const isEmpty = text === '' && attachments.length === 0;
    const json = JSON.stringify(isEmpty ? { revision } : { text, revision });
    const stored = this.#port.read(key, (sql) => sql.all('SELECT id FROM draft_attachments WHERE key = ?', key));
    const ids = new Set(stored.map(({ id }) => textOf(id)));
    const isSame = ids.size === attachments.length && attachments.every(({ id }) => ids.has(id));
    if (isSame && json.length <= MAX_NOTE_CHARS) this.#port.note(key, 'drafts', json);
    else
      this.#port.write(key, (sql) => {
        saveAttachments(sql, key, attachments);
        sql.insert('drafts', { key, json }, 'INSERT OR REPLACE');
      });
  }

  draft(key: string): Draft | undefined {
    return this.#port.read(key, (sql) => {
      const json = this.#port.noted(key, 'drafts') ?? sql.get('SELECT json FROM drafts WHERE key = ?', key)?.json;
      const draft = readJson(textOf(json), z.optional(draftSchema), undefined);
      if (!draft) return undefined;
      const rows = sql.all('SELECT json FROM draft_attachments WHERE key = ? ORDER BY position', key);
      const stored = rows.flatMap(({ json }) => readAttachments(`[${textOf(json) ?? ''}]`));
      const legacy = draft.attachments ? readAttachments(JSON.stringify(draft.attachments)) : [];
      const { text = '', revision = 0 } = draft;
      return { text, revision, attachments: legacy.length > 0 ? legacy : stored };
    });
  }

  saveView(key: string, view: ViewState): void {
    this.#port.note(key, 'views', JSON.stringify(view));
  }

  view(key: string): ViewState | undefined {
    const find = 'SELECT json FROM views WHERE key = ?';
    const json = this.#port.noted(key, 'views') ?? this.#port.read(key, (sql) => sql.get(find, key)?.json);
    return readJson(textOf(json), z.optional(viewSchema), undefined) as ViewState | undefined;
  }
}

function saveAttachments(sql: Sql, key: string, attachments: readonly QueuedAttachment[]): void {
  const rows = sql.all('SELECT id, position FROM draft_attachments WHERE key = ?', key);
  const positions = new Map(rows.map(({ id, position }) => [textOf(id), numberOf(position)]));
  for (const [position, attachment] of attachments.entries()) {
    const { id } = attachment;
    const stored = positions.get(id);
    if (positions.delete(id)) {
      if (stored !== position)
        sql.run('UPDATE draft_attachments SET position = ? WHERE key = ? AND id = ?', position, key, id);
      continue;
    }
    const json = JSON.stringify(attachment);
    if (json.length > MAX_DRAFT_CHARS) throw tooLarge();
    sql.insert('draft_attachments', { key, id, position, json });
  }
  for (const id of positions.keys()) sql.run('DELETE FROM draft_attachments WHERE key = ? AND id = ?', key, id ?? null);
}

function tooLarge(): ParleyError {
  return new ParleyError('message-too-large', localizable('The draft is too large to save.'));
}
