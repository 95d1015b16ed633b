// Notifies the user that sessions need them, or that turns have ended, if the chat is not visible.
// One notification covers several sessions.
import type { Disposable } from '../../base/disposable';
import type { BriefQuestion } from './briefQuestion';
import type { LiveSession, LiveSessions, SessionNews } from './liveSessions';

export type NotificationSetting = 'off' | 'questions' | 'all';

/** News within this time are combined in one notification, in milliseconds. */
const TOGETHER_MS = 1000;
/** Minimum duration of a turn to notify of, in milliseconds: the user waits for a shorter one. */
const LONG_TURN_MS = 10_000;
/**
 * Time for a notification to be seen, in milliseconds. A button that is pressed earlier was not
 * meant: the click was on its way to what stood in its place.
 */
const SEEN_MS = 500;

export interface NotificationTexts {
  /** @param sessions that need the user, at least one */
  readonly asking: (sessions: readonly LiveSession[]) => string;
  /** @param sessions whose turns ended, at least one */
  readonly done: (sessions: readonly LiveSession[]) => string;
  /** Label of the button. */
  readonly show: () => string;
}

export interface NotificationsOptions {
  readonly live: Pick<LiveSessions, 'onNews' | 'get'>;
  /** Returns whether a session is visible. */
  readonly isShown: (key: string) => boolean;
  /** Returns whether this window has the focus. */
  readonly isFocused: () => boolean;
  readonly setting: () => NotificationSetting;
  readonly texts: NotificationTexts;
  /** Returns the question of a session, if a notification can show it whole. */
  readonly briefly: (key: string) => BriefQuestion | undefined;
  /** Answers it, if it is still open and as it was. */
  readonly answer: (asked: BriefQuestion, choice: number) => void;
  /** @returns the button that was pressed */
  readonly tell: (text: string, ...buttons: string[]) => Promise<string | undefined>;
  readonly reveal: (key: string) => void;
  /** Goes to the next session that needs the user. */
  readonly next: () => void;
  /** In milliseconds. */
  readonly now: () => number;
  readonly schedule: (run: () => void, ms: number) => Disposable;
}

export class Notifications implements Disposable {
  readonly #options: NotificationsOptions;
  readonly #listening: Disposable;
  readonly #news = new Map<string, SessionNews['kind']>();
  #timer: Disposable | undefined;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#listening = options.live.onNews((news) => this.#note(news));
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#listening.dispose();
  }

  #note({ key, kind, ranMs }: SessionNews): void {
    const setting = this.#options.setting();
    if (setting === 'off' || (kind === 'turn' && (setting !== 'all' || ranMs < LONG_TURN_MS))) return;
    if (this.#news.get(key) !== 'question') this.#news.set(key, kind);
    this.#timer ??= this.#options.schedule(() => {
      this.#timer = undefined;
      this.#tell();
    }, TOGETHER_MS);
  }

  #tell(): void {
    const { live, isShown, isFocused, reveal, next, texts, briefly } = this.#options;
    const asking: LiveSession[] = [];
    const done: LiveSession[] = [];
    for (const [key, kind] of this.#news) {
      const session = live.get(key);
      if (!session || (isFocused() && isShown(key))) continue;
      if (session.status === 'needsYou') asking.push(session);
      else if (kind === 'turn' && session.status !== 'working') done.push(session);
    }
    this.#news.clear();
    const [first, ...others] = asking;
    const asked = first && others.length === 0 ? briefly(first.key) : undefined;
    if (asking.length > 0)
      this.#show(asking, asked?.text ?? texts.asking(asking), others.length === 0 ? reveal : next, asked);
    if (done.length > 0) this.#show(done, texts.done(done), reveal);
  }

  #show(sessions: readonly LiveSession[], text: string, go: (key: string) => void, asked?: BriefQuestion): void {
    const { texts, tell, answer, now } = this.#options;
    // First, as VS Code has a key for the first button of the newest notification.
    const show = texts.show();
    const answers = asked?.answers.filter(({ label }) => label !== show) ?? [];
    const at = now();
    void tell(text, show, ...answers.map(({ label }) => label)).then((pressed) => {
      const [first] = sessions;
      const given = answers.find(({ label }) => label === pressed);
      if (asked && given && now() - at >= SEEN_MS) answer(asked, given.choice);
      else if (pressed !== undefined && first) go(first.key);
    });
  }
}
