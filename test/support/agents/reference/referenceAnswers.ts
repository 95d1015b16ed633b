// What a client's answers to the reference agent's requests must look like.
import { at } from '../../../../src/base/untrusted';

export interface Question {
  readonly method: string;
  readonly params: unknown;
  cancelled: boolean;
  deadline: NodeJS.Timeout | undefined;
}

export function judgeAnswer(question: Question, message: Readonly<Record<string, unknown>>): string[] {
  const { method } = question;
  const { result, error } = message;
  if ((result === undefined) === (error === undefined))
    return [`an answer to ${method} that has not exactly one of result and error`];
  if (error !== undefined) {
    const isError = Number.isInteger(at(error, 'code')) && typeof at(error, 'message') === 'string';
    return isError ? [] : [`an error without code or message: ${JSON.stringify(error)}`];
  }
  return shapes[method]?.(question, result) ?? [];
}

const shapes: Readonly<Record<string, (question: Question, result: unknown) => string[]>> = {
  'session/request_permission': ({ params, cancelled }, result) => {
    const outcome = at(result, 'outcome', 'outcome');
    if (outcome === 'cancelled') return [];
    if (outcome !== 'selected') return [`a permission with the outcome ${JSON.stringify(outcome)}`];
    const options = at(params, 'options');
    const optionId = at(result, 'outcome', 'optionId');
    const offered = Array.isArray(options) && options.some((option) => at(option, 'optionId') === optionId);
    return [
      ...(offered ? [] : [`a permission with the option ${JSON.stringify(optionId)}, which was not offered`]),
      ...(cancelled ? ['a permission answered with a choice after session/cancel'] : []),
    ];
  },
  'fs/read_text_file': (_, result) =>
    typeof at(result, 'content') === 'string' ? [] : ['fs/read_text_file answered without content'],
  'fs/write_text_file': object,
  'mcp/message': (_, result) =>
    at(result, 'result') === undefined && at(result, 'error') === undefined
      ? ['mcp/message answered with neither result nor error']
      : [],
  'terminal/create': (_, result) =>
    typeof at(result, 'terminalId') === 'string' ? [] : ['terminal/create answered without terminalId'],
  'terminal/output': (_, result) =>
    typeof at(result, 'output') === 'string' && typeof at(result, 'truncated') === 'boolean'
      ? []
      : ['terminal/output answered without output or truncated'],
  'terminal/wait_for_exit': object,
  'terminal/kill': object,
  'terminal/release': object,
  'elicitation/create': ({ params }, result) => {
    const action = at(result, 'action');
    if (action === 'decline' || action === 'cancel') return [];
    if (action !== 'accept') return [`an elicitation with the action ${JSON.stringify(action)}`];
    const required = at(params, 'requestedSchema', 'required');
    const missing = (Array.isArray(required) ? required : []).filter((key) => at(result, 'content', key) === undefined);
    return missing.map((key) => `an elicitation accepted without the required ${key}`);
  },
};

function object({ method }: Question, result: unknown): string[] {
  return typeof result === 'object' && result !== null ? [] : [`${method} answered with ${JSON.stringify(result)}`];
}
