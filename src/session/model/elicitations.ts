// Elicitations: forms and pages that wait for the user. Once answered, each leaves a one-line
// notice in the transcript.
import { head } from '../../base/text';
import type { SessionEvent } from '../events/event';
import { ownText } from '../events/ownText';
import type { ModelContext } from './context';
import { waitBegins, waitEnds } from './waits';

type ElicitationEvent = Extract<
  SessionEvent,
  { type: 'elicitation_asked' | 'elicitation_opened' | 'elicitation_closed' }
>;

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
      const said = ownText(outcomeOf(event, known.mode));
      const question = head(known.message.replace(/\s+/g, ' ').trim(), 200);
      const text = event.answer ? `${question} → ${event.answer}` : question;
      context.push((base) => ({ ...base, kind: 'notice', severity: 'info', title: '', text, said }), at);
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
