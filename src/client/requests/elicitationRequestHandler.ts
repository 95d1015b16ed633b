// Shows the forms and pages that an agent asks for, and answers each exactly once (rules:
// acp/protocol/elicitation.ts). Every answer is validated here; no value is stored or logged.
import { randomUUID } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import type { ElicitationAsk } from '../../acp/protocol/elicitation';
import { Deferred } from '../../base/deferred';
import { head } from '../../base/text';
import { checkForm, type FormProblem, type FormProblems } from '../../panel/checkForm';
import type { SessionEvent } from '../../session/events/event';
import type { ElicitationBody, Form, FormContent, FormField, FormValue } from '../../session/events/form';
import type { SessionState } from '../../session/model/state';
import { isMatch, SlowPattern } from './findPattern';

/** More are answered `cancel` without being shown. */
const MAX_OPEN = 20;

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: FormContent }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

type Closer = Extract<SessionEvent, { type: 'elicitation_closed' }>['by'];

interface OpenQuestion {
  readonly elicitationId: string | undefined;
  readonly body: ElicitationBody;
  /** It belongs to a request of ours, not to the session's turns. */
  readonly ofRequest: boolean;
  readonly answer: Deferred<ElicitationAnswer>;
  consented: boolean;
  detach?: () => void;
}

type Elicitation = SessionState['elicitations'] extends Map<string, infer E> ? E : never;

interface Restored {
  readonly id: string;
  readonly key: string;
  readonly question: OpenQuestion;
}

export class ElicitationRequestHandler {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #apply: (event: SessionEvent) => void;
  /** Questions of an earlier window that the agent has not repeated yet. */
  readonly #restored: Restored[] = [];

  constructor(apply: (event: SessionEvent) => void) {
    this.#apply = apply;
  }

  /**
   * `elicitation/create`: shows the question and waits for its answer.
   * @param refuse the turn was cancelled
   * @param signal aborted when the agent withdraws its request, or the cause has ended
   */
  async ask(asked: ElicitationAsk, refuse: boolean, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { scope, message, body, elicitationId } = asked;
    const restored = this.#takeRestored(message, body);
    if (restored) return this.#awaitAnswer(restored, asked, signal);
    if (refuse || signal.aborted || this.#open.size >= MAX_OPEN) return { action: 'cancel' };
    const id = randomUUID();
    const ofRequest = 'requestId' in scope;
    const question: OpenQuestion = { elicitationId, body, ofRequest, answer: new Deferred(), consented: false };
    this.#open.set(id, question);
    const toolCallId = 'toolCallId' in scope ? scope.toolCallId : undefined;
    this.#apply({ type: 'elicitation_asked', id, message, toolCallId, ...body });
    return this.#answerOf(id, question, signal);
  }

  #answerOf(id: string, question: OpenQuestion, signal: AbortSignal): Promise<ElicitationAnswer> {
    const withdraw = (): void => this.#close(id, { action: question.consented ? 'accept' : 'cancel' }, 'agent');
    question.detach = () => signal.removeEventListener('abort', withdraw);
    signal.addEventListener('abort', withdraw, { once: true });
    return question.answer.promise;
  }

  /** Reopens questions of an earlier window; the agent repeats them. */
  restore(asked: readonly Elicitation[]): void {
    for (const elicitation of asked) {
      const question: OpenQuestion = {
        elicitationId: undefined,
        body: elicitation,
        ofRequest: false,
        answer: new Deferred(),
        consented: elicitation.opened === true,
      };
      this.#open.set(elicitation.id, question);
      this.#restored.push({ id: elicitation.id, key: keyOf(elicitation.message, elicitation), question });
    }
  }

