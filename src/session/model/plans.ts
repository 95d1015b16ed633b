// Plans: a list of steps, a text or a file, identified by id. The agent replaces a plan as a whole
// and can remove it (protocol sections "Agent Plan", "Plan Operations").

import { head } from '../../base/text';
import { MAX_LIST, MAX_TOOL_TEXT } from '../events/bounds';
import type { SessionEvent } from '../events/event';
import { type ModelContext, upsert } from './context';
import type { PlanRecord } from './state';

type PlanEvent = Extract<SessionEvent, { type: 'plan' | 'plan_document' | 'plan_removed' }>;

export function applyPlan(context: ModelContext, event: PlanEvent, at: number): void {
  const { planId } = event;
  if (event.type === 'plan_removed') {
    const entry = context.state.entries[context.plans.get(planId) ?? -1];
    if (entry?.kind !== 'plan' || entry.removed) return;
    entry.removed = true;
    // The agent may reuse the id for another plan.
    context.plans.delete(planId);
    context.note((changes) => changes.entry(entry.index));
    return;
  }
  const content = contentOf(event);
  upsert(
    context,
    context.plans,
    planId,
    at,
    (base) => ({ ...base, kind: 'plan', planId, ...content }),
    (entry) => {
      if (entry.kind !== 'plan') return;
      delete entry.markdown;
      delete entry.uri;
      Object.assign(entry, content);
    },
  );
}

function contentOf(
  event: Exclude<PlanEvent, { type: 'plan_removed' }>,
): Pick<PlanRecord, 'entries' | 'markdown' | 'uri'> {
  if (event.type === 'plan') return { entries: event.entries.slice(0, MAX_LIST) };
  const { document: said } = event;
  return said.type === 'file'
    ? { entries: [], uri: said.uri }
    : { entries: [], markdown: head(said.text, MAX_TOOL_TEXT) };
}
