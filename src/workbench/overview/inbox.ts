// Open questions of all windows of this user, published in the journal. An answer from another
// window is accepted once, and only for the question as this window asked it.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretStorage } from 'vscode';
import * as z from 'zod/mini';
import { Configured, type Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import { parsedJson } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import { type AnswerableQuestion, openQuestionsOf, type PlainQuestion } from '../../client/view/openQuestions';
import type { GivenAnswer, ListedQuestion, QuestionStore } from '../../store/sessions/questionStore';

/** Time limit for another window to accept an answer, ms. */
const TAKEN_WITHIN_MS = 10_000;

const questionSchema = z.object({
  title: z.string().check(z.maxLength(400)),
  text: z.string().check(z.maxLength(4000)),
  choices: z
    .array(
      z.object({ label: z.string().check(z.maxLength(400)), kind: z.optional(z.string().check(z.maxLength(100))) }),
    )
    .check(z.maxLength(20)),
  session: z.string().check(z.maxLength(400)),
  agent: z.string().check(z.maxLength(400)),
  folder: z.string().check(z.maxLength(4096)),
});
const answerSchema = z.object({ choice: z.int().check(z.gte(0), z.lt(20)), proof: z.string().check(z.maxLength(200)) });

export interface InboxQuestion extends PlainQuestion {
  readonly key: string;
  readonly id: string;
  readonly isOurs: boolean;
  readonly session: string;
  readonly agent: string;
  readonly folder: string;
  /** The whole question in one line; only for questions of this window. */
  readonly brief?: string | undefined;
  /** As read from the journal; absent for this window. */
  readonly listed?: ListedQuestion;
}

interface InboxOptions {
  readonly conversations: { list(): readonly Conversation[]; find(key: string): Conversation | undefined };
  readonly questions: () => Pick<QuestionStore, 'save' | 'list' | 'answer' | 'take'>;
  readonly windowId: string;
  readonly proof: AnswerProof;
  readonly titleOf: (conversation: Conversation) => string;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly log: Log;
}

export class Inbox extends Configured<InboxOptions> implements Disposable {
  readonly #changed = new Emitter<void>();
  readonly #published = new Map<string, string>();
  /** Answers that no window has accepted yet. */
  readonly #pendingAnswers = new Set<{ readonly question: string; readonly resolve: (isTaken: boolean) => void }>();
  #others: readonly InboxQuestion[] = [];
  #accepting: Promise<void> = Promise.resolve();

  readonly onDidChange: Event<void> = this.#changed.event;

  get questions(): readonly InboxQuestion[] {
    const ownQuestions = this.options.conversations.list().flatMap((conversation) =>
      openQuestionsOf(conversation).map(({ id, plain, brief }) => ({
        ...plain,
        brief,
        ...this.#factsOf(conversation),
        key: conversation.key,
        id,
        isOurs: true,
      })),
    );
    return [...ownQuestions, ...this.#others];
  }

  get others(): readonly InboxQuestion[] {
    return this.#others;
  }

  asks(key: string): boolean {
    return this.#others.some((question) => question.key === key);
  }

  offer(key: string): void {
    const conversation = this.options.conversations.find(key);
    const open = conversation ? openQuestionsOf(conversation) : [];
    const rows = conversation
      ? open.map((one) => ({ id: one.id, at: one.at, json: this.#jsonOf(conversation, one) }))
      : [];
    const text = JSON.stringify(rows);
    if (text === (this.#published.get(key) ?? '[]')) return;
    this.#tryJournal(() => this.options.questions().save(key, this.options.windowId, rows));
    if (rows.length === 0) this.#published.delete(key);
    else this.#published.set(key, text);
  }

  look(): void {
    if (this.#published.size > 0) this.#accepting = this.#accepting.then(() => this.#acceptAnswers());
    const listed = this.#tryJournal(() => this.options.questions().list()) ?? [];
    const others = listed.flatMap((one) => this.#read(one));
    const before = this.#others;
    this.#others = others;
    this.#settle(listed);
    if (JSON.stringify(before) !== JSON.stringify(others)) this.#changed.fire();
  }

  get taken(): Promise<void> {
    return this.#accepting;
  }

  /** @returns false if the question is no longer open, or its window did not accept the answer */
  async answer(question: InboxQuestion, choice: number): Promise<boolean> {
    const { key, id, listed, choices } = question;
    if (choices[choice] === undefined) return false;
    if (question.isOurs) {
      const conversation = this.options.conversations.find(key);
      const open = conversation && openQuestionsOf(conversation).find((one) => one.id === id);
      // The question may have changed since it was read.
      return (
        open !== undefined &&
        equalQuestions(open.plain, question) &&
        open.brief === question.brief &&
        open.answer(choice)
      );
    }
    if (!listed) return false;
    const proof = await this.options.proof.sign({ ...listed, choice });
    if (!this.options.questions().answer(listed, JSON.stringify({ choice, proof }))) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting = { question: nameOf(listed), resolve };
    this.#pendingAnswers.add(waiting);
    const patience = this.options.schedule(() => resolve(false), TAKEN_WITHIN_MS);
    this.look();
    try {
      return await promise;
    } finally {
      patience.dispose();
      this.#pendingAnswers.delete(waiting);
    }
  }

  dispose(): void {
    for (const key of [...this.#published.keys()])
      this.#tryJournal(() => this.options.questions().save(key, this.options.windowId, []));
    this.#published.clear();
    for (const { resolve } of this.#pendingAnswers) resolve(false);
    this.#changed.dispose();
  }

  /** Accepted if the question is no longer listed, rejected if it is published again. */
  #settle(listed: readonly ListedQuestion[]): void {
    for (const { question, resolve } of this.#pendingAnswers) {
      const row = listed.find((one) => nameOf(one) === question);
      if (!row) resolve(true);
      else if (!row.isAnswered) resolve(false);
    }
  }

  async #acceptAnswers(): Promise<void> {
    const answers = this.#tryJournal(() => this.options.questions().take(this.options.windowId)) ?? [];
    for (const given of answers) {
      const done = await this.#accept(given).catch((error: unknown) => {
        this.options.log.error(`inbox: ${messageOf(error)}`);
        return false;
      });
      if (!done) this.options.log.warn('inbox: an answer was refused: it is not of this user, or came too late');
      // The row is deleted with the answer, so open questions are published again.
      this.#published.set(given.key, '');
      this.offer(given.key);
    }
  }

  async #accept({ key, id, windowId, answer }: GivenAnswer): Promise<boolean> {
    const parsed = answerSchema.safeParse(parsedJson(answer));
    const conversation = this.options.conversations.find(key);
    if (!parsed.success || !conversation) return false;
    const { choice, proof } = parsed.data;
    const jsonNow = (): string | undefined => {
      const one = openQuestionsOf(conversation).find((open) => open.id === id);
      return one && this.#jsonOf(conversation, one);
    };
    // The journal is not trusted: the question read there must equal the one asked here.
    const json = jsonNow();
    if (json === undefined || !(await this.options.proof.verify({ key, id, windowId, json, choice }, proof)))
      return false;
    const open = openQuestionsOf(conversation).find((one) => one.id === id);
    return open !== undefined && jsonNow() === json && open.plain.choices[choice] !== undefined && open.answer(choice);
  }

  #read(listed: ListedQuestion): readonly InboxQuestion[] {
    if (listed.windowId === this.options.windowId || listed.isAnswered) return [];
    const parsed = questionSchema.safeParse(parsedJson(listed.json));
    if (!parsed.success) return [];
    const { choices, ...question } = parsed.data;
    const plain = choices.map(({ label, kind }) => ({ label, kind }));
    return [{ ...question, choices: plain, key: listed.key, id: listed.id, isOurs: false, listed }];
  }

  #jsonOf(conversation: Conversation, { plain }: AnswerableQuestion): string {
    return JSON.stringify({ ...plain, ...this.#factsOf(conversation) });
  }

  #factsOf(conversation: Conversation): Pick<InboxQuestion, 'session' | 'agent' | 'folder'> {
    const session = this.options.titleOf(conversation).slice(0, 200);
    return { session, agent: conversation.agent.name.slice(0, 200), folder: conversation.cwd.slice(0, 4096) };
  }

  #tryJournal<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.options.log.warn(`inbox: ${messageOf(error)}`);
      return undefined;
    }
  }
}

function equalQuestions(a: PlainQuestion, b: PlainQuestion): boolean {
  const textOf = ({ title, text, choices }: PlainQuestion): string => JSON.stringify([title, text, choices]);
  return textOf(a) === textOf(b);
}

function nameOf({ key, id }: ListedQuestion): string {
  return `${key} ${id}`;
}

const KEY = 'parley.inboxKey';

interface SignedAnswer {
  readonly key: string;
  readonly id: string;
  readonly windowId: string;
  readonly json: string;
  readonly choice: number;
}

export class AnswerProof {
  readonly #secrets: Pick<SecretStorage, 'get' | 'store'>;

  constructor(secrets: Pick<SecretStorage, 'get' | 'store'>) {
    this.#secrets = secrets;
  }

  async prepare(): Promise<void> {
    await this.#key();
  }

  async sign(answer: SignedAnswer): Promise<string> {
    return proofOf(await this.#key(), answer).toString('hex');
  }

  async verify(answer: SignedAnswer, proof: string): Promise<boolean> {
    const expected = proofOf(await this.#key(), answer);
    const given = Buffer.from(proof, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  /** Not cached, as another window may have created the key. */
  async #key(): Promise<string> {
    const storedKey = await this.#secrets.get(KEY);
    if (storedKey !== undefined && /^[0-9a-f]{64}$/.test(storedKey)) return storedKey;
    const created = randomBytes(32).toString('hex');
    await this.#secrets.store(KEY, created);
    return (await this.#secrets.get(KEY)) ?? created;
  }
}

function proofOf(secret: string, { key, id, windowId, json, choice }: SignedAnswer): Buffer {
  const digest = createHash('sha256').update(json).digest('hex');
  const signed = JSON.stringify(['answer', key, id, windowId, digest, choice]);
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(signed).digest();
}
