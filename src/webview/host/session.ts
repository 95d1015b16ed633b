// The displayed session as signals for the header, the composer and the queue.
import { computed, type ReadonlySignal, signal } from '@preact/signals';
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
  canSteer: false,
  canCheckStatus: false,
};

const current = signal<SessionView>(NOTHING);

const derived = {
  /**
   * Whether a message waits for the end of the turn. An answer to a question at the end is sent
   * immediately.
   */
  queues: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running';
  }),
  /** Whether the agent ended a turn with a question, which the next message answers. */
  isAsked: computed(() => {
    const { turn, phase, permissions, elicitations } = current.value;
    return turn === undefined && phase === 'requiresAction' && permissions.length + elicitations.length === 0;
  }),
  /** Whether a turn runs or waits for an answer, and can be stopped. */
  running: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running' || phase === 'requiresAction';
  }),
} as const;

type Fields = { readonly [K in keyof SessionView]-?: ReadonlySignal<SessionView[K]> };

/** Has a signal for each field, created on first use, that changes only with that field. */
export const session = new Proxy<typeof derived & Fields>(derived as typeof derived & Fields, {
  get(signals: Record<string, unknown>, key: string) {
    signals[key] ??= computed(() => current.value[key as keyof SessionView]);
    return signals[key];
  },
});

/** Open permission requests that are scrolled out of view. */
export const hiddenPermissions = signal<readonly string[]>([]);
export const firstUse = signal<FirstUseView | undefined>(undefined);
export const welcome = signal<{ readonly key: string; readonly welcome: WelcomeView } | undefined>(undefined);
/** The branch of a session's worktree. */
export const worktree = signal<{ readonly key: string; readonly branch: string | null } | undefined>(undefined);
/** What can be added to the message. */
export const activeEditor = signal<MentionView | undefined>(undefined);
/** Whether a card above the transcript tells what happened while the user was away. */
export const isAwayShown = signal(false);
/** Whether what the agent does in a turn is one line. */
export const isFocusView = signal(false);
export const hasItems = signal(true);
/** The user's message if there is one only. */
export const onlyPrompt = signal('');

/** The number distinguishes equal texts. */
export const lastAnnouncements = {
  assertive: signal({ number: 0, text: '' }),
  polite: signal({ number: 0, text: '' }),
} as const;

/** Screen readers read the text even if it equals the previous one. */
export function announce(text: string, urgency: keyof typeof lastAnnouncements): void {
  const { [urgency]: last } = lastAnnouncements;
  last.value = { number: last.peek().number + 1, text };
}

export function setSession(view: SessionView): void {
  current.value = view;
}

/** Null clears a field. */
export function patchSession(patch: SessionPatch): void {
  const next: Record<string, unknown> = { ...current.peek() };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else if (value !== undefined) next[key] = value;
  }
  current.value = next as unknown as SessionView;
}
