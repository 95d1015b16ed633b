// The open questions of this user's windows, and answers that one window gives to a question of
// another. Questions belong to the window with the lease of their session: those of a closed window
// are not listed. An answer is written once, to the question as it was read, and taken once, by the
// asking window.
import { numberOf, type Sql, textOf } from '../file/sql';
import type { SharedPort } from './journalPort';
import { hasSession } from './sessionRows';

export const MAX_QUESTION_CHARS = 32 * 1024;
/** Maximum characters of an answer: a choice and the proof of its origin. */
const MAX_ANSWER_CHARS = 1024;
const MAX_OF_SESSION = 100;
const MAX_LISTED = 500;

export interface OpenQuestion {
  readonly id: string;
  readonly at: number;
  readonly json: string;
}

export interface QuestionRef {
  readonly key: string;
  readonly id: string;
  readonly windowId: string;
  readonly json: string;
}

export interface ListedQuestion extends QuestionRef {
  readonly at: number;
  readonly isAnswered: boolean;
}

export interface GivenAnswer extends QuestionRef {
  readonly answer: string;
}

export class QuestionStore {
  readonly #port: SharedPort;
  readonly #ownerOf: (key: string) => string | undefined;

  constructor(port: SharedPort, ownerOf: (key: string) => string | undefined) {
    this.#port = port;
    this.#ownerOf = ownerOf;
  }

  save(key: string, windowId: string, open: readonly OpenQuestion[]): void {
    this.#port.write([key], (sql) => saveQuestions(sql, key, windowId, open));
  }

  list(): readonly ListedQuestion[] {
    return this.#port.readBoth(
      (sql) => listQuestions(sql, this.#ownerOf),
      ({ key, id }) => `${key} ${id}`,
    );
  }

  answer(question: QuestionRef, answer: string): boolean {
    return this.#port.write([question.key], (sql) => giveAnswer(sql, question, answer));
  }

  /** Returns the answers to the questions of a window and removes both: each is returned once. */
  take(windowId: string): readonly GivenAnswer[] {
    // Usually there is none, and a write would wait for another window's.
    const sentence = 'SELECT key FROM questions WHERE window = ? AND answer IS NOT NULL';
    const answered = this.#port.readBoth(
      (sql) => sql.all(sentence, windowId).flatMap(({ key }) => textOf(key) ?? []),
      (key) => key,
    );
    return answered.length === 0 ? [] : this.#port.write(answered, (sql) => takeAnswers(sql, windowId));
  }
}

function saveQuestions(sql: Sql, key: string, windowId: string, open: readonly OpenQuestion[]): void {
  if (!hasSession(sql, key)) return;
  const wanted = new Map(
    open
      .filter(({ json }) => json.length <= MAX_QUESTION_CHARS)
      .slice(0, MAX_OF_SESSION)
      .map((question) => [question.id, question]),
  );
  for (const row of sql.all('SELECT id, window, json FROM questions WHERE key = ?', key)) {
    const id = textOf(row.id) ?? '';
    const question = wanted.get(id);
    if (question && row.window === windowId && row.json === question.json) wanted.delete(id);
    else sql.run('DELETE FROM questions WHERE key = ? AND id = ?', key, id);
  }
  for (const { id, at, json } of wanted.values()) sql.insert('questions', { key, id, window: windowId, at, json });
}

function listQuestions(sql: Sql, ownerOf: (key: string) => string | undefined): readonly ListedQuestion[] {
  const rows = sql.all(`SELECT * FROM questions ORDER BY at, key, id LIMIT ${MAX_LISTED}`);
  const owners = new Map<string, string | undefined>();
  return rows.flatMap((row) => {
    const key = textOf(row.key) ?? '';
    const windowId = textOf(row.window) ?? '';
    if (!owners.has(key)) owners.set(key, ownerOf(key));
    const json = textOf(row.json) ?? '';
    // Another program may have written the row.
    if (owners.get(key) !== windowId || json.length > MAX_QUESTION_CHARS) return [];
    return [
      { key, id: textOf(row.id) ?? '', windowId, json, at: numberOf(row.at) ?? 0, isAnswered: row.answer !== null },
    ];
  });
}

/** @returns false if the question was removed, changed or answered */
function giveAnswer(sql: Sql, { key, id, windowId, json }: QuestionRef, answer: string): boolean {
  if (answer.length > MAX_ANSWER_CHARS) return false;
  const sentence =
    'UPDATE questions SET answer = ? WHERE key = ? AND id = ? AND window = ? AND json = ? AND answer IS NULL';
  return sql.run(sentence, answer, key, id, windowId, json) === 1;
}

function takeAnswers(sql: Sql, windowId: string): readonly GivenAnswer[] {
  const rows = sql.all('SELECT * FROM questions WHERE window = ? AND answer IS NOT NULL', windowId);
  return rows.flatMap((row) => {
    const key = textOf(row.key) ?? '';
    const id = textOf(row.id) ?? '';
    const answer = textOf(row.answer) ?? '';
    const taken = sql.run('DELETE FROM questions WHERE key = ? AND id = ? AND window = ?', key, id, windowId) === 1;
    return taken
      ? [{ key, id, windowId, json: textOf(row.json) ?? '', answer: answer.slice(0, MAX_ANSWER_CHARS) }]
      : [];
  });
}
