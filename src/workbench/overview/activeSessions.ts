// Sessions that are working or need the user, with agents in this window, another one or none.
import { Part } from '../../base/disposable';
import { Emitter } from '../../base/event';
import type { Inbox } from './inbox';
import type { LiveSessions } from './liveSessions';
import { backgroundStateOf, type RunningAgents } from './runningAgents';

export interface ActiveSession {
  readonly key: string;
  readonly status: 'working' | 'needsYou';
  /** `background`: its agent runs without a window. */
  readonly where: 'here' | 'otherWindow' | 'background';
  readonly title: string;
  readonly agentName: string;
  /** Start of its turn, or when this window noticed it; ms since 1970. */
  readonly since: number;
}

interface ActiveSources {
  readonly live: Pick<LiveSessions, 'rows' | 'onDidChange' | 'onNews'>;
  readonly inbox: Pick<Inbox, 'others' | 'onDidChange'>;
  readonly running: Pick<RunningAgents, 'background' | 'onDidChange'>;
  readonly titleOf: (key: string) => string | undefined;
  readonly now: () => number;
}

export class ActiveSessions extends Part {
  readonly #sources: ActiveSources;
  readonly #changed = this.own(new Emitter<void>());
  readonly #didAsk = this.own(new Emitter<ActiveSession>());
  #sessions: ReadonlyMap<string, ActiveSession> = new Map();

  readonly onDidChange = this.#changed.event;

  /** Fires for a new question in this window or of an agent without a window. */
  readonly onDidAsk = this.#didAsk.event;

  constructor(sources: ActiveSources) {
    super();
    this.#sources = sources;
    const { live, inbox, running } = sources;
    this.own(live.onDidChange(() => this.#read()));
    this.own(inbox.onDidChange(() => this.#read()));
    this.own(running.onDidChange(() => this.#read()));
    this.own(
      live.onNews(({ key, kind }) => {
        const session = kind === 'question' ? this.get(key) : undefined;
        if (session) this.#didAsk.fire(session);
      }),
    );
  }

  get(key: string): ActiveSession | undefined {
    return this.#sessions.get(key);
  }

  in(status: ActiveSession['status']): readonly ActiveSession[] {
    return [...this.#sessions.values()]
      .filter((one) => one.status === status)
      .sort((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
  }

  next(current: string | undefined): ActiveSession | undefined {
    const waiting = this.in('needsYou').filter(({ where }) => where === 'here');
    const index = waiting.findIndex(({ key }) => key === current);
    return waiting[(index + 1) % Math.max(1, waiting.length)];
  }

  #read(): void {
    const { live, inbox, running, titleOf, now } = this.#sources;
    const before = this.#sessions;
    const found = new Map<string, ActiveSession>();
    const add = (session: Omit<ActiveSession, 'since'>, since = before.get(session.key)?.since ?? now()): void => {
      if (!found.has(session.key)) found.set(session.key, { ...session, since });
    };
    for (const { key, status, title, agentName, at } of live.rows)
      if (status === 'needsYou' || status === 'working') add({ key, status, where: 'here', title, agentName }, at);
    for (const { key, session: title, agent: agentName } of inbox.others)
      add({ key, status: 'needsYou', where: 'otherWindow', title, agentName });
    for (const keeper of running.background) {
      const { session: key, agentName } = keeper.about;
      const status = backgroundStateOf(keeper);
      const title = titleOf(key);
      if (title !== undefined && (status === 'needsYou' || status === 'working'))
        add({ key, status, where: 'background', title, agentName });
    }
    this.#sessions = found;
    if (JSON.stringify([...before.values()]) !== JSON.stringify([...found.values()])) this.#changed.fire();
    for (const session of found.values()) {
      const { key, status, where } = session;
      const isNew = before.get(key)?.where !== where || before.get(key)?.status !== status;
      if (where === 'background' && status === 'needsYou' && isNew) this.#didAsk.fire(session);
    }
  }
}

export const NO_ATTENTION = { needsYou: false };
