// Notices in a transcript about where a session came from, where it continued, and what is missing.

import type { SessionEvent } from '../../session/events/event';
import { type OwnText, ownText } from '../../session/events/ownText';
import type { SessionDescriptor } from '../ports/messages';
import type { Gap } from '../ports/resources';
import { originsOf } from './historyEvents';

type Notice = Extract<SessionEvent, { type: 'notice' }>;

export type FoundState = 'none' | 'there' | 'missing' | 'other';

const MAX_ORIGINS = 5;

function showAction(key: string): { readonly id: string } {
  return { id: `show:${key}` };
}

export function openedFrom({ history }: SessionDescriptor): Notice {
  const origins = originsOf(history);
  const named = origins.slice(0, MAX_ORIGINS).flatMap(({ host, count }) => [host, count]);
  return { ...noticeOf(ownText('opened-from', history.length, origins.length, ...named)), opens: true };
}

export function continuedFrom(name: string, key: string, { history }: SessionDescriptor): Notice {
  return { ...noticeOf(ownText('continued-from', name, history.length)), opens: true, action: showAction(key) };
}

export function continuedWith(name: string, key: string): Notice {
  return { ...noticeOf(ownText('continued-with', name)), action: showAction(key) };
}

/**
 * @param state `missing`: unreadable, `other`: stored by another agent
 * @param knows the agent gets the session itself, not a transcript
 */
export function openedEnd(name: string, gaps: readonly Gap[], state: FoundState, knows: boolean): Notice {
  const severity = gaps.length === 0 && state !== 'missing' ? 'info' : 'warning';
  const text = ownText('opened-end', name, gaps.length, state, knows ? 1 : 0);
  return { ...noticeOf(text), severity, ...(!knows && { beginsAnew: true }) };
}

export function otherBranch(name: string, key: string, common: number): Notice {
  return { ...noticeOf(ownText('other-branch', name, common)), action: showAction(key) };
}

export function branchOf(name: string, key: string, common: number, { history }: SessionDescriptor): Notice {
  return { ...noticeOf(ownText('branch-of', name, common, history.length)), opens: true, action: showAction(key) };
}

export function sameSession(name: string, key: string, more: number): Notice {
  return { ...noticeOf(ownText('same-session', name, more)), action: showAction(key) };
}

function noticeOf(text: OwnText): Notice {
  return { type: 'notice', severity: 'info', own: true, title: '', said: text };
}
