// Notices in a transcript about where a session came from, where it continued, and what did not
// come along.
import type { Gap } from '../../distributed/model/gap';
import type { SessionDescriptor } from '../../distributed/model/model';
import type { SessionEvent } from '../../session/events/event';
import { originsOf } from './openedHistory';

/** How an agent that was not there learns what was said. */
export const GETS_TRANSCRIPT = 'gets the transcript with your next message';

type Notice = Extract<SessionEvent, { type: 'notice' }>;

export type FoundState = 'none' | 'there' | 'missing' | 'other';

/** The id of the button that shows a conversation. @param key of it */
export function showAction(key: string, label: string): { readonly id: string; readonly label: string } {
  return { id: `show:${key}`, label };
}

/** Where an opened session's messages lie. */
export function openedFrom({ history }: SessionDescriptor): Notice {
  const origins = originsOf(history);
  const [first] = origins;
  const more = origins.length - 1;
  const others = more === 0 ? '' : ` and ${more} more ${more === 1 ? 'server' : 'servers'}`;
  const title = first ? `Opened from ${first.host}${others}` : 'Opened: a session without messages';
  return { ...own(title, listOf(history)), opens: true };
}

/**
 * In the new conversation.
 * @param name of the agent that had the session
 * @param key of the conversation with it
 */
export function continuedFrom(name: string, key: string, { history }: SessionDescriptor): Notice {
  const title = `Continued from ${name}, ${count(history.length)}`;
  return { ...own(title), opens: true, action: showAction(key, 'Show it') };
}

/** In the old conversation. */
export function continuedWith(name: string, key: string): Notice {
  const text = 'New messages here are a separate branch.';
  return { ...own(`Continued with ${name}`, text), action: showAction(key, 'Show it') };
}

/**
 * At the end of what was opened.
 * @param state what an agent stored for itself; `missing`: it cannot be had, `other`: another agent
 * stored it
 * @param knows the agent gets the session itself, not a transcript of it
 */
export function openedEnd(name: string, gaps: readonly Gap[], state: FoundState, knows: boolean): Notice {
  const missing = gaps.length;
  const title =
    missing === 0
      ? `${name} continues from here`
      : `${missing} ${missing === 1 ? 'message' : 'messages'} could not be loaded`;
  const past = knows
    ? `${name} gets the session with your next message.`
    : `${name} starts a new session and ${GETS_TRANSCRIPT}${missing === 0 ? '' : ', with the missing messages named'}.`;
  const kept = stateWords(name, state);
  const text = `${past} Mode, options, open tool calls and queued messages are not carried over.${kept}`;
  const severity = missing === 0 && state !== 'missing' ? 'info' : 'warning';
  return { ...own(title, text), severity, ...(!knows && { beginsAnew: true }) };
}

function stateWords(name: string, state: FoundState): string {
  if (state === 'other') return ` The session keeps the state that another agent stored. ${name} cannot replace it.`;
  return state === 'missing' ? ' The state that the agent kept cannot be loaded. Its address goes along.' : '';
}

/** In both of two conversations that have come to differ. @param key of the other one */
export function otherBranch(name: string, key: string, common: number): Notice {
  const title = 'This session has another branch';
  const text = `After ${count(common)} it goes on differently with ${name}. Both are kept.`;
  return { ...own(title, text), action: showAction(key, 'Show the other branch') };
}

/**
 * In a conversation that shows a branch which a server held.
 * @param key of the conversation with the other one
 * @param common messages that both begin with
 */
export function branchOf(name: string, key: string, common: number, { history }: SessionDescriptor): Notice {
  const text = `The first ${count(common)} of ${history.length} are the same. Both branches go on by themselves.`;
  return {
    ...own(`Another branch of the session with ${name}`, text),
    opens: true,
    action: showAction(key, 'Show it'),
  };
}

/**
 * In a conversation that was opened while another one has the same session with more, or with fewer
 * messages.
 */
export function sameSession(name: string, key: string, more: number): Notice {
  const text = more > 0 ? `It has ${count(more)} that are not here.` : `It lacks ${count(-more)} that are here.`;
  return { ...own(`This session is also open with ${name}`, text), action: showAction(key, 'Show it') };
}

function listOf(history: readonly string[]): string {
  const origins = originsOf(history);
  if (origins.length < 2) return `${count(history.length)}.`;
  const shown = origins.slice(0, 5).map(({ host, count: one }) => `${one} from ${host}`);
  const left = origins.length - shown.length;
  return `${count(history.length)}: ${shown.join(', ')}${left > 0 ? ` and ${left} more servers` : ''}.`;
}

function count(messages: number): string {
  return `${messages} ${messages === 1 ? 'message' : 'messages'}`;
}

function own(title: string, description?: string): Notice {
  return { type: 'notice', severity: 'info', own: true, title, ...(description !== undefined && { description }) };
}
