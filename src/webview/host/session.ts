// The session as the chrome sees it: signals that the header, the composer and the queue listen to, each to what it shows.
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Op, SessionView } from '../../panel/contract';

type SessionPatch = Extract<Op, { op: 'session' }>['patch'];

const NOTHING: SessionView = {
  key: '',
  agentId: '',
  agentName: '',
  phase: 'idle',
  status: '',
  liveness: 'unknown',
  stages: [],
  turnCount: 0,
  queue: [],
  permissions: [],
  elicitations: [],
  background: [],
  commands: [],
  modes: [],
  config: [],
  attachments: [],
  canAttachImages: false,
  canAttachAudio: false,
  canAttachFiles: false,
};

const current = signal<SessionView>(NOTHING);

/** A signal of one field, which changes only when that field does. */
function field<K extends keyof SessionView>(key: K): ReadonlySignal<SessionView[K]> {
  return computed(() => current.value[key]);
}

export const session = {
  key: field('key'),
  agentName: field('agentName'),
  title: field('title'),
  phase: field('phase'),
  status: field('status'),
  liveness: field('liveness'),
  stages: field('stages'),
  error: field('error'),
  failedTurnId: field('failedTurnId'),
  queue: field('queue'),
  queuePaused: field('queuePaused'),
  permissions: field('permissions'),
  elicitations: field('elicitations'),
  background: field('background'),
  commands: field('commands'),
  modes: field('modes'),
  mode: field('mode'),
  config: field('config'),
  usage: field('usage'),
  attachments: field('attachments'),
  canAttachImages: field('canAttachImages'),
  canAttachAudio: field('canAttachAudio'),
  canAttachFiles: field('canAttachFiles'),
  banner: field('banner'),
  /** What is sent now waits for the end of a turn. An agent that asks something at the end of its turn gets the answer at once. */
  queues: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running';
  }),
  /** The agent has asked something in its own words, at the end of its turn: the next message is the answer. */
  isAsked: computed(() => {
    const { turn, phase, permissions, elicitations } = current.value;
    return turn === undefined && phase === 'requiresAction' && permissions.length + elicitations.length === 0;
  }),
  /** A turn runs, or something waits for an answer: there is something to stop. */
  running: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running' || phase === 'requiresAction';
  }),
} as const;

/** Questions that are open but out of sight. */
export const hiddenPermissions = signal<readonly string[]>([]);
/** Whether the transcript has anything in it. */
export const hasItems = signal(true);
/** What is said aloud: at once, or when there is time. The number makes the same text something new. */
export interface Announcement {
  readonly number: number;
  readonly text: string;
}

const announcements = {
  assertive: signal<Announcement>({ number: 0, text: '' }),
  polite: signal<Announcement>({ number: 0, text: '' }),
} as const;

/** The last announcement of each kind. */
export const said: Readonly<Record<keyof typeof announcements, ReadonlySignal<Announcement>>> = announcements;

/** Says something aloud, also where the same was said before. */
export function announce(text: string, urgency: keyof typeof announcements): void {
  const { [urgency]: last } = announcements;
  last.value = { number: last.peek().number + 1, text };
}

export function setSession(view: SessionView): void {
  current.value = view;
}

/** Replaces the fields that are there; null clears one. */
export function patchSession(patch: SessionPatch): void {
  const next: Record<string, unknown> = { ...current.peek() };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else if (value !== undefined) next[key] = value;
  }
  batch(() => {
    current.value = next as unknown as SessionView;
  });
}
