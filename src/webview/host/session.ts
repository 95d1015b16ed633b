// Signals of the displayed session, for the header, the composer and the queue.
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
   * Whether new messages are queued until the turn ends. An answer to a question at the end of a
   * turn is sent immediately.
   */
  queues: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running';
  }),
  /** Whether the agent ended the turn with a question, which the next message answers. */
  isAsked: computed(() => {
    const { turn, phase, permissions, elicitations } = current.value;
    return turn === undefined && phase === 'requiresAction' && permissions.length + elicitations.length === 0;
  }),
  /** Whether a turn is running or waits for an answer, and can be stopped. */
  running: computed(() => {
    const { turn, phase } = current.value;
    return turn !== undefined || phase === 'running' || phase === 'requiresAction';
  }),
} as const;

type Fields = { readonly [K in keyof SessionView]-?: ReadonlySignal<SessionView[K]> };

/** Creates a signal for each field on first use; it only changes with that field. */
export const session = new Proxy<typeof derived & Fields>(derived as typeof derived & Fields, {
  get(signals: Record<string, unknown>, key: string) {
    signals[key] ??= computed(() => current.value[key as keyof SessionView]);
    return signals[key];
  },
});

export const hiddenPermissions = signal<readonly string[]>([]);
export const firstUse = signal<FirstUseView | undefined>(undefined);
export const welcome = signal<{ readonly key: string; readonly welcome: WelcomeView } | undefined>(undefined);
export const worktree = signal<{ readonly key: string; readonly branch: string | null } | undefined>(undefined);
/** What can be added to the message from the active editor. */
export const activeEditor = signal<MentionView | undefined>(undefined);
export const isAwayShown = signal(false);
/** Whether the focus view is on: what the agent does in a turn is one line. */
export const isFocusView = signal(false);
export const hasItems = signal(true);
export const onlyPrompt = signal('');

/** The number makes equal texts distinct. */
export const lastAnnouncements = {
  assertive: signal({ number: 0, text: '' }),
  polite: signal({ number: 0, text: '' }),
} as const;

/** Announces a text to screen readers, even if it equals the previous one. */
export function announce(text: string, urgency: keyof typeof lastAnnouncements): void {
  const { [urgency]: last } = lastAnnouncements;
  last.value = { number: last.peek().number + 1, text };
}

export function setSession(view: SessionView): void {
  current.value = view;
}

/** Applies a patch; null clears a field. */
export function patchSession(patch: SessionPatch): void {
  const next: Record<string, unknown> = { ...current.peek() };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else if (value !== undefined) next[key] = value;
  }
  current.value = next as unknown as SessionView;
}
