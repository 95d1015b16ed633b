// Comments on agents' changes and plans, in VS Code's comment threads. All comments of a session go
// into its composer as one message.
import {
  type Comment,
  type CommentReply,
  type CommentThread,
  l10n,
  type Memento,
  Range,
  type TextDocument,
  Uri,
  workspace,
} from 'vscode';
import { Part } from '../../base/disposable';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { VERSION_SCHEME, versionOf } from '../changes/documents/versionDocuments';
import type { ReviewIndex } from '../changes/reviewIndex';
import type { Conversations } from '../sessions/conversations';
import { addComments, CommentThreads, OwnComment } from '../ui/fileMarks';
import { findLines, type KeptThread, keepComments, readComments } from './keptComments';

const CONTROLLER = 'parley-feedback';
const OWN_SCHEMES: ReadonlySet<string> = new Set(['parley-diff', 'parley-session']);
const MOST_LINES = 5;
const MAX_LINE = 200;

interface FeedbackOptions {
  readonly reviews: Pick<ReviewIndex, 'at' | 'onDidChange'>;
  readonly conversations: Pick<Conversations, 'find' | 'list' | 'onDidAdd' | 'peek'>;
  readonly memento: Pick<Memento, 'get' | 'update'>;
  readonly deliver: (conversation: Conversation, text: string) => Promise<void>;
  readonly onCount: (count: number) => void;
}

interface Subject {
  readonly session: string;
  /** The lines when the thread was created; undefined until they are read. */
  readonly lines: readonly string[] | undefined;
  readonly isOutdated: boolean;
}

export class Feedback extends Part<FeedbackOptions> {
  readonly #commentThreads: CommentThreads;
  readonly #threads = new Map<CommentThread, Subject>();
  #unrestored: readonly KeptThread[];

