// The displayed session as signals for the header, the composer and the queue.
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { FirstUseView, MentionView, Op, SessionView, WelcomeView } from '../../panel/contract';

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
  canFork: false,
  canCheckStatus: false,
};

const current = signal<SessionView>(NOTHING);

/** Returns a signal of one field that changes only with that field. */
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
  turn: field('turn'),
  turnCount: field('turnCount'),
  plan: field('plan'),
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
  canFork: field('canFork'),
  canCheckStatus: field('canCheckStatus'),
  review: field('review'),
  changesWork: field('changesWork'),
  banner: field('banner'),
  /**
   * Whether a message sent now is queued until the turn ends. A message that answers a question at
   * the end of a turn is sent at once.
   */
  queues: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running';
  }),
  /**
   * Whether the agent asked a question in its text at the end of a turn, which the next message
   * answers.
   */
  isAsked: computed(() => {
    const { turn, phase, permissions, elicitations } = current.value;
    return turn === undefined && phase === 'requiresAction' && permissions.length + elicitations.length === 0;
  }),
  /** Whether a turn is running or waiting for an answer, so that it can be stopped. */
  running: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running' || phase === 'requiresAction';
  }),
} as const;

/** Open permission requests that are scrolled out of view. */
export const hiddenPermissions = signal<readonly string[]>([]);
/** What an empty conversation offers to begin with. */
export const firstUse = signal<FirstUseView | undefined>(undefined);
/** What an empty conversation says of its folder, with the key of its session. */
export const welcome = signal<{ readonly key: string; readonly welcome: WelcomeView } | undefined>(undefined);
/** The branch of the worktree that a session works in, with the key of the session. */
export const worktree = signal<{ readonly key: string; readonly branch: string | null } | undefined>(undefined);
/** What of the active editor can be added to the message. */
export const activeEditor = signal<MentionView | undefined>(undefined);
/** Whether the transcript has any items. */
export const hasItems = signal(true);
/**
 * An announcement for screen readers, assertive or polite. The number distinguishes equal texts.
 */
export interface Announcement {
  readonly number: number;
  readonly text: string;
}

const announcements = {
  assertive: signal<Announcement>({ number: 0, text: '' }),
  polite: signal<Announcement>({ number: 0, text: '' }),
} as const;

/** The last announcement of each kind. */
export const lastAnnouncements: Readonly<Record<keyof typeof announcements, ReadonlySignal<Announcement>>> =
  announcements;

/** Announces a text to screen readers, even if it equals the previous one. */
export function announce(text: string, urgency: keyof typeof announcements): void {
  const { [urgency]: last } = announcements;
  last.value = { number: last.peek().number + 1, text };
}

export function setSession(view: SessionView): void {
  current.value = view;
}

/** Updates the given fields; null clears one. */
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
