// Comments on lines of what agents changed, and on their plans, in VS Code's own comment threads. All
// of a session go together as one message into its composer, for the user to send.
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
import { type Disposable, DisposableStore } from '../../base/disposable';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { VERSION_SCHEME, versionOf } from '../changes/documents/versionDocuments';
import type { ReviewIndex } from '../changes/reviewIndex';
import type { Conversations } from '../sessions/conversations';
import { addComments, CommentThreads, OwnComment } from '../ui/commentThreads';
import { findLines } from './findLines';
import { type KeptThread, keepComments, readComments } from './keptComments';

/** The id that `when` clauses of the menus of threads name. */
const CONTROLLER = 'parley-feedback';
/** What tool calls showed, sessions and plans as texts: documents of the active session. */
const OWN_SCHEMES: ReadonlySet<string> = new Set(['parley-diff', 'parley-session']);
/** Lines of a document that a comment repeats, and characters of each. */
const MOST_LINES = 5;
const MAX_LINE = 200;

export interface FeedbackOptions {
  readonly reviews: Pick<ReviewIndex, 'at' | 'onDidChange'>;
  readonly conversations: Pick<Conversations, 'find' | 'list' | 'onDidAdd' | 'peek'>;
  /** Where comments outlive the window. */
  readonly memento: Pick<Memento, 'get' | 'update'>;
  /** Puts a text into the composer of a session and shows it. */
  readonly deliver: (conversation: Conversation, text: string) => Promise<void>;
  /** Told whether there are comments to send. */
  readonly onCount: (count: number) => void;
}

/** What is known of a thread with comments. */
interface Subject {
  /** The session that they are for. */
  readonly session: string;
  /** What stood at its lines when it began; undefined until that is read. */
  readonly lines: readonly string[] | undefined;
  /** The lines have changed since. */
  readonly isOutdated: boolean;
}

export class Feedback implements Disposable {
  readonly #options: FeedbackOptions;
  readonly #lifetime = new DisposableStore();
  readonly #shown: CommentThreads;
  readonly #threads = new Map<CommentThread, Subject>();
  /** Of sessions that have not returned since the window was opened. */
  #waiting: readonly KeptThread[];

