// The turn engine in a test, with the test as the clock and the agent.
import type { PromptAnswer, StateReport } from '../../src/acp/protocol/dialect';
import { feedEvent } from '../../src/client/prompts/heardEvent';
import { reduce } from '../../src/client/turns/engine';
import {
  initialTurns,
  type PromptTerms,
  type TurnEffect,
  type TurnFact,
  type TurnMark,
  type TurnResult,
  type TurnState,
} from '../../src/client/turns/turnState';
import type { SessionEvent, StopReason } from '../../src/session/events/event';

export class PlayedTurns {
  state: TurnState = initialTurns();
  readonly events: SessionEvent[] = [];
  readonly marks: TurnMark[] = [];
  readonly results = new Map<string, TurnResult | undefined>();
  settled = 0;
  #at = 0;
  #prompts = 0;

  readonly feed = (fact: TurnFact): readonly TurnEffect[] => {
    const [state, effects] = reduce(this.state, { ...fact, at: this.#at });
    this.state = state;
    for (const effect of effects) {
      if (effect.type === 'event') this.events.push(effect.event);
      else if (effect.type === 'inserted') {
        const { turnId, promptId, messageId } = effect;
        this.events.push({ type: 'prompt_sent', turnId, promptId, content: [], ...(messageId && { messageId }) });
      } else if (effect.type === 'done') this.results.set(effect.handle, effect.result);
      else if (effect.type === 'mark') this.marks.push(effect.mark);
      else if (effect.type === 'settled') this.settled++;
    }
    return effects;
  };

  pass(ms: number): void {
    this.#at += ms;
    this.feed({ type: 'tick' });
  }

  prompt(terms: Partial<PromptTerms> & { readonly requestId?: string } = {}): string {
    const handle = `p${++this.#prompts}`;
    const { requestId, ...rest } = terms;
    this.feed({
      type: 'prompt',
      handle,
      promptId: handle,
      text: 'Hello',
      endsBy: 'response',
      promised: false,
      ...rest,
    });
    if (requestId !== undefined) this.feed({ type: 'sent', handle, requestId });
    return handle;
  }

  answer(handle: string, stopReason?: StopReason, more: Partial<PromptAnswer> = {}): void {
    this.feed({ type: 'answer', handle, answer: { ends: true, ...(stopReason && { stopReason }), ...more } });
  }

  receipt(handle: string, messageId?: string): void {
    this.feed({ type: 'answer', handle, answer: { ends: false, ...(messageId && { messageId }) } });
  }

  complete(promptRequestId?: string, stopReason?: StopReason): void {
    this.feed({ type: 'complete', barrier: { promptRequestId, stopReason } });
  }

  report(state: string, more: Partial<StateReport> = {}): void {
    this.feed({ type: 'state', report: { state, ...more } });
  }

  user(messageId: string, text: string): void {
    this.hear({ type: 'message', role: 'user', messageId, content: [{ type: 'text', text }] });
  }

  say(text = 'words'): void {
    this.hear({ type: 'message_chunk', role: 'agent', block: { type: 'text', text } });
  }

  call(toolCallId: string, status: 'in_progress' | 'completed', announced = status === 'in_progress'): void {
    this.hear({ type: 'tool_call', toolCallId, patch: { title: 'Work', status }, announced });
  }

  hear(event: SessionEvent): void {
    if (!feedEvent(event, this.feed)) this.events.push(event);
  }

  get ends(): readonly string[] {
    return this.events.flatMap((event) => {
      if (event.type === 'turn_ended') return [`${event.turnId} ${event.stopReason} by ${event.barrier}`];
      return event.type === 'turn_reason' ? [`${event.turnId} was ${event.stopReason}`] : [];
    });
  }

  get begins(): readonly string[] {
    return this.events.flatMap((event) => (event.type === 'turn_started' ? [`${event.turnId} ${event.origin}`] : []));
  }
}
