// The sessions of this window for the list. Reads only changed ones, a few times a second.
import { Configured, type Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import type { Conversation } from '../../client/conversation/conversation';
import { changedFilesOf, type SessionStatus, sessionStatusOf, usedAt } from '../../client/view/sessionStatus';
import type { Conversations } from '../sessions/conversations';

const TOGETHER_MS = 150;

export interface LiveSession {
  readonly key: string;
  readonly status: SessionStatus;
  readonly unread: boolean;
  readonly title: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly cwd: string;
  /** ms since 1970. */
  readonly at: number;
  readonly files: number;
}

export interface SessionNews {
  readonly key: string;
  /** `turn`: a turn ended; `question`: another question or sign-in is open. */
  readonly kind: 'turn' | 'question';
  readonly ranMs: number;
}

export interface Clock {
  readonly now: () => number;
  readonly schedule: (run: () => void, ms: number) => Disposable;
}

interface LiveSessionsOptions extends Clock {
  readonly conversations: Pick<
    Conversations,
    'list' | 'find' | 'onDidChange' | 'onDidAdd' | 'onDidRemove' | 'onDidActivate'
  >;
  readonly titleOf: (conversation: Conversation) => string;
  readonly isShown: (key: string) => boolean;
  readonly wasUnread: (key: string) => boolean;
  readonly saveMarks: (key: string, marks: { readonly unread: boolean; readonly files: number }) => void;
}

interface ListedSession {
  row: LiveSession;
  /** For detecting changes: the last ended turn, and the open questions. */
  endedTurn: string | undefined;
  questions: ReadonlySet<string>;
  savedMarks: string;
}

export class LiveSessions extends Configured<LiveSessionsOptions> implements Disposable {
  readonly #listed = new Map<string, ListedSession>();
  readonly #dirty = new Set<string>();
  readonly #changed = new Emitter<ReadonlySet<string>>();
  readonly #news = new Emitter<SessionNews>();
  readonly #subscriptions: readonly Disposable[];
  #timer: Disposable | undefined;

  constructor(options: LiveSessionsOptions) {
    super(options);
    const { conversations } = options;
    const markChanged = (key: string): void => this.#markChanged(key);
    this.#subscriptions = [
      conversations.onDidChange(markChanged),
      conversations.onDidActivate(markChanged),
      conversations.onDidAdd(({ key }) => markChanged(key)),
      conversations.onDidRemove(({ key }) => markChanged(key)),
    ];
    for (const { key } of conversations.list()) markChanged(key);
  }

  readonly onDidChange: Event<ReadonlySet<string>> = this.#changed.event;

  readonly onNews: Event<SessionNews> = this.#news.event;

  get rows(): readonly LiveSession[] {
    return [...this.#listed.values()].map(({ row }) => row);
  }

  get(key: string): LiveSession | undefined {
    return this.#listed.get(key)?.row;
  }

  seen(key: string): void {
    this.#markChanged(key);
  }

  dispose(): void {
    this.#timer?.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
    this.#news.dispose();
  }

  #markChanged(key: string): void {
    this.#dirty.add(key);
    this.#timer ??= this.options.schedule(() => {
      this.#timer = undefined;
      this.#update();
    }, TOGETHER_MS);
  }

  #update(): void {
    const changed = new Set<string>();
    const news: SessionNews[] = [];
    for (const key of this.#dirty) {
      const conversation = this.options.conversations.find(key);
      const previous = this.#listed.get(key);
      if (!conversation || !isListed(conversation)) {
        if (this.#listed.delete(key)) changed.add(key);
        continue;
      }
      const next = this.#read(conversation, previous, news);
      this.#listed.set(key, next);
      if (!previous || !equalRows(previous.row, next.row)) changed.add(key);
    }
    this.#dirty.clear();
    if (changed.size > 0) this.#changed.fire(changed);
    for (const one of news) this.#news.fire(one);
  }

  #read(conversation: Conversation, previous: ListedSession | undefined, news: SessionNews[]): ListedSession {
    const { key, agent, cwd, model } = conversation;
    const { isShown, now, titleOf, wasUnread, saveMarks } = this.options;
    const { state } = model;
    const last = state.turns.at(-1);
    const endedTurn = last?.endedAt === undefined || last.replayed ? undefined : last.id;
    const status = sessionStatusOf(conversation);
    const questions = new Set([...state.permissions.keys(), ...state.elicitations.keys()]);
    if (status === 'needsYou' && questions.size === 0) questions.add(status);
    const hasEnded = previous !== undefined && endedTurn !== undefined && endedTurn !== previous.endedTurn;
    const isAsked = previous !== undefined && [...questions].some((id) => !previous.questions.has(id));
    const shown = isShown(key);
    const before = previous?.row.unread ?? wasUnread(key);
    const unread = !shown && (before || hasEnded);
    if (hasEnded) news.push({ key, kind: 'turn', ranMs: (last?.endedAt ?? 0) - (last?.startedAt ?? 0) });
    if (isAsked) news.push({ key, kind: 'question', ranMs: 0 });
    const files = hasEnded || !previous ? changedFilesOf(conversation) : previous.row.files;
    const row: LiveSession = {
      key,
      status,
      unread,
      title: titleOf(conversation),
      agentId: agent.id,
      agentName: agent.name,
      cwd,
      at: usedAt(conversation) ?? previous?.row.at ?? now(),
      files,
    };
    const savedMarks = `${unread} ${files}`;
    if (state.turns.length > 0 && savedMarks !== (previous?.savedMarks ?? `${before} -1`))
      saveMarks(key, { unread, files });
    return { row, endedTurn, questions, savedMarks };
  }
}

function isListed({ model, queue, connection }: Conversation): boolean {
  return (
    model.state.entries.length > 0 ||
    queue.items.length > 0 ||
    connection.kind === 'failed' ||
    connection.kind === 'authRequired'
  );
}

function equalRows(a: LiveSession, b: LiveSession): boolean {
  return (Object.keys(a) as (keyof LiveSession)[]).every((field) => a[field] === b[field]);
}
