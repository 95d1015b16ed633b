// Words beside what was said: notices of the agent or of the client, failures, and updates of a kind that nobody knows.
import { head } from '../base/text';
import { boundRaw, MAX_TOOL_TEXT } from './bounds';
import type { SessionEvent } from './event';
import type { ModelContext } from './model';

/** Adds a notice or a failure. What the client says stands outside of any turn. */
export function addNotice(
  context: ModelContext,
  event: Extract<SessionEvent, { type: 'notice' | 'unknown_update' | 'error' }>,
  at: number,
): void {
  switch (event.type) {
    case 'notice': {
      const { severity, title, description: text = '', own, action, beginsAnew } = event;
      context.push(
        (base) => ({
          ...(own ? outside(base) : base),
          kind: 'notice',
          severity,
          title,
          text: head(text, MAX_TOOL_TEXT),
          ...(action && { action }),
          ...(beginsAnew && { beginsAnew }),
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
      const { code, message, hint, stderr, actions } = event;
      context.push(
        (base) => ({
          ...(context.state.turn ? base : outside(base)),
          kind: 'error',
          code,
          text: head(message, MAX_TOOL_TEXT),
          ...(hint && { hint }),
          ...(stderr && { stderr }),
          ...(actions && { actions }),
        }),
        at,
      );
    }
  }
}

/** Without a turn: the client speaks, and is never late. */
function outside<T extends { turnId?: string; late?: true }>({
  turnId: _turnId,
  late: _late,
  ...rest
}: T): Omit<T, 'turnId' | 'late'> {
  return rest;
}
