// The stored message queue. An item goes queued → sending → accepted or failed, or is removed. Each
// step is on disk when its call returns, so that a crash neither loses a message nor sends it
// twice: an item in `sending` may have been sent, which only the agent or the user can tell.

import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { QueuedAttachment, QueueItemState, StateFacts } from '../../session/queue/queue';
import { numberOf, type Row, readJson, type Sql, textOf } from '../file/sql';
import type { JournalPort } from './journalPort';
import type { StoredQueueItem } from './records';

const MAX_ITEMS = 1000;
const MAX_ITEM_CHARS = 64 * 1024 * 1024;

/** Allowed next states. An `accepted` item returns if the agent refuses it or exits first. */
const NEXT: Readonly<Record<QueueItemState, readonly QueueItemState[]>> = {
  queued: ['sending', 'failed'],
  sending: ['accepted', 'failed', 'queued'],
  accepted: ['queued', 'failed'],
  failed: ['queued', 'sending'],
};

export class QueueStore {
  readonly #port: JournalPort;

  constructor(port: JournalPort) {
    this.#port = port;
  }

  items(key: string): readonly StoredQueueItem[] {
    return this.#port.read(key, (sql) =>
      sql.all('SELECT * FROM queue WHERE key = ? ORDER BY position', key).map(toItem),
    );
  }

  /**
   * On disk when this returns.
   * @param item `id` is new in its session
   * @throws ParleyError `queue-full`, `message-too-large`, `queue-duplicate`, those of {@link
   * JournalPort.write}
   */
  enqueue(key: string, item: StoredQueueItem, place: 'first' | 'last' = 'last'): void {
    const text = JSON.stringify(item.text);
    const attachments = JSON.stringify(item.attachments);
    if (text.length + attachments.length > MAX_ITEM_CHARS) {
      const sentence = localizable('The message with its attachments is too large to save.');
      const hint = localizable('Attach large files as references.');
      throw new ParleyError('message-too-large', sentence, { hint });
    }
    this.#port.write(key, (sql) => {
      const bounds = sql.get('SELECT count(*) n, min(position) lo, max(position) hi FROM queue WHERE key = ?', key);
      if ((numberOf(bounds?.n) ?? 0) >= MAX_ITEMS) {
        throw new ParleyError('queue-full', localizable('A session can have at most {0} queued messages.', MAX_ITEMS));
      }
      if (sql.get('SELECT 1 FROM queue WHERE key = ? AND id = ?', key, item.id)) {
        throw new ParleyError(
          'queue-duplicate',
          localizable('A message with the id {0} is already queued in this session.', item.id),
        );
      }
      const position = place === 'first' ? (numberOf(bounds?.lo) ?? 1) - 1 : (numberOf(bounds?.hi) ?? -1) + 1;
      const { id, state, held, reason = null, repeats = null } = item;
      const facts = { held: Number(held), reason, doubtful: Number(item.doubtful === true), repeats };
      sql.insert('queue', { key, id, position, state, text, attachments, ...facts });
    });
  }

  /** @throws ParleyError `queue-no-item`, `queue-state` (an item being sent is not sent again) */
  setState(key: string, id: string, state: QueueItemState, { reason, doubtful }: StateFacts = {}): void {
    this.#port.write(key, (sql) => {
      const from = stateOf(sql, key, id);
      const again = from === 'sending' && state === 'sending';
      if (again || (from !== state && !NEXT[from].includes(state))) {
        throw new ParleyError('queue-state', `A message that is ${from} cannot become ${state}.`);
      }
      sql.run(
        'UPDATE queue SET state = ?, reason = ?, doubtful = ? WHERE key = ? AND id = ?',
        state,
        reason ?? null,
        Number(doubtful === true),
        key,
        id,
      );
    });
  }

  /** @throws ParleyError `queue-no-item`, `queue-state` if it is being sent */
  edit(key: string, id: string, change: { readonly text?: string; readonly held?: boolean }): void {
    this.#port.write(key, (sql) => {
      const state = stateOf(sql, key, id);
      if (state === 'sending' || state === 'accepted') {
        throw new ParleyError('queue-state', localizable("A message that is being sent can't be changed."));
      }
      sql.run(
        'UPDATE queue SET text = coalesce(?, text), held = coalesce(?, held) WHERE key = ? AND id = ?',
        change.text === undefined ? null : JSON.stringify(change.text),
        change.held === undefined ? null : Number(change.held),
        key,
        id,
      );
    });
  }

  /** Reorders the items; those not named follow in their previous order. */
  reorder(key: string, ids: readonly string[]): void {
    this.#port.write(key, (sql) => {
      const known = sql
        .all('SELECT id FROM queue WHERE key = ? ORDER BY position', key)
        .map((row) => textOf(row.id) ?? '');
      const named = new Set(ids.filter((id) => known.includes(id)));
      for (const [position, id] of [...named, ...known.filter((id) => !named.has(id))].entries()) {
        sql.run('UPDATE queue SET position = ? WHERE key = ? AND id = ?', position, key, id);
      }
    });
  }

  remove(key: string, id: string): boolean {
    return this.#port.write(key, (sql) => sql.run('DELETE FROM queue WHERE key = ? AND id = ?', key, id) > 0);
  }

  /**
   * A code of session/queue/waitReason.ts; undefined resumes. Read as `SessionRecord.queuePaused`.
   */
  setPaused(key: string, reason: string | undefined): void {
    this.#port.write(key, (sql) => sql.run('UPDATE sessions SET queue_paused = ? WHERE key = ?', reason ?? null, key));
  }
}

/**
 * Does not read text and images.
 * @throws ParleyError `queue-no-item`
 */
function stateOf(sql: Sql, key: string, id: string): QueueItemState {
  const row = sql.get('SELECT state FROM queue WHERE key = ? AND id = ?', key, id);
  if (!row) throw new ParleyError('queue-no-item', localizable('The message is no longer in the queue.'));
  return toState(row);
}

function toState(row: Row): QueueItemState {
  const state = textOf(row.state) ?? '';
  return Object.hasOwn(NEXT, state) ? (state as QueueItemState) : 'failed';
}

const attachmentSchema = z.object({
  id: z.string(),
  kind: z.enum(['file', 'selection', 'image', 'other']),
  label: z.string(),
  detail: z.optional(z.string()),
  thumbnail: z.optional(z.string()),
  forms: z.array(z.looseObject({ type: z.string() })),
});

export function readAttachments(json: string | undefined): readonly QueuedAttachment[] {
  return readJson(json, z.array(z.unknown()), []).flatMap((value) => {
    const parsed = attachmentSchema.safeParse(value);
    return parsed.success ? [parsed.data as unknown as QueuedAttachment] : [];
  });
}

function toItem(row: Row): StoredQueueItem {
  const reason = textOf(row.reason);
  const repeats = textOf(row.repeats);
  return {
    id: textOf(row.id) ?? '',
    text: readJson(textOf(row.text), z.string(), ''),
    attachments: readAttachments(textOf(row.attachments)),
    state: toState(row),
    held: row.held === 1,
    reason,
    doubtful: row.doubtful === 1 || undefined,
    repeats,
  };
}
