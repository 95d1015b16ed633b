// Notifies the user of hidden sessions that need them or whose turn ended.
import { l10n } from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import type { Event } from '../../base/event';
import { isPlainLine } from '../../client/view/briefQuestion';
import type { ActiveSession, ActiveSessions } from './activeSessions';
import type { Inbox, InboxQuestion } from './inbox';
import type { Clock, LiveSession, LiveSessions, SessionNews } from './liveSessions';

export type NotificationSetting = 'off' | 'questions' | 'all';

const TOGETHER_MS = 1000;
/** Minimum duration of a turn to notify of, ms: users wait for shorter ones. */
const LONG_TURN_MS = 10_000;
/** Time until a notification counts as seen, ms: an earlier click was meant for what it covered. */
const SEEN_MS = 500;
/** Answers without future effect. */
const ONCE: readonly (string | undefined)[] = ['allow_once', 'reject_once'];
const MAX_LABEL = 40;

export interface BriefQuestion {
  readonly text: string;
  readonly question: InboxQuestion;
  readonly answers: readonly { readonly label: string; readonly choice: number }[];
}

interface NotificationSources {
  readonly active: Pick<ActiveSessions, 'onDidAsk' | 'get'>;
  readonly live: Pick<LiveSessions, 'onNews' | 'get'>;
  readonly inbox: Pick<Inbox, 'questions'>;
}

export interface NotificationActions {
  open(key: string): void;
  next(): void;
  answer(question: InboxQuestion, choice: number): void;
}

interface NotificationWindow {
  readonly setting: () => NotificationSetting;
  readonly isShown: (key: string) => boolean;
  readonly isFocused: () => boolean;
  readonly onDidChangeFocus: Event<unknown>;
  readonly tell: (text: string, ...buttons: string[]) => Promise<string | undefined>;
}

export class Notifications extends Part {
  readonly #sources: NotificationSources;
  readonly #actions: NotificationActions;
  readonly #window: NotificationWindow;
  readonly #clock: Clock;
  readonly #news = new Map<string, SessionNews['kind']>();
  /** Sessions without a window that asked while this window was not focused. */
  readonly #unnoticed = new Set<string>();
  #timer: Disposable | undefined;

  constructor(sources: NotificationSources, actions: NotificationActions, window: NotificationWindow, clock: Clock) {
    super();
    this.#sources = sources;
    this.#actions = actions;
    this.#window = window;
    this.#clock = clock;
    this.own(sources.active.onDidAsk((session) => this.#onAsk(session)));
    this.own(
      sources.live.onNews(({ key, kind, ranMs }) => {
        if (kind === 'turn' && ranMs >= LONG_TURN_MS && window.setting() === 'all') this.#schedule(key, kind);
      }),
    );
    this.own(window.onDidChangeFocus(() => this.#notifyUnnoticed()));
  }

  override dispose(): void {
    this.#timer?.dispose();
    super.dispose();
  }

  /** All windows see an agent without a window: only the focused one notifies. */
  #onAsk({ key, where }: ActiveSession): void {
    if (where === 'background' && !this.#window.isFocused()) this.#unnoticed.add(key);
    else if (this.#window.setting() !== 'off') this.#schedule(key, 'question');
  }

  #notifyUnnoticed(): void {
    if (!this.#window.isFocused()) return;
    const sessions = [...this.#unnoticed].flatMap((key) => this.#sources.active.get(key) ?? []);
    this.#unnoticed.clear();
    for (const session of sessions)
      if (session.where === 'background' && session.status === 'needsYou') this.#onAsk(session);
  }

  #schedule(key: string, kind: SessionNews['kind']): void {
    if (this.#news.get(key) !== 'question') this.#news.set(key, kind);
    this.#timer ??= this.#clock.schedule(() => {
      this.#timer = undefined;
      this.#notify();
    }, TOGETHER_MS);
  }

  #notify(): void {
    const { active, live, inbox } = this.#sources;
    const { isShown, isFocused } = this.#window;
    const asking: ActiveSession[] = [];
    const done: LiveSession[] = [];
    for (const [key, kind] of this.#news) {
      if (isFocused() && isShown(key)) continue;
      const session = active.get(key);
      const ended = live.get(key);
      if (session?.status === 'needsYou') asking.push(session);
      else if (kind === 'turn' && ended && ended.status !== 'working') done.push(ended);
    }
    this.#news.clear();
    const [first, ...others] = asking;
    if (first) {
      const asked = others.length === 0 ? briefQuestionOf(inbox, first.key) : undefined;
      this.#show(asked?.text ?? askingText(asking), others.length === 0 ? first.key : undefined, asked);
    }
    if (done[0]) this.#show(doneText(done), done[0].key);
  }

  /** @param key session that the button opens; undefined: the next one that needs the user */
  #show(text: string, key: string | undefined, asked?: BriefQuestion): void {
    const actions = this.#actions;
    // First, since VS Code has a keybinding for the first button of the newest notification.
    const show = l10n.t('Show');
    const answers = asked?.answers.filter(({ label }) => label !== show) ?? [];
    const at = this.#clock.now();
    void this.#window.tell(text, show, ...answers.map(({ label }) => label)).then((pressed) => {
      const answer = answers.find(({ label }) => label === pressed);
      if (asked && answer && this.#clock.now() - at >= SEEN_MS) actions.answer(asked.question, answer.choice);
      else if (pressed !== undefined) key === undefined ? actions.next() : actions.open(key);
    });
  }
}

/**
 * Returns a question that can be answered in a notification: notifications move, so a click could
 * hit the wrong one of several.
 */
export function briefQuestionOf(inbox: Pick<Inbox, 'questions'>, key: string): BriefQuestion | undefined {
  const [question, ...others] = inbox.questions.filter(({ isOurs }) => isOurs);
  if (question?.key !== key || question.brief === undefined || others.length > 0) return undefined;
  const answers = question.choices.flatMap(({ label, kind }, choice) =>
    ONCE.includes(kind) ? [{ label, kind, choice }] : [],
  );
  // Two answers of the same kind need the explanation in the session.
  const isClear =
    answers.length > 0 &&
    new Set(answers.map(({ kind }) => kind)).size === answers.length &&
    new Set(answers.map(({ label }) => label)).size === answers.length &&
    answers.every(({ label }) => label.length <= MAX_LABEL && isPlainLine(label));
  return isClear ? { text: question.brief, question, answers } : undefined;
}

function askingText(sessions: readonly ActiveSession[]): string {
  const [first] = sessions;
  return sessions.length === 1 && first
    ? l10n.t('{0} needs you: {1}', first.agentName, first.title)
    : l10n.t('{0} sessions need you.', sessions.length);
}

function doneText(sessions: readonly LiveSession[]): string {
  const [first] = sessions;
  if (sessions.length !== 1 || !first) return l10n.t('{0} sessions are done.', sessions.length);
  return first.status === 'failed'
    ? l10n.t('{0} failed: {1}', first.agentName, first.title)
    : l10n.t('{0} is done: {1}', first.agentName, first.title);
}
