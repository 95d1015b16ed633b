// The question that a notification shows and answers: the only one of this window, which fits in one
// line, and only with answers that hold for this once.
import { isPlainLine } from '../../client/view/briefQuestion';
import type { Inbox, InboxQuestion } from './inbox';

/** Answers that save nothing and allow nothing later, as far as the agent says so. */
const ONCE: readonly (string | undefined)[] = ['allow_once', 'reject_once'];
/** Characters of the label of a button. */
const MAX_LABEL = 40;

export interface BriefQuestion {
  /** All of what is asked, on one line. */
  readonly text: string;
  readonly question: InboxQuestion;
  /** At most one that allows and one that rejects; at least one. */
  readonly answers: readonly { readonly label: string; readonly choice: number }[];
}

/**
 * Returns the question of a session for a notification; undefined where it can be shown only.
 * Notifications move when another one comes or goes, so that a click could hit the wrong one: where
 * several questions are open in this window, none is answered there.
 */
export function briefQuestionOf(inbox: Pick<Inbox, 'questions'>, key: string): BriefQuestion | undefined {
  const [question, ...others] = inbox.questions.filter(({ isOurs }) => isOurs);
  if (question?.key !== key || question.brief === undefined || others.length > 0) return undefined;
  const answers = question.choices.flatMap(({ label, kind }, choice) =>
    ONCE.includes(kind) ? [{ label, kind, choice }] : [],
  );
  // Two answers of a kind differ in what only the session explains.
  const isClear =
    answers.length > 0 &&
    new Set(answers.map(({ kind }) => kind)).size === answers.length &&
    new Set(answers.map(({ label }) => label)).size === answers.length &&
    answers.every(({ label }) => label.length <= MAX_LABEL && isPlainLine(label));
  return isClear ? { text: question.brief, question, answers } : undefined;
}
