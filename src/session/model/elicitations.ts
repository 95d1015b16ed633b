// Elicitations: forms and pages that wait for the user. Once answered, each leaves a one-line
// notice in the transcript.
import { head } from '../../base/text';
import type { SessionEvent } from '../events/event';
import type { ModelContext } from './context';
import { waitBegins, waitEnds } from './waits';

type ElicitationEvent = Extract<
  SessionEvent,
  { type: 'elicitation_asked' | 'elicitation_opened' | 'elicitation_closed' }
>;

/** Applies an elicitation, the opening of its page, and its end. */
export function applyElicitation(context: ModelContext, event: ElicitationEvent, at: number): void {
  const { elicitations } = context.state;
  switch (event.type) {
    case 'elicitation_asked': {
      waitBegins(context, at);
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
      waitEnds(context, known, at);
      const title = titleOf(event, known.mode);
      const question = head(known.message.replace(/\s+/g, ' ').trim(), 200);
      const text = event.answer ? `${question} → ${event.answer}` : question;
      context.push((base) => ({ ...base, kind: 'notice', severity: 'info', title, text }), at);
    }
  }
}

function titleOf(
  { action, by }: Extract<ElicitationEvent, { type: 'elicitation_closed' }>,
  mode: 'form' | 'url',
): string {
  if (action === 'accept') return mode === 'form' ? 'Answered by you:' : 'Done in the browser:';
  if (by === 'agent') return 'Question withdrawn:';
  if (by === 'exit') return 'Question lost with the agent:';
  if (by === 'turn') return 'Question closed with the turn:';
  return action === 'decline' ? 'Declined by you:' : 'Dismissed by you:';
}
