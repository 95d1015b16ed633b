// Small things of a session that must outlive a reload: the draft, the place of the reader, and the answers to permissions.
import * as z from 'zod/mini';
import { ParleyError } from '../base/errors';
import { readJson } from './json';
import type { JournalPort } from './port';
import { readAttachments } from './queueStore';
import type { Decision, Draft, ViewState } from './records';
import { textOf } from './sql';

/** Characters of a draft with its attachments. */
const MAX_DRAFT_CHARS = 64 * 1024 * 1024;
/** Answers that are kept for one session; the oldest go first. */
const MAX_DECISIONS = 10_000;

const draftSchema = z.object({ text: z.string(), attachments: z.array(z.unknown()) });
const viewSchema = z.object({ anchor: z.optional(z.string()), offset: z.optional(z.number()), atEnd: z.boolean() });
const decisionSchema = z.object({
  permissionId: z.string(),
  title: z.string(),
  toolKind: z.optional(z.string()),
  outcome: z.enum(['selected', 'cancelled']),
  optionId: z.optional(z.string()),
  optionName: z.optional(z.string()),
  by: z.enum(['user', 'turn', 'agent', 'exit']),
  at: z.number(),
});

export class SideStore {
  readonly #port: JournalPort;

  constructor(port: JournalPort) {
    this.#port = port;
  }

  /** Keeps what is half written; an empty draft is removed. @throws ParleyError `message-too-large`, and those of {@link JournalPort.write} */
  saveDraft(key: string, draft: Draft): void {
    const json = JSON.stringify({ text: draft.text, attachments: draft.attachments });
    if (json.length > MAX_DRAFT_CHARS) throw new ParleyError('message-too-large', 'The draft is too large to be kept.');
    const isEmpty = draft.text === '' && draft.attachments.length === 0;
    this.#port.write(key, (sql) =>
      isEmpty
        ? sql.run('DELETE FROM drafts WHERE key = ?', key)
        : sql.insert('drafts', { key, json }, 'INSERT OR REPLACE'),
    );
  }

  draft(key: string): Draft | undefined {
    const row = this.#port.read(key, (sql) => sql.get('SELECT json FROM drafts WHERE key = ?', key));
    const kept = readJson(textOf(row?.json), z.optional(draftSchema), undefined);
    return kept && { text: kept.text, attachments: readAttachments(JSON.stringify(kept.attachments)) };
  }

  saveView(key: string, view: ViewState): void {
    const json = JSON.stringify(view);
    this.#port.write(key, (sql) => sql.insert('views', { key, json }, 'INSERT OR REPLACE'));
  }

  view(key: string): ViewState | undefined {
    const row = this.#port.read(key, (sql) => sql.get('SELECT json FROM views WHERE key = ?', key));
    return readJson(textOf(row?.json), z.optional(viewSchema), undefined) as ViewState | undefined;
  }

  /** Keeps how a permission was answered, before the answer is acted on. A second answer to the same permission replaces the first. */
  recordDecision(key: string, decision: Decision): void {
    const { permissionId: permission, at } = decision;
    const json = JSON.stringify(decision);
    this.#port.write(key, (sql) => {
      sql.insert('decisions', { key, permission, at, json }, 'INSERT OR REPLACE');
      sql.run(
        `DELETE FROM decisions WHERE key = ? AND permission IN
           (SELECT permission FROM decisions WHERE key = ? ORDER BY at DESC, permission DESC LIMIT -1 OFFSET ${MAX_DECISIONS})`,
        key,
        key,
      );
    });
  }

  /** The answers of a session in the order of their times. */
  decisions(key: string): readonly Decision[] {
    const sentence = 'SELECT json FROM decisions WHERE key = ? ORDER BY at, permission';
    return this.#port
      .read(key, (sql) => sql.all(sentence, key))
      .flatMap((row) => {
        const decision = readJson(textOf(row.json), z.optional(decisionSchema), undefined);
        return decision ? [decision as Decision] : [];
      });
  }
}
