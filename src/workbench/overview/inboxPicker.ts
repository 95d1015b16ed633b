// The list of open questions of all windows, and the answers to one of them. No answer has the focus
// at first, so that Enter does not give one by accident.
import { basename } from 'node:path';
import { l10n } from 'vscode';
import { revealHidden } from '../../base/revealControls';
import { type PickItem, pick } from '../ui/input';
import { showInfo } from '../ui/messages';
import type { Inbox, InboxQuestion } from './inbox';

/** Characters of a line of a question, so that VS Code does not cut it. */
const LINE = 44;
/** Rows that VS Code shows without scrolling. */
const MAX_ROWS = 18;
const MAX_ANSWER = 60;
const MAX_TITLE = 110;
const BACK = 'back';

export async function showInbox(inbox: Inbox, open: (key: string) => void): Promise<void> {
  for (;;) {
    inbox.look();
    const { questions } = inbox;
    if (questions.length === 0) {
      void showInfo(l10n.t('No session needs you.'));
      return;
    }
    const chosen = await pick(questions.map(itemOf), l10n.t('Select a question'), {
      title: l10n.t('Open Questions of All Windows'),
    });
    const question = chosen === undefined ? undefined : questions[Number(chosen)];
    if (!question) return;
    if ((await ask(inbox, question, open)) === 'gone') return;
  }
}

function itemOf(question: InboxQuestion, index: number): PickItem {
  const { title, session, agent, folder, isOurs } = question;
  const where = isOurs ? l10n.t('this window') : l10n.t('another window');
  return {
    id: String(index),
    label: [{ icon: isOurs ? 'question' : 'multiple-windows' }, ` ${title}`],
    description: `${agent} · ${basename(folder)} · ${where}`,
    detail: session,
  };
}

async function ask(inbox: Inbox, question: InboxQuestion, open: (key: string) => void): Promise<'gone' | 'next'> {
  const { title, session, agent, isOurs, key } = question;
  const lines = linesOf(question.text);
  const { choices } = question;
  const fits = lines.length + choices.length <= MAX_ROWS && choices.every(({ label }) => label.length <= MAX_ANSWER);
  const isReadable = fits && choices.length > 0;
  const items: PickItem[] = [
    isOurs
      ? { id: BACK, label: [{ icon: 'go-to-file' }, ` ${l10n.t('Open Session')}`] }
      : { id: BACK, label: [{ icon: 'arrow-left' }, ` ${l10n.t('Back')}`] },
    ...lines.slice(0, MAX_ROWS).map((line, index) => ({ id: `line:${index}`, label: line === '' ? ' ' : line })),
    ...(isReadable
      ? choices.map(({ label }, index) => ({ id: `choice:${index}`, label: [{ icon: 'reply' }, ` ${label}`] }))
      : [{ id: BACK, label: [{ icon: 'info' }, ` ${whyNot(question)}`] }]),
  ];
  for (;;) {
    const chosen = await pick(items, `${agent}: ${session}`.slice(0, MAX_TITLE), { title });
    if (chosen === undefined) return 'gone';
    if (chosen.startsWith('line:')) continue;
    if (chosen === BACK) {
      if (!isOurs) return 'next';
      open(key);
      return 'gone';
    }
    const isDone = await inbox.answer(question, Number(chosen.slice('choice:'.length)));
    if (!isDone) void showInfo(problemOf(inbox, question));
    return inbox.questions.length === 0 ? 'gone' : 'next';
  }
}

export function problemOf(inbox: Inbox, { key, id, isOurs }: InboxQuestion): string {
  inbox.look();
  if (!inbox.questions.some((one) => one.key === key && one.id === id))
    return l10n.t('This question is no longer open.');
  return isOurs
    ? l10n.t('The question has changed. Answer it in its session.')
    : l10n.t("The window of this question didn't take the answer. Answer the question there.");
}

function whyNot({ isOurs, choices }: InboxQuestion): string {
  if (isOurs) return l10n.t('Answer this question in its session.');
  return choices.length === 0
    ? l10n.t('Answer this question in its window.')
    : l10n.t('This question is too long to answer here. Answer it in its window.');
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  return revealHidden(text)
    .split('\n')
    .flatMap((line) => {
      const parts: string[] = [];
      for (let at = 0; at === 0 || at < line.length; at += LINE) parts.push(line.slice(at, at + LINE));
      return parts;
    });
}
