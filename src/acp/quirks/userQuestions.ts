// Questions of qwen-code to the user. They arrive as a permission request with submit and cancel
// and the questions attached; the answers are expected beside the chosen option, and submitting
// alone answers nothing.
import { at, wordOf } from '../../base/untrusted';
import type { FormContent } from '../../session/events/form';
import { type ElicitationAsk, readElicitation } from '../protocol/elicitation';

export interface Answered {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: FormContent;
}

export interface UserQuestions {
  readonly asked: ElicitationAsk;
  readonly answer: (answered: Answered) => object;
}

export function readUserQuestions(params: unknown): UserQuestions | undefined {
  const meta = at(params, 'toolCall', '_meta');
  if (at(meta, 'qwenInteractionKind') !== 'user_question') return undefined;
  const questions = [at(meta, 'qwenQuestions'), at(params, 'toolCall', 'rawInput', 'questions')].find(isFilledList);
  const submit = optionOf(params, 'allow');
  if (!questions || submit === undefined) return undefined;
  const cancel = optionOf(params, 'reject');
  const scope = { sessionId: at(params, 'sessionId'), toolCallId: at(params, 'toolCall', 'toolCallId') };
  const message = wordOf(at(params, 'toolCall', 'title') ?? '');
  const keys = questions.map((_, index) => String(index));
  const fields = questions.map((question, index) => [keys[index], fieldOf(question)] as const);
  try {
    const asked = formOf(scope, message, fields, keys);
    return { asked, answer: (answered) => answerOf(answered, submit, cancel) };
  } catch {
    return undefined; // as a permission, it can at least be cancelled
  }
}

/** @throws RpcError -32602 */
export function formOf(
  scope: { readonly sessionId: unknown; readonly toolCallId: unknown },
  message: string,
  fields: readonly (readonly [key: string | undefined, field: object])[],
  required: readonly string[],
): ElicitationAsk {
  const requestedSchema = { type: 'object', properties: Object.fromEntries(fields), required };
  return readElicitation({ ...scope, mode: 'form', message, requestedSchema });
}

function answerOf({ action, content = {} }: Answered, submit: string, cancel: string | undefined): object {
  if (action === 'accept') {
    const answers = Object.entries(content).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]);
    return { outcome: { outcome: 'selected', optionId: submit }, answers: Object.fromEntries(answers) };
  }
  if (action === 'decline' && cancel !== undefined) return { outcome: { outcome: 'selected', optionId: cancel } };
  return { outcome: { outcome: 'cancelled' } };
}

/** Converts a question into a form field: text, choice or choices. */
export function fieldOf(question: unknown): object {
  const title = at(question, 'question') ?? at(question, 'header');
  const options = at(question, 'options');
  if (!isFilledList(options)) return { type: 'string', title, minLength: 1 };
  const choices = options.map((option) => ({ const: at(option, 'label'), description: at(option, 'description') }));
  if (at(question, 'multiSelect') === true) return { type: 'array', title, minItems: 1, items: { anyOf: choices } };
  return { type: 'string', title, oneOf: choices };
}

function optionOf(params: unknown, kind: 'allow' | 'reject'): string | undefined {
  const options = at(params, 'options');
  if (!Array.isArray(options)) return undefined;
  const ids = options.filter((option) => wordOf(at(option, 'kind')).startsWith(kind)).map((one) => at(one, 'optionId'));
  return ids.find((id) => typeof id === 'string') as string | undefined;
}

export function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}