  #takeRestored(message: string, body: ElicitationBody): Restored | undefined {
    const index = this.#restored.findIndex(({ key }) => key === keyOf(message, body));
    return index < 0 ? undefined : this.#restored.splice(index, 1)[0];
  }

  #awaitAnswer(
    { id, question }: Restored,
    { elicitationId, scope }: ElicitationAsk,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    Object.assign(question, { elicitationId, ofRequest: 'requestId' in scope });
    if (question.consented) question.answer.resolve({ action: 'accept' });
    return this.#answerOf(id, question, signal);
  }

  /**
   * @param values validated here, whatever the panel found
   * @returns problems: empty if accepted, undefined if the form is closed
   */
  async submit(id: string, values: Readonly<Record<string, unknown>>): Promise<FormProblems | undefined> {
    const question = this.#open.get(id);
    if (question?.body.mode !== 'form') return undefined;
    const checked = checkForm(question.body.form, values);
    if ('problems' in checked) return checked.problems;
    const problems = await patternProblems(question.body.form, checked.content);
    if (problems.size > 0) return problems;
    if (this.#open.get(id) !== question) return undefined;
    this.#close(id, { action: 'accept', content: checked.content }, 'user');
    return new Map();
  }

  /** Returns false if the question is closed. */
  refuse(id: string, action: 'decline' | 'cancel'): boolean {
    if (!this.#open.has(id)) return false;
    this.#close(id, { action }, 'user');
    return true;
  }

  /**
   * Opens a page that the user agreed to, for the first time or again. The agent gets `accept` once
   * the browser has the address.
   * @param show opens an address in the browser
   */
  async open(id: string, show: (url: string) => Promise<boolean>): Promise<void> {
    const question = this.#open.get(id);
    if (question?.body.mode !== 'url') return;
    const before = question.consented;
    question.consented = true;
    const isOpened = await show(question.body.url).catch((error: unknown) => {
      question.consented = before;
      throw error;
    });
    if (!isOpened) question.consented = before;
    if (!isOpened || this.#open.get(id) !== question) return;
    question.answer.resolve({ action: 'accept' });
    this.#apply({ type: 'elicitation_opened', id });
  }

  /** `elicitation/complete`: the task in the browser is done. Ignores unknown ids. */
  completed(elicitationId: string): void {
    for (const [id, question] of this.#open) {
      if (question.elicitationId !== elicitationId) continue;
      // Completed elsewhere: the user hasn't consented here.
      if (question.consented) this.#close(id, { action: 'accept' }, 'agent');
      else this.#close(id, { action: 'cancel' }, 'agent');
    }
  }

  /** An open page may still be completed, unless the user stopped the turn. */
  turnEnded(stopped: boolean): void {
    for (const [id, question] of [...this.#open]) {
      if (question.ofRequest || (question.consented && !stopped)) continue;
      this.#close(id, { action: 'cancel' }, 'turn');
    }
  }

  agentExited(): void {
    this.#restored.length = 0;
    for (const id of [...this.#open.keys()]) this.#close(id, { action: 'cancel' }, 'exit');
  }

  #close(id: string, answer: ElicitationAnswer, by: Closer): void {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    question.detach?.();
    const words =
      question.body.mode === 'form' && 'content' in answer && answer.content
        ? answerWords(question.body.form, answer.content)
        : '';
    this.#apply({ type: 'elicitation_closed', id, action: answer.action, by, answer: words || undefined });
    question.answer.resolve(answer);
  }
}

/** Leaves invalid and slow patterns to the agent, and all patterns after a slow one. */
async function patternProblems({ fields }: Form, content: FormContent): Promise<FormProblems> {
  const problems = new Map<string, FormProblem>();
  for (const field of fields) {
    const value = Object.hasOwn(content, field.key) ? content[field.key] : undefined;
    if (field.type !== 'text' || field.pattern === undefined || typeof value !== 'string') continue;
    try {
      if (!(await isMatch(field.pattern, value))) problems.set(field.key, { code: 'pattern' });
    } catch (error) {
      if (error instanceof SlowPattern) break;
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return problems;
}

function keyOf(message: string, body: ElicitationBody): string {
  return JSON.stringify(body.mode === 'form' ? [message, body.form] : [message, body.url]);
}

const MAX_ANSWER = 300;
const SECRET = /pass(word|phrase|code)|secret|token|credential|\bpin\b|key\b/i;

/** `Blue`, or `Colour: Blue · Size: 3` for several fields. */
export function answerWords({ fields }: Form, content: FormContent): string {
  const answers = fields.flatMap((field) => {
    const value = content[field.key];
    return value === undefined ? [] : [{ name: field.title ?? field.key, text: valueWords(field, value) }];
  });
  const words = answers.map(({ name, text }) => (fields.length === 1 ? text : `${name}: ${text}`)).join(' · ');
  return head(words.replace(/\s+/g, ' ').trim(), MAX_ANSWER);
}

function valueWords(field: FormField, value: FormValue): string {
  const nameOf = (choice: string): string =>
    ('options' in field ? field.options.find((option) => option.value === choice)?.title : undefined) ?? choice;
  if (typeof value === 'boolean') return value ? l10n.t('Yes') : l10n.t('No');
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return value.map(nameOf).join(', ');
  return field.type === 'text' && SECRET.test(`${field.key} ${field.title ?? ''}`) ? '•••' : nameOf(value);
}
