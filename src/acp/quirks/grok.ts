// Grok asks questions and requests plan approval by its own methods, and accepts modes that it
// doesn't list.
import * as l10n from '@vscode/l10n';
import { at } from '../../base/untrusted';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { PermissionAsk, SessionOffer } from '../protocol/dialect';
import { fieldOf, formOf, isFilledList, type UserQuestions } from './userQuestions';

export const ASK_QUESTIONS = '_x.ai/ask_user_question';
export const APPROVE_PLAN = '_x.ai/exit_plan_mode';

/** Modes that the model enters and leaves by itself, for an agent that lists none. */
export function unlistedModes(initializeResult: unknown): SessionOffer['modes'] {
  if (at(initializeResult, '_meta', 'grokShell') !== true) return undefined;
  const modes = [
    { id: 'default', name: l10n.t('Default') },
    { id: 'plan', name: l10n.t('Plan') },
  ];
  return { current: 'default', modes };
}

/** Each question also accepts free text; answers are lists, keyed by the question's text. */
export function readQuestions(params: unknown): UserQuestions {
  const questions = at(params, 'questions');
  if (!isFilledList(questions)) throw new RpcError(RPC_CODES.invalidParams, `${ASK_QUESTIONS}: questions is missing`);
  const fields = questions.flatMap((question, index) => {
    const { minLength: _length, minItems: _items, ...field } = fieldOf(question) as Record<string, unknown>;
    const other = { type: 'string', title: l10n.t('Another answer') };
    return [
      [`q${index}`, field] as const,
      ...(isFilledList(at(question, 'options')) ? [[`q${index} other`, other] as const] : []),
    ];
  });
  const scope = { sessionId: at(params, 'sessionId'), toolCallId: at(params, 'toolCallId') };
  const asked = formOf(scope, l10n.t('The agent has questions'), fields, []);
  return {
    asked,
    answer: ({ action, content = {} }) => {
      if (action !== 'accept') return { outcome: 'cancelled' };
      const answers = questions.flatMap((question, index) => {
        const given = [content[`q${index}`] ?? [], content[`q${index} other`] ?? []].flat().map(String);
        const text = given.filter((one) => one !== '');
        return text.length === 0 ? [] : [[String(at(question, 'question')), text] as const];
      });
      return { outcome: 'accepted', answers: Object.fromEntries(answers) };
    },
  };
}

/** Reads the plan of {@link APPROVE_PLAN} as a permission; the chosen option is the outcome. */
export function readPlanApproval(params: unknown): PermissionAsk {
  const [toolCallId, plan] = [at(params, 'toolCallId'), at(params, 'planContent')];
  if (typeof toolCallId !== 'string')
    throw new RpcError(RPC_CODES.invalidParams, `${APPROVE_PLAN}: toolCallId is missing`);
  const text = typeof plan === 'string' && plan.trim() !== '' ? plan : l10n.t('The plan is empty.');
  return {
    toolCallId,
    title: l10n.t('Approve the plan?'),
    patch: {
      title: l10n.t('Approve the plan?'),
      kind: 'switch_mode',
      content: [{ type: 'content', block: { type: 'text', text } }],
    },
    options: [
      { optionId: 'approved', name: l10n.t('Approve and start'), kind: 'allow_once' },
      { optionId: 'cancelled', name: l10n.t('Keep planning'), kind: 'reject_once' },
      { optionId: 'abandoned', name: l10n.t('Abandon the plan'), kind: 'reject_once' },
    ],
  };
}

export function planAnswer(chosen: string | undefined): object {
  return { outcome: chosen ?? 'cancelled' };
}
