// Tells the caller of a run what our server has to say beside the agent's answer: as a `generic`
// event with a code, which other clients ignore, and as a trajectory, which is part of the output
// in every mode.
import type { SessionNotice } from './serverSessions';

export type RunNotice =
  | SessionNotice
  /** Messages of the session that the agent did not get. `number` counts from 1. */
  | {
      readonly kind: 'history-gaps';
      readonly of: number;
      readonly gaps: readonly { readonly number: number; readonly reason: string }[];
    }
  | { readonly kind: 'session-grew'; readonly more: number }
  /** Another state was stored first; the agent gets it with its next prompt. */
  | { readonly kind: 'state-conflict' }
  | { readonly kind: 'state-not-saved'; readonly why: string }
  | { readonly kind: 'messages-waiting'; readonly waiting: number }
  /** The messages of this run are in its output alone. */
  | { readonly kind: 'not-recorded'; readonly messages: number; readonly why: string };

export interface ToldNotice {
  /** The value of the `generic` event. */
  readonly generic: Readonly<Record<string, unknown>>;
  readonly sentence: string;
}

const MAX_GAPS = 100;

export function runNotice(notice: RunNotice): ToldNotice {
  const sentence = sentenceOf(notice);
  const { kind, ...rest } = notice;
  const fields = notice.kind === 'history-gaps' ? { ...rest, gaps: notice.gaps.slice(0, MAX_GAPS) } : rest;
  return { generic: { 'parley/notice': kind, message: sentence, ...fields }, sentence };
}

function sentenceOf(notice: RunNotice): string {
  switch (notice.kind) {
    case 'history-gaps': {
      const [first] = notice.gaps;
      const count = `${notice.gaps.length} of ${messages(notice.of)}`;
      return `${count} of this session could not be read. Message ${first?.number}: ${first?.reason}`;
    }
    case 'session-forked':
      return `This session continued differently on this server after ${messages(notice.common)}. The run continues your version; the server keeps the other one.`;
    case 'session-contested':
      return 'Another client continued this session from a different history. The run continues that version; the server keeps the other one.';
    case 'session-grew':
      return `Another client added ${messages(notice.more)} to this session during the run. The messages of this run follow them.`;
    case 'state-conflict':
      return 'The state of the session was replaced during the run. The state that the agent wanted to store was not saved.';
    case 'state-not-saved':
      return `The state of the session was not saved. ${notice.why}`;
    case 'messages-waiting':
      return `${messages(notice.waiting)} of this run ${notice.waiting === 1 ? 'is' : 'are'} waiting for the storage server. Other servers can't read ${notice.waiting === 1 ? 'it' : 'them'} yet.`;
    case 'not-recorded':
      return `The ${messages(notice.messages)} of this run were not saved to the session. ${notice.why}`;
  }
}

function messages(count: number): string {
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}
