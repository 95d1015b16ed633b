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
  readonly keep: (key: string, marks: { readonly unread: boolean; readonly files: number }) => void;
}

interface Known {
  row: LiveSession;
  /** For detecting changes: the last ended turn, and the open questions. */
  endedTurn: string | undefined;
  questions: ReadonlySet<string>;
  kept: string;
}

export class LiveSessions extends Configured<LiveSessionsOptions> implements Disposable {
  readonly #known = new Map<string, Known>();
  readonly #dirty = new Set<string>();
  readonly #changed = new Emitter<ReadonlySet<string>>();
  readonly #news = new Emitter<SessionNews>();
  readonly #listening: readonly Disposable[];
  #timer: Disposable | undefined;

  constructor(options: LiveSessionsOptions) {
    super(options);
    const { conversations } = options;
    const note = (key: string): void => this.#note(key);
    this.#listening = [
      conversations.onDidChange(note),
      conversations.onDidActivate(note),
      conversations.onDidAdd(({ key }) => note(key)),
      conversations.onDidRemove(({ key }) => note(key)),
    ];
    for (const { key } of conversations.list()) note(key);
  }

  readonly onDidChange: Event<ReadonlySet<string>> = this.#changed.event;

  readonly onNews: Event<SessionNews> = this.#news.event;

  get rows(): readonly LiveSession[] {
    return [...this.#known.values()].map(({ row }) => row);
  }

  get(key: string): LiveSession | undefined {
    return this.#known.get(key)?.row;
  }

  seen(key: string): void {
    this.#note(key);
  }

  dispose(): void {
    this.#timer?.dispose();
    for (const listening of this.#listening) listening.dispose();
    this.#changed.dispose();
    this.#news.dispose();
  }

  #note(key: string): void {
    this.#dirty.add(key);
    this.#timer ??= this.options.schedule(() => {
      this.#timer = undefined;
      this.#look();
    }, TOGETHER_MS);
  }

  #look(): void {
    const changed = new Set<string>();
    const news: SessionNews[] = [];
    for (const key of this.#dirty) {
      const conversation = this.options.conversations.find(key);
      const known = this.#known.get(key);
      if (!conversation || !isWorthListing(conversation)) {
        if (this.#known.delete(key)) changed.add(key);
        continue;
      }
      const next = this.#read(conversation, known, news);
      this.#known.set(key, next);
      if (!known || !isSame(known.row, next.row)) changed.add(key);
    }
    this.#dirty.clear();
    if (changed.size > 0) this.#changed.fire(changed);
    for (const one of news) this.#news.fire(one);
  }

  #read(conversation: Conversation, known: Known | undefined, news: SessionNews[]): Known {
    const { key, agent, cwd, model } = conversation;
    const { isShown, now, titleOf, wasUnread, keep } = this.options;
    const { state } = model;
    const last = state.turns.at(-1);
    const endedTurn = last?.endedAt === undefined || last.replayed ? undefined : last.id;
    const status = sessionStatusOf(conversation);
    const questions = new Set([...state.permissions.keys(), ...state.elicitations.keys()]);
    if (status === 'needsYou' && questions.size === 0) questions.add(status);
    const hasEnded = known !== undefined && endedTurn !== undefined && endedTurn !== known.endedTurn;
    const isAsked = known !== undefined && [...questions].some((id) => !known.questions.has(id));
    const shown = isShown(key);
    const before = known?.row.unread ?? wasUnread(key);
    const unread = !shown && (before || hasEnded);
    if (hasEnded) news.push({ key, kind: 'turn', ranMs: (last?.endedAt ?? 0) - (last?.startedAt ?? 0) });
    if (isAsked) news.push({ key, kind: 'question', ranMs: 0 });
    const files = hasEnded || !known ? changedFilesOf(conversation) : known.row.files;
    const row: LiveSession = {
      key,
      status,
      unread,
      title: titleOf(conversation),
      agentId: agent.id,
      agentName: agent.name,
      cwd,
      at: usedAt(conversation) ?? known?.row.at ?? now(),
      files,
    };
    const kept = `${unread} ${files}`;
    if (state.turns.length > 0 && kept !== (known?.kept ?? `${before} -1`)) keep(key, { unread, files });
    return { row, endedTurn, questions, kept };
  }
}

function isWorthListing({ model, queue, connection }: Conversation): boolean {
  return (
    model.state.entries.length > 0 ||
    queue.items.length > 0 ||
    connection.kind === 'failed' ||
    connection.kind === 'authRequired'
  );
}

function isSame(a: LiveSession, b: LiveSession): boolean {
  return (Object.keys(a) as (keyof LiveSession)[]).every((field) => a[field] === b[field]);
}
