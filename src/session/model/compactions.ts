// Compactions: the agent shortens its context, reports progress and may show the resulting summary
// (protocol v1 and v2 "compaction_update").

import { head } from '../../base/text';
import { own } from '../../base/untrusted';
import { MAX_TOOL_TEXT } from '../events/bounds';
import type { SessionEvent } from '../events/event';
import { type ModelContext, upsert } from './context';

const WORDS: Readonly<Record<string, string>> = {
  in_progress: 'Compacting the conversation',
  completed: 'Conversation compacted',
  failed: 'Compaction failed',
  cancelled: 'Compaction cancelled',
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
  const title = status === undefined ? undefined : (own(WORDS, status) ?? `Compaction: ${status.slice(0, 100)}`);
  const severity = status === 'failed' ? 'error' : status === 'in_progress' ? 'busy' : 'info';
  upsert(
    context,
    context.compactions,
    event.compactionId,
    at,
    (base) => ({
      ...base,
      kind: 'notice',
      severity: title === undefined ? 'busy' : severity,
      title: title ?? 'Compacting the conversation',
      text: error ?? '',
      detail: head(summary ?? append ?? '', MAX_TOOL_TEXT),
    }),
    (entry) => {
      if (entry.kind !== 'notice') return;
      if (title !== undefined) {
        entry.title = title;
        entry.severity = severity;
      }
      if (error !== undefined) entry.text = error;
      entry.detail = head(summary ?? (entry.detail ?? '') + (append ?? ''), MAX_TOOL_TEXT);
    },
  );
}