  constructor(options: FeedbackOptions) {
    this.#options = options;
    const { reviews, conversations, memento } = options;
    this.#waiting = readComments(memento);
    this.#shown = this.#lifetime.add(
      new CommentThreads({
        id: CONTROLLER,
        label: l10n.t('Comments for Agents'),
        prompt: l10n.t('Comment for the agent'),
        isOffered: (uri) => this.#sessionOf(uri) !== undefined,
      }),
    );
    this.#lifetime.add(reviews.onDidChange(() => this.#shown.offer()));
    this.#lifetime.add(conversations.onDidAdd(({ key }) => void this.#restore(key)));
    for (const { key } of conversations.list()) void this.#restore(key);
  }

  /** The user has written a comment. */
  add({ thread, text }: CommentReply): void {
    const known = this.#threads.get(thread);
    const session = known?.session ?? this.#sessionOf(thread.uri)?.key;
    if (session === undefined || text.trim() === '') return;
    addComments([text], thread);
    if (!known) {
      this.#threads.set(thread, { session, lines: undefined, isOutdated: false });
      void this.#readLines(thread);
    }
    this.#tell();
  }

  /** Removes a comment, and its thread with the last one. */
  remove(comment: Comment): void {
    if (!(comment instanceof OwnComment)) return;
    const { thread } = comment;
    thread.comments = thread.comments.filter((one) => one !== comment);
    if (thread.comments.length === 0) this.discard(thread);
    this.#tell();
  }

  /** Removes a thread with its comments. */
  discard(thread: CommentThread): void {
    this.#threads.delete(thread);
    thread.dispose();
    this.#tell();
  }

  /** Removes the comments for sessions that are deleted. */
  forget(sessions: readonly string[]): void {
    this.#waiting = this.#waiting.filter(({ session }) => !sessions.includes(session));
    for (const [thread, { session }] of this.#threads) {
      if (!sessions.includes(session)) continue;
      this.#threads.delete(thread);
      thread.dispose();
    }
    this.#tell();
  }

  /** Puts all comments into the composers of their sessions, one message for each. */
  async send(): Promise<void> {
    const { conversations, deliver } = this.#options;
    const bySession = Map.groupBy([...this.#threads], ([, { session }]) => session);
    for (const [session, threads] of bySession) {
      // What was said of a session that is closed helps the one that the user is in.
      const conversation = conversations.find(session) ?? conversations.peek();
      if (!conversation) continue;
      const parts: string[] = [];
      for (const [thread, subject] of threads) parts.push(await textOf(thread, subject));
      await deliver(conversation, `${l10n.t('My comments:')}\n\n${parts.join('\n\n')}\n`);
      for (const [thread] of threads) this.discard(thread);
    }
  }

  dispose(): void {
    for (const thread of this.#threads.keys()) thread.dispose();
    this.#threads.clear();
    this.#lifetime.dispose();
  }

  /** The session that a document shows something of. */
  #sessionOf(uri: Uri): Conversation | undefined {
    const { reviews, conversations } = this.#options;
    if (uri.scheme === 'file') return reviews.at(uri.fsPath)?.conversation;
    if (uri.scheme === VERSION_SCHEME) return conversations.find(versionOf(uri)?.session ?? '');
    return OWN_SCHEMES.has(uri.scheme) ? conversations.peek() : undefined;
  }

  /** Shows the comments for a session that has returned. */
  async #restore(session: string): Promise<void> {
    for (const kept of this.#waiting.filter((one) => one.session === session)) {
      const uri = Uri.parse(kept.uri);
      const first = uri.scheme === 'file' ? findLines(await lineReader(uri), kept.lines, kept.first) : kept.first;
      // Deleted or shown meanwhile.
      if (this.#lifetime.isDisposed || !this.#waiting.includes(kept)) continue;
      this.#waiting = this.#waiting.filter((one) => one !== kept);
      const isOutdated = first === undefined;
      const begin = first ?? kept.first;
      const range = new Range(begin, 0, begin + kept.last - kept.first, 0);
      const label = isOutdated ? l10n.t('Outdated: the lines have changed') : undefined;
      const thread = this.#shown.restore(uri, range, kept.comments, label);
      this.#threads.set(thread, { session, lines: kept.lines, isOutdated });
      this.#tell();
    }
  }

  async #readLines(thread: CommentThread): Promise<void> {
    const { first, last } = linesOf(thread);
    const lines = await readLines(thread.uri, first, last);
    const subject = this.#threads.get(thread);
    if (!subject || this.#lifetime.isDisposed) return;
    this.#threads.set(thread, { ...subject, lines });
    this.#keep();
  }

  #tell(): void {
    let count = 0;
    for (const thread of this.#threads.keys()) count += thread.comments.length;
    this.#options.onCount(count);
    this.#keep();
  }

  #keep(): void {
    const threads = [...this.#threads].map(([thread, { session, lines = [] }]) => ({
      session,
      uri: thread.uri.toString(),
      ...linesOf(thread),
      lines,
      comments: wordsOf(thread),
    }));
    keepComments(this.#options.memento, [...this.#waiting, ...threads]);
  }
}

/** The place of a thread, what stands there, and what the user has said of it. */
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
  // Texts other than files never change, and may be gone.
  const isLive = (uri.scheme === 'file' && !isOutdated) || lines === undefined;
  const quoted = isLive ? await readLines(uri, first, last) : lines;
  return [head, ...quoted.map((line) => `> ${line}`), '', ...wordsOf(thread)].join('\n');
}

/** The lines of a thread, from 0. */
function linesOf({ range }: CommentThread): { readonly first: number; readonly last: number } {
  return { first: range?.start.line ?? 0, last: range?.end.line ?? 0 };
}

function wordsOf({ comments }: CommentThread): readonly string[] {
  return comments.map(({ body }) => (typeof body === 'string' ? body : body.value).trim());
}

/** Returns the first of some lines of a document, each on one line; none where it is gone. */
async function readLines(uri: Uri, first: number, last: number): Promise<readonly string[]> {
  const lineAt = await lineReader(uri);
  const lines: string[] = [];
  for (let line = first; line <= Math.min(last, first + MOST_LINES - 1); line++) {
    const text = lineAt(line);
    if (text !== undefined) lines.push(text);
  }
  return lines;
}

/** Returns what reads the lines of a document as comments repeat them; undefined beyond its end. */
async function lineReader(uri: Uri): Promise<(line: number) => string | undefined> {
  let document: TextDocument | undefined;
  try {
    document = await workspace.openTextDocument(uri);
  } catch {
    // It is gone.
  }
  return (line) =>
    document && line >= 0 && line < document.lineCount ? oneLine(document.lineAt(line).text, MAX_LINE) : undefined;
}
