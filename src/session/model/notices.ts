// Notices of the agent or the client, errors, and unknown updates.
import { boundText } from '../../base/localizable';
import { boundRaw, MAX_TOOL_TEXT } from '../events/bounds';
import type { SessionEvent } from '../events/event';
import { UNDO_RESTORE } from '../events/ownText';
import type { ModelContext } from './context';
import { textOf } from './entryText';

export function addNotice(
  context: ModelContext,
  event: Extract<SessionEvent, { type: 'notice' | 'unknown_update' | 'error' }>,
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
      if (!hint && !stderr && !actions && typeof message === 'string' && isSaid(context, message)) return;
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

/**
 * Some agents explain a failure in a message and repeat it as the turn's error; do not show it
 * twice.
 */
function isSaid({ state }: ModelContext, message: string): boolean {
  const last = state.entries.at(-1);
  if (!state.turn || last?.kind !== 'agent' || last.turnId !== state.turn.id) return false;
  const words = message.trim();
  return words !== '' && textOf(last).trimEnd().endsWith(words);
}

/** Returns an entry without its turn: notices of the client are never late. */
function outside<T extends { turnId?: string; late?: true }>({
  turnId: _turnId,
  late: _late,
  ...rest
}: T): Omit<T, 'turnId' | 'late'> {
  return rest;
}
