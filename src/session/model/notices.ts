// Applies notices of the agent and the client, errors, unknown updates, compactions, and open
// questions.
import { boundText } from '../../base/localizable';
import { head } from '../../base/text';
import { own } from '../../base/untrusted';
import { boundRaw, MAX_TOOL_TEXT } from '../events/bounds';
import type { EventOf } from '../events/event';
import { type OwnText, ownText, UNDO_RESTORE } from '../events/ownText';
import { type ModelContext, upsert } from './context';
import { textOf } from './entryText';
import { beginWait, endWait } from './waits';

export function addNotice(
  context: ModelContext,
  event: EventOf<'notice' | 'unknown_update' | 'error'>,
  at: number,
): void {
  switch (event.type) {
    case 'notice': {
      const { severity, title, description: text = '', own, said, action, beginsAnew } = event;
      if (said?.code === 'files-restored' || said?.code === 'restore-undone') withdrawUndo(context);
      context.push(
        (base) => ({
          ...(own ? outside(base) : base),
          kind: 'notice',
          severity,
          title,
          text: boundText(text, MAX_TOOL_TEXT),
          said,
          action,
          beginsAnew,
        }),
        at,
      );
      return;
    }
    case 'unknown_update': {
      const { name: title, raw } = event;
      context.push((base) => ({ ...base, kind: 'notice', severity: 'info', title, text: '', raw: boundRaw(raw) }), at);
      return;
    }
    case 'error': {
      const { code, message, hint, stderr, actions, turnId } = event;
      if (!hint && !stderr && !actions && typeof message === 'string' && isAlreadyShown(context, message)) return;
      context.push(
        (base) => ({
          ...(turnId !== undefined ? { ...base, turnId } : context.state.turn ? base : outside(base)),
          kind: 'error',
          code,
          text: boundText(message, MAX_TOOL_TEXT),
          hint: hint || undefined,
          stderr: stderr || undefined,
          actions,
        }),
        at,
      );
    }
  }
}

function withdrawUndo(context: ModelContext): void {
  const earlier = context.state.entries.findLast((one) => one.kind === 'notice' && one.action?.id === UNDO_RESTORE);
  if (earlier?.kind !== 'notice') return;
  delete earlier.action;
  context.note((changes) => changes.entry(earlier.index));
}

/** Some agents explain a failure in a message and repeat it as the turn's error: show it once. */
function isAlreadyShown({ state }: ModelContext, message: string): boolean {
  const last = state.entries.at(-1);
  if (!state.turn || last?.kind !== 'agent' || last.turnId !== state.turn.id) return false;
  const words = message.trim();
  return words !== '' && textOf(last).trimEnd().endsWith(words);
}

/** Returns an entry without its turn: the client's notices are never late. */
function outside<T extends { turnId?: string; late?: true }>({
  turnId: _turnId,
  late: _late,
  ...rest
}: T): Omit<T, 'turnId' | 'late'> {
  return rest;
}

const CODES: Readonly<Record<string, OwnText>> = {
  in_progress: ownText('compaction-in_progress'),
  completed: ownText('compaction-completed'),
  failed: ownText('compaction-failed'),
  cancelled: ownText('compaction-cancelled'),
};

/** Applies a status or part of the summary. Absent fields are unchanged, empty ones clear. */
export function applyCompaction(context: ModelContext, event: EventOf<'compaction'>, at: number): void {
  const { status, summary, append, error } = event;
  const reason =
    status === undefined ? undefined : (own(CODES, status) ?? ownText('compaction-other', status.slice(0, 100)));
  const severity = status === 'failed' ? 'error' : status === 'in_progress' ? 'busy' : 'info';
  upsert(
    context,
    context.compactions,
    event.compactionId,
    at,
    (base) => ({
      ...base,
      kind: 'notice',
      severity: reason === undefined ? 'busy' : severity,
      title: '',
      said: reason ?? ownText('compaction-in_progress'),
      text: error ?? '',
      detail: head(summary ?? append ?? '', MAX_TOOL_TEXT),
    }),
    (entry) => {
      if (entry.kind !== 'notice') return;
      if (reason !== undefined) {
        entry.said = reason;
        entry.severity = severity;
      }
      if (error !== undefined) entry.text = error;
      entry.detail = head(summary ?? (entry.detail ?? '') + (append ?? ''), MAX_TOOL_TEXT);
    },
  );
}

type ElicitationEvent = EventOf<'elicitation_asked' | 'elicitation_opened' | 'elicitation_closed'>;

export function applyElicitation(context: ModelContext, event: ElicitationEvent, at: number): void {
  const { elicitations } = context.state;
  switch (event.type) {
    case 'elicitation_asked': {
      beginWait(context, at);
      const { type: _type, ...asked } = event;
      elicitations.set(event.id, { ...asked, at });
      return;
    }
    case 'elicitation_opened': {
      const known = elicitations.get(event.id);
      if (known) elicitations.set(event.id, { ...known, opened: true });
      return;
    }
    case 'elicitation_closed': {
      const known = elicitations.get(event.id);
      if (!known) return;
      elicitations.delete(event.id);
      endWait(context, known, at);
      const outcome = ownText(outcomeOf(event, known.mode));
      const question = head(known.message.replace(/\s+/g, ' ').trim(), 200);
      const text = event.answer ? `${question} → ${event.answer}` : question;
      context.push((base) => ({ ...base, kind: 'notice', severity: 'info', title: '', text, said: outcome }), at);
    }
  }
}

function outcomeOf({ action, by }: Extract<ElicitationEvent, { type: 'elicitation_closed' }>, mode: 'form' | 'url') {
  if (action === 'accept') return mode === 'form' ? 'form-answered' : 'page-done';
  if (by === 'agent') return 'asked-withdrawn';
  if (by === 'exit') return 'asked-lost';
  if (by === 'turn') return 'asked-closed';
  return action === 'decline' ? 'asked-declined' : 'asked-dismissed';
}
