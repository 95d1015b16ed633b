// What the events say of turns, kept beside them: the history shows turns without reading events, and a page of a transcript begins where a turn begins.
import * as z from 'zod/mini';
import type { Usage } from '../session/content';
import type { Barrier, SessionEvent, StopReason } from '../session/event';
import { readJson } from './json';
import type { TurnRecord } from './records';
import { numberOf, type Row, type Sql, textOf } from './sql';

/** Notes the turns of one batch of events. As in the reducer, a turn begins once and ends once. */
export class TurnNotes {
  readonly #sql: Sql;
  readonly #key: string;
  #firstOutput: number | undefined;
  #tools = 0;
  #cost: Usage['cost'];

  constructor(sql: Sql, key: string) {
    this.#sql = sql;
    this.#key = key;
  }

  take(event: SessionEvent, at: number, seq: number): void {
    switch (event.type) {
      case 'message_chunk':
      case 'message':
      case 'plan':
        if (event.type === 'plan' || event.role !== 'user') this.#firstOutput ??= at;
        return;
      case 'tool_call':
        this.#firstOutput ??= at;
        if (event.announced) this.#tools++;
        return;
      case 'usage':
        this.#cost = event.usage.cost ?? this.#cost;
        return;
      case 'turn_started':
        this.finish();
        this.#sql.run(
          'INSERT OR IGNORE INTO turns (key, id, origin, first_seq, started) VALUES (?, ?, ?, ?, ?)',
          this.#key,
          event.turnId,
          event.origin,
          seq,
          event.at,
        );
        return;
      case 'turn_ended':
        this.finish();
        this.#sql.run(
          `UPDATE turns SET ended = ?, reason = ?, barrier = ?, note = ?, tokens = coalesce(?, tokens)
             WHERE key = ? AND id = ? AND ended IS NULL`,
          event.at,
          event.stopReason,
          event.barrier,
          event.note ?? null,
          event.tokens ?? null,
          this.#key,
          event.turnId,
        );
        return;
      case 'turn_reason':
        this.#sql.run(
          'UPDATE turns SET reason = ?, tokens = coalesce(?, tokens) WHERE key = ? AND id = ?',
          event.stopReason,
          event.tokens ?? null,
          this.#key,
          event.turnId,
        );
        return;
      case 'cleared':
        this.finish();
        this.#sql.run('DELETE FROM turns WHERE key = ?', this.#key);
    }
  }

  /** Writes what was counted for the turn that runs. */
  finish(): void {
    if (this.#firstOutput === undefined && this.#tools === 0 && !this.#cost) return;
    this.#sql.run(
      `UPDATE turns SET first_output = coalesce(first_output, ?), tools = tools + ?, cost = coalesce(?, cost)
         WHERE key = ? AND ended IS NULL`,
      this.#firstOutput ?? null,
      this.#tools,
      this.#cost ? JSON.stringify(this.#cost) : null,
      this.#key,
    );
    this.#firstOutput = undefined;
    this.#tools = 0;
    this.#cost = undefined;
  }
}

/** The turns of a session in their order. */
export function readTurns(sql: Sql, key: string): readonly TurnRecord[] {
  return sql.all('SELECT * FROM turns WHERE key = ? ORDER BY first_seq', key).map(toTurn);
}

function toTurn(row: Row): TurnRecord {
  const firstOutputAt = numberOf(row.first_output);
  const endedAt = numberOf(row.ended);
  const stopReason = textOf(row.reason);
  const barrier = textOf(row.barrier);
  const note = textOf(row.note);
  const tokens = numberOf(row.tokens);
  const cost = costOf(textOf(row.cost));
  return {
    id: textOf(row.id) ?? '',
    origin: row.origin === 'agent' ? 'agent' : 'user',
    firstSeq: numberOf(row.first_seq) ?? 0,
    startedAt: numberOf(row.started) ?? 0,
    tools: numberOf(row.tools) ?? 0,
    ...(firstOutputAt !== undefined && { firstOutputAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(stopReason !== undefined && { stopReason: stopReason as StopReason }),
    ...(barrier !== undefined && { barrier: barrier as Barrier }),
    ...(note !== undefined && { note }),
    ...(tokens !== undefined && { tokens }),
    ...(cost && { cost }),
  };
}

const costSchema = z.object({ amount: z.number(), currency: z.string() });

function costOf(json: string | undefined): TurnRecord['cost'] {
  return readJson(json, z.optional(costSchema), undefined);
}
