// Session updates that the unstable schemas of v1 and v2 have in common, in the same shapes: plans
// by id, and sessions that the agent runs for this one (section 2).
import * as z from 'zod/mini';
import { at, isMarked, wordOf } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';
import { word } from './sharedSchema';

const text = z.string();
const optionalText = z.catch(z.nullish(text), undefined);

const MAX_ENTRIES = 2000;

const planEntry = z.object({
  content: text,
  priority: z.catch(word, undefined),
  status: z.pipe(
    optionalText,
    z.transform((status) => status ?? 'pending'),
  ),
});

const schema = z.discriminatedUnion('sessionUpdate', [
  z.object({
    sessionUpdate: z.literal('plan_update'),
    plan: z.discriminatedUnion('type', [
      z.object({ type: z.literal('items'), planId: text, entries: z.array(z.unknown()) }),
      z.object({ type: z.literal('markdown'), planId: text, content: text }),
      z.object({ type: z.literal('file'), planId: text, uri: text }),
    ]),
  }),
  z.object({ sessionUpdate: z.literal('plan_removed'), planId: text }),
  z.object({
    sessionUpdate: z.literal('subagent_update'),
    sessionId: text,
    title: optionalText,
    description: optionalText,
    state: z.catch(z.nullish(z.object({ state: text })), undefined),
    capabilities: z.optional(z.unknown()),
  }),
  z.object({
    sessionUpdate: z.literal('session_message'),
    messageId: text,
    senderSessionId: optionalText,
    recipientSessionId: optionalText,
    content: z.catch(z.nullish(z.array(z.unknown())), undefined),
  }),
  z.object({ sessionUpdate: z.literal('session_message_chunk'), messageId: text, content: z.unknown() }),
]);

/** Returns whether the update is of a kind that is read here. */
export function readUnstableUpdate(update: unknown, emit: (event: SessionEvent) => void): boolean {
  const parsed = schema.safeParse(update);
  if (!parsed.success) return false;
  const { data } = parsed;
  switch (data.sessionUpdate) {
    case 'plan_update':
      emitPlan(data.plan, emit);
      break;
    case 'plan_removed':
      emit({ type: 'plan_removed', planId: data.planId });
      break;
    case 'subagent_update': {
      const { sessionId, title, description, state, capabilities } = data;
      emit({
        type: 'subagent',
        sessionId,
        title,
        description,
        state: state !== undefined ? (state?.state ?? null) : undefined,
        canCancel: capabilities !== undefined ? isMarked(at(capabilities, 'cancel')) : undefined,
      });
      break;
    }
    case 'session_message': {
      const { messageId, senderSessionId: sender, recipientSessionId: recipient, content } = data;
      emit({
        type: 'session_message',
        messageId,
        sender,
        recipient,
        text: content !== undefined ? (content ?? []).map(wordsOf).join('') : undefined,
      });
      break;
    }
    case 'session_message_chunk':
      emit({ type: 'session_message', messageId: data.messageId, append: wordsOf(data.content) });
      break;
  }
  return true;
}

type PlanContent = Extract<z.infer<typeof schema>, { sessionUpdate: 'plan_update' }>['plan'];

function emitPlan(plan: PlanContent, emit: (event: SessionEvent) => void): void {
  const { planId } = plan;
  switch (plan.type) {
    case 'items':
      // One entry that does not fit must not hide the others.
      emit({
        type: 'plan',
        planId,
        entries: plan.entries.slice(0, MAX_ENTRIES).flatMap((raw) => {
          const entry = planEntry.safeParse(raw);
          return entry.success ? [entry.data] : [];
        }),
      });
      return;
    case 'markdown':
      emit({ type: 'plan_document', planId, document: { type: 'markdown', text: plan.content } });
      return;
    case 'file':
      emit({ type: 'plan_document', planId, document: { type: 'file', uri: plan.uri } });
  }
}

function wordsOf(block: unknown): string {
  const { type, text: words } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  return type === 'text' && typeof words === 'string' ? words : `[${wordOf(type).slice(0, 50)}]`;
}
