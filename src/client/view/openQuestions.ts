// A session's questions that can be answered with one of a few choices, for a list that other
// windows show too. A question that is too long for the list, or requires text, is only named.
import { redact } from '../../base/redact';
import { revealHidden } from '../../base/revealControls';
import { head, oneLine } from '../../base/text';
import type { ToolContent } from '../../session/events/content';
import type { Elicitation, Permission } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { lineDiff } from '../requests/lineDiff';
import { askedInputOf } from './askedInput';
import { briefOf } from './briefQuestion';
import { askerOf, toolOf } from './projectRequests';

/** A question must be shown completely to be answered. */
const MAX_TEXT = 2000;
const MAX_CHOICES = 20;
const MAX_LABEL = 200;
const SHORT_TITLE = 60;

export interface PlainQuestion {
  readonly title: string;
  /** A command or the changed lines, complete. */
  readonly text: string;
  /** Empty: it can only be answered in its session. */
  readonly choices: readonly { readonly label: string; readonly kind?: string }[];
}

export interface AnswerableQuestion {
  readonly id: string;
  readonly at: number;
  readonly plain: PlainQuestion;
  /** The whole question on one line; undefined if it must be opened. */
  readonly brief?: string | undefined;
  /** @returns false if the question is no longer open */
  readonly answer: (choice: number) => boolean | Promise<boolean>;
}

/** Oldest first. */
export function openQuestionsOf(conversation: Conversation): readonly AnswerableQuestion[] {
  const { permissions, elicitations } = conversation.model.state;
  return [
    ...[...permissions.values()].map((permission) => ofPermission(conversation, permission)),
    ...[...elicitations.values()]
      .filter(({ opened }) => !opened)
      .map((elicitation) => ofElicitation(conversation, elicitation)),
  ].sort((a, b) => a.at - b.at);
}

function ofPermission(conversation: Conversation, permission: Permission): AnswerableQuestion {
  const { id, at, title, description, options } = permission;
  const entry = toolOf(conversation.model, permission);
  const { commands, texts, purpose, rest } = askedInputOf(permission, entry);
  const parts = [
    // The list shows titles on one line, cut if too long; a cut title is part of the text.
    ...[title, entry?.title ?? ''].filter((each) => oneLine(each, SHORT_TITLE) !== each),
    ...[description, purpose].flatMap((part) => part || []),
    ...commands.flatMap(({ line, cwd }) => (cwd === undefined ? [line] : [line, cwd])),
    ...texts.flatMap(({ path, text }) => [path, text]),
    ...(entry?.content.flatMap(textIn) ?? []),
    ...(rest === undefined ? [] : [JSON.stringify(rest, null, 2)]),
  ];
  const choices = options.map(({ name, kind }) => ({ label: redact(oneLine(name, MAX_LABEL)), kind }));
  const brief = briefOf(conversation, permission, entry);
  const by = askerOf(conversation.model, permission);
  return {
    id,
    at,
    plain: plain(by === undefined ? title : `${by}: ${title}`, parts, choices),
    // A redacted text is incomplete.
    brief: brief === undefined || redact(brief) === brief ? brief : undefined,
    answer: (choice) => {
      const option = options[choice];
      return option !== undefined && conversation.answerPermission(id, option.optionId);
    },
  };
}

function ofElicitation(conversation: Conversation, asked: Elicitation): AnswerableQuestion {
  const { id, at, message } = asked;
  const values = valuesOf(asked);
  const choices = values.map(({ label }) => ({ label: redact(oneLine(label, MAX_LABEL)) }));
  return {
    id,
    at,
    plain: plain(asked.mode === 'form' ? (asked.form.title ?? message) : message, [message], choices),
    answer: async (choice) => {
      const value = values[choice];
      if (value === undefined) return false;
      return (await conversation.elicitations.submit(id, { [value.field]: value.value }))?.size === 0;
    },
  };
}

/** Typed values aren't stored. */
function valuesOf(asked: Elicitation): readonly { field: string; value: string | boolean; label: string }[] {
  const [field, ...others] = asked.mode === 'form' ? asked.form.fields : [];
  if (!field || others.length > 0) return [];
  const { key } = field;
  if (field.type === 'choice') return field.options.map(({ value, title }) => ({ field: key, value, label: title }));
  const name = field.title ?? key;
  if (field.type !== 'boolean') return [];
  return [
    { field: key, value: true, label: `${name}: ✓` },
    { field: key, value: false, label: `${name}: ✗` },
  ];
}

function plain(title: string, parts: readonly string[], choices: PlainQuestion['choices']): PlainQuestion {
  const whole = revealHidden(parts.join('\n'));
  const text = redact(whole);
  const isWhole =
    text === whole &&
    text.length <= MAX_TEXT &&
    choices.length <= MAX_CHOICES &&
    choices.every(({ label }) => label.length <= MAX_LABEL);
  return { title: redact(oneLine(title, MAX_LABEL)), text: head(text, MAX_TEXT), choices: isWhole ? choices : [] };
}

/** For unknown changes: too long, so the question isn't answered elsewhere. */
const UNANSWERABLE = '…'.repeat(MAX_TEXT + 1);

function textIn(content: ToolContent): readonly string[] {
  if (content.type === 'content') return content.block.type === 'text' ? [content.block.text] : [UNANSWERABLE];
  if (content.type === 'unknown') return [JSON.stringify(content.raw, null, 2)];
  if (content.type !== 'diff') return [];
  const diff = content.hunks ? { hunks: content.hunks } : lineDiff(content.oldText ?? '', content.newText);
  if (!diff || ('truncated' in diff && diff.truncated)) return [UNANSWERABLE];
  return [content.path, ...diff.hunks.flatMap(({ lines }) => lines)];
}
