// Shows the forms and pages that an agent asks for, and answers each exactly once. The rules are in
// acp/protocol/elicitation.ts. The host validates every answer, and stores or logs no value of one.
import { randomUUID } from 'node:crypto';
import type { ElicitationAsk } from '../../acp/protocol/elicitation';
import { Deferred } from '../../base/deferred';
import { checkForm, type FormProblem, type FormProblems } from '../../panel/checkForm';
import type { SessionEvent } from '../../session/events/event';
import type { ElicitationBody, Form, FormContent } from '../../session/events/form';
import type { SessionState } from '../../session/model/state';
import { answerWords } from './answerWords';
import { isMatch, SlowPattern } from './findPattern';

/** Questions open at once in one session; more are answered `cancel` unseen. */
const MAX_OPEN = 20;

/** The answer on the wire. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: FormContent }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

type Closer = Extract<SessionEvent, { type: 'elicitation_closed' }>['by'];

interface OpenQuestion {
  /** The agent's id, where it can say that the question is done. */
  readonly elicitationId: string | undefined;
  readonly body: ElicitationBody;
  /** It belongs to a request of ours and not to the session's turns. */
  readonly ofRequest: boolean;
  readonly answer: Deferred<ElicitationAnswer>;
  /** The user agreed to open the page. */
  consented: boolean;
  /** Stops listening for the end of what it belongs to. */
  readonly detach: () => void;
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
  /** Those of an earlier window that the agent has not asked again yet. */
  readonly #restored: Restored[] = [];

  constructor(apply: (event: SessionEvent) => void) {
    this.#apply = apply;
  }

  /**
   * `elicitation/create`: shows the question and waits for its answer.
   * @param refuse true for a cancelled turn, whose questions are not shown.
   * @param signal aborted when the agent withdraws its request, or when what the question belongs
   * to is over.
   */
  async ask(asked: ElicitationAsk, refuse: boolean, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { scope, message, body, elicitationId } = asked;
    const restored = this.#takeRestored(message, body);
    if (restored) return this.#goOn(restored, asked, signal);
    if (refuse || signal.aborted || this.#open.size >= MAX_OPEN) return { action: 'cancel' };
    const id = randomUUID();
    // What a page was for is over: then it was done, or is no longer wanted.
    const withdraw = (): void => this.#close(id, { action: question.consented ? 'accept' : 'cancel' }, 'agent');
    const question: OpenQuestion = {
      elicitationId,
      body,
      ofRequest: 'requestId' in scope,
      answer: new Deferred(),
      consented: false,
      detach: () => signal.removeEventListener('abort', withdraw),
    };
    this.#open.set(id, question);
    const toolCallId = 'toolCallId' in scope ? scope.toolCallId : undefined;
    this.#apply({ type: 'elicitation_asked', id, message, toolCallId, ...body });
    signal.addEventListener('abort', withdraw, { once: true });
    return question.answer.promise;
  }

  /** Opens questions of an earlier window again; their agent asks each once more. */
  restore(asked: readonly Elicitation[]): void {
    for (const one of asked) {
      const question: OpenQuestion = {
        elicitationId: undefined,
        body: one,
        ofRequest: false,
        answer: new Deferred(),
        consented: one.opened === true,
        detach: () => undefined,
      };
      this.#open.set(one.id, question);
      this.#restored.push({ id: one.id, key: keyOf(one.message, one), question });
    }
  }

  #takeRestored(message: string, body: ElicitationBody): Restored | undefined {
    const index = this.#restored.findIndex(({ key }) => key === keyOf(message, body));
    return index < 0 ? undefined : this.#restored.splice(index, 1)[0];
  }

  #goOn(
    { id, question }: Restored,
    { elicitationId, scope }: ElicitationAsk,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    const withdraw = (): void => this.#close(id, { action: question.consented ? 'accept' : 'cancel' }, 'agent');
    const detach = (): void => signal.removeEventListener('abort', withdraw);
    const ofRequest = 'requestId' in scope;
    if (this.#open.get(id) === question)
      this.#open.set(id, Object.assign(question, { elicitationId, ofRequest, detach }));
    signal.addEventListener('abort', withdraw, { once: true });
    if (question.consented) question.answer.resolve({ action: 'accept' });
    return question.answer.promise;
  }

  /**
   * The user submits a form.
   * @param values by the keys of the fields; judged here, whatever the panel has found
   * @returns what is wrong with them; empty if the answer was accepted, undefined if the form is
   * closed
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

  /**
   * The user says no, or dismisses the question; a page that is open is only no longer waited for.
   * False where the question is gone.
   */
  refuse(id: string, action: 'decline' | 'cancel'): boolean {
    if (!this.#open.has(id)) return false;
    this.#close(id, { action }, 'user');
    return true;
  }

  /**
   * The user agrees to open the page of a question, the first time or again. The agent hears
   * `accept` once the browser has it.
   * @param show opens an address in the browser of the system; false where it did not
   */
  async open(id: string, show: (url: string) => Promise<boolean>): Promise<void> {
    const question = this.#open.get(id);
    if (question?.body.mode !== 'url') return;
    const before = question.consented;
    question.consented = true;
    const shown = await show(question.body.url).catch((error: unknown) => {
      question.consented = before;
      throw error;
    });
    if (!shown) question.consented = before;
    if (!shown || this.#open.get(id) !== question) return;
    question.answer.resolve({ action: 'accept' });
    this.#apply({ type: 'elicitation_opened', id });
  }

  /**
   * `elicitation/complete`: the agent knows that the task in the browser is done. Unknown ids are
   * ignored.
   */
  completed(elicitationId: string): void {
    for (const [id, question] of this.#open) {
      if (question.elicitationId !== elicitationId) continue;
      // Done without us: the user has not agreed to anything here.
      if (question.consented) this.#close(id, { action: 'accept' }, 'agent');
      else this.#close(id, { action: 'cancel' }, 'agent');
    }
  }

  /**
   * The turn ends or is stopped: what waits for an answer is cancelled. A page that is open may
   * still be completed, unless the user stopped the turn.
   */
  turnEnded(stopped: boolean): void {
    for (const [id, question] of [...this.#open]) {
      if (question.ofRequest || (question.consented && !stopped)) continue;
      this.#close(id, { action: 'cancel' }, 'turn');
    }
  }

  /** The agent is gone. */
  exited(): void {
    this.#restored.length = 0; // nobody repeats them
    for (const id of [...this.#open.keys()]) this.#close(id, { action: 'cancel' }, 'exit');
  }

  #close(id: string, answer: ElicitationAnswer, by: Closer): void {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    question.detach();
    const words =
      question.body.mode === 'form' && 'content' in answer && answer.content
        ? answerWords(question.body.form, answer.content)
        : '';
    this.#apply({ type: 'elicitation_closed', id, action: answer.action, by, answer: words || undefined });
    question.answer.resolve(answer);
  }
}

/** A pattern that is invalid or too slow is left to the agent, and so are those after a slow one. */
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

/** What two copies of a question have in common. */
function keyOf(message: string, body: ElicitationBody): string {
  return JSON.stringify(body.mode === 'form' ? [message, body.form] : [message, body.url]);
}