  constructor(options: FeedbackOptions) {
    super(options);
    const { reviews, conversations, memento } = options;
    this.#unrestored = readComments(memento);
    this.#commentThreads = this.own(
      new CommentThreads({
        id: CONTROLLER,
        label: l10n.t('Comments for Agents'),
        prompt: l10n.t('Comment for the agent'),
        isOffered: (uri) => this.#sessionOf(uri) !== undefined,
      }),
    );
    this.own(reviews.onDidChange(() => this.#commentThreads.offer()));
    this.own(conversations.onDidAdd(({ key }) => void this.#restore(key)));
    for (const { key } of conversations.list()) void this.#restore(key);
  }

  add({ thread, text }: CommentReply): void {
    const known = this.#threads.get(thread);
    const session = known?.session ?? this.#sessionOf(thread.uri)?.key;
    if (session === undefined || text.trim() === '') return;
    addComments([text], thread);
    if (!known) {
      this.#threads.set(thread, { session, lines: undefined, isOutdated: false });
      void this.#readLines(thread);
    }
    this.#update();
  }

  /** @param one a comment, or a thread with all of its comments */
  remove(one?: Comment | CommentThread): void {
    const whole = [...this.#threads.keys()].find((thread) => thread === one);
    if (whole) this.#discard(whole);
    if (!(one instanceof OwnComment)) return;
    const { thread } = one;
    thread.comments = thread.comments.filter((comment) => comment !== one);
    if (thread.comments.length === 0) this.#discard(thread);
    this.#update();
  }

  #discard(thread: CommentThread): void {
    this.#threads.delete(thread);
    thread.dispose();
    this.#update();
  }

  forget(sessions: readonly string[]): void {
    this.#unrestored = this.#unrestored.filter(({ session }) => !sessions.includes(session));
    for (const [thread, { session }] of this.#threads) {
      if (!sessions.includes(session)) continue;
      this.#threads.delete(thread);
      thread.dispose();
    }
    this.#update();
  }

  async send(): Promise<void> {
    const { conversations, deliver } = this.options;
    const bySession = Map.groupBy([...this.#threads], ([, { session }]) => session);
    for (const [session, threads] of bySession) {
      const conversation = conversations.find(session) ?? conversations.peek();
      if (!conversation) continue;
      const parts: string[] = [];
      for (const [thread, subject] of threads) parts.push(await textOf(thread, subject));
      await deliver(conversation, `${l10n.t('My comments:')}\n\n${parts.join('\n\n')}\n`);
      for (const [thread] of threads) this.#discard(thread);
    }
  }

  override dispose(): void {
    for (const thread of this.#threads.keys()) thread.dispose();
    this.#threads.clear();
    super.dispose();
  }

  #sessionOf(uri: Uri): Conversation | undefined {
    const { reviews, conversations } = this.options;
    if (uri.scheme === 'file') return reviews.at(uri.fsPath)?.conversation;
    if (uri.scheme === VERSION_SCHEME) return conversations.find(versionOf(uri)?.session ?? '');
    return OWN_SCHEMES.has(uri.scheme) ? conversations.peek() : undefined;
  }

  async #restore(session: string): Promise<void> {
    for (const stored of this.#unrestored.filter((one) => one.session === session)) {
      const uri = Uri.parse(stored.uri);
      const first = uri.scheme === 'file' ? findLines(await lineReader(uri), stored.lines, stored.first) : stored.first;
      if (this.isDisposed || !this.#unrestored.includes(stored)) continue;
      this.#unrestored = this.#unrestored.filter((one) => one !== stored);
      const isOutdated = first === undefined;
      const begin = first ?? stored.first;
      const range = new Range(begin, 0, begin + stored.last - stored.first, 0);
      const label = isOutdated ? l10n.t('Outdated: the lines have changed') : undefined;
      const thread = this.#commentThreads.restore(uri, range, stored.comments, label);
      this.#threads.set(thread, { session, lines: stored.lines, isOutdated });
      this.#update();
    }
  }

  async #readLines(thread: CommentThread): Promise<void> {
    const { first, last } = linesOf(thread);
    const lines = await readLines(thread.uri, first, last);
    const subject = this.#threads.get(thread);
    if (!subject || this.isDisposed) return;
    this.#threads.set(thread, { ...subject, lines });
    this.#save();
  }

  #update(): void {
    let count = 0;
    for (const thread of this.#threads.keys()) count += thread.comments.length;
    this.options.onCount(count);
    this.#save();
  }

  #save(): void {
    const threads = [...this.#threads].map(([thread, { session, lines = [] }]) => ({
      session,
      uri: thread.uri.toString(),
      ...linesOf(thread),
      lines,
      comments: wordsOf(thread),
    }));
    keepComments(this.options.memento, [...this.#unrestored, ...threads]);
  }
}

async function textOf(thread: CommentThread, { lines, isOutdated }: Subject): Promise<string> {
  const { uri } = thread;
  const { first, last } = linesOf(thread);
  const isPath = uri.scheme === 'file' || uri.scheme === VERSION_SCHEME || uri.scheme === 'parley-diff';
  const name = isPath ? workspace.asRelativePath(Uri.file(uri.fsPath)) : uri.path.slice(1);
  const place = `\`${name}:${first + 1}${last > first ? `–${last + 1}` : ''}\``;
  const isBefore = uri.scheme === VERSION_SCHEME;
  const head = isOutdated
    ? l10n.t('{0} (the lines have changed since)', place)
    : isBefore
      ? l10n.t('{0} (before the change)', place)
      : place;
  // Other texts never change, and may no longer exist.
  const isLive = (uri.scheme === 'file' && !isOutdated) || lines === undefined;
  const quoted = isLive ? await readLines(uri, first, last) : lines;
  return [head, ...quoted.map((line) => `> ${line}`), '', ...wordsOf(thread)].join('\n');
}

/** 0-based. */
function linesOf({ range }: CommentThread): { readonly first: number; readonly last: number } {
  return { first: range?.start.line ?? 0, last: range?.end.line ?? 0 };
}

function wordsOf({ comments }: CommentThread): readonly string[] {
  return comments.map(({ body }) => (typeof body === 'string' ? body : body.value).trim());
}

async function readLines(uri: Uri, first: number, last: number): Promise<readonly string[]> {
  const lineAt = await lineReader(uri);
  const lines: string[] = [];
  for (let line = first; line <= Math.min(last, first + MOST_LINES - 1); line++) {
    const text = lineAt(line);
    if (text !== undefined) lines.push(text);
  }
  return lines;
}

async function lineReader(uri: Uri): Promise<(line: number) => string | undefined> {
  let document: TextDocument | undefined;
  try {
    document = await workspace.openTextDocument(uri);
  } catch {}
  return (line) =>
    document && line >= 0 && line < document.lineCount ? oneLine(document.lineAt(line).text, MAX_LINE) : undefined;
}
