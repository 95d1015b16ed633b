// Compactions: the agent shortens its context, reports progress and may show the resulting summary
// (protocol v1 and v2 "compaction_update").

import { head } from '../../base/text';
import { own } from '../../base/untrusted';
import { MAX_TOOL_TEXT } from '../events/bounds';
import type { SessionEvent } from '../events/event';
import { type OwnText, ownText } from '../events/ownText';
import { type ModelContext, upsert } from './context';

const CODES: Readonly<Record<string, OwnText>> = {
  in_progress: ownText('compaction-in_progress'),
  completed: ownText('compaction-completed'),
  failed: ownText('compaction-failed'),
  cancelled: ownText('compaction-cancelled'),
};

/**
 * Applies a status update or a part of the summary. Absent fields are unchanged, empty ones clear.
 */
export function applyCompaction(
  context: ModelContext,
  event: Extract<SessionEvent, { type: 'compaction' }>,
  at: number,
): void {
  const { status, summary, append, error } = event;
  const said =
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
      severity: said === undefined ? 'busy' : severity,
      title: '',
      said: said ?? ownText('compaction-in_progress'),
      text: error ?? '',
      detail: head(summary ?? append ?? '', MAX_TOOL_TEXT),
    }),
    (entry) => {
      if (entry.kind !== 'notice') return;
      if (said !== undefined) {
        entry.said = said;
        entry.severity = severity;
      }
      if (error !== undefined) entry.text = error;
      entry.detail = head(summary ?? (entry.detail ?? '') + (append ?? ''), MAX_TOOL_TEXT);
    },
  );
}
