// Comments on lines of what agents changed, and on their plans, in VS Code's own comment threads. All
// of a session go together as one message into its composer, for the user to send.
import { type Comment, type CommentReply, type CommentThread, l10n, Uri, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { VERSION_SCHEME, versionOf } from '../changes/documents/versionDocuments';
import type { ReviewIndex } from '../changes/reviewIndex';
import type { Conversations } from '../sessions/conversations';
import { addComment, CommentThreads, OwnComment } from '../ui/commentThreads';

/** The id that `when` clauses of the menus of threads name. */
const CONTROLLER = 'parley-feedback';
/** What tool calls showed, sessions and plans as texts: documents of the active session. */
const OWN_SCHEMES: ReadonlySet<string> = new Set(['parley-diff', 'parley-session']);
/** Lines of a document that a comment repeats, and characters of each. */
const MOST_LINES = 5;
const MAX_LINE = 200;

export interface FeedbackOptions {
  readonly reviews: Pick<ReviewIndex, 'at' | 'onDidChange'>;
  readonly conversations: Pick<Conversations, 'find' | 'peek'>;
  /** Puts a text into the composer of a session and shows it. */
  readonly deliver: (conversation: Conversation, text: string) => Promise<void>;
  /** Told whether there are comments to send. */
  readonly onCount: (count: number) => void;
}

export class Feedback implements Disposable {
  readonly #options: FeedbackOptions;
  readonly #lifetime = new DisposableStore();
  /** With comments, by the session that they are for. */
  readonly #threads = new Map<CommentThread, string>();

  constructor(options: FeedbackOptions) {
    this.#options = options;
    const threads = this.#lifetime.add(
      new CommentThreads({
        id: CONTROLLER,
        label: l10n.t('Comments for Agents'),
        prompt: l10n.t('Comment for the agent'),
        isOffered: (uri) => this.#sessionOf(uri) !== undefined,
      }),
    );
    this.#lifetime.add(options.reviews.onDidChange(() => threads.offer()));
  }

  /** The user has written a comment. */
  add({ thread, text }: CommentReply): void {
    const session = this.#threads.get(thread) ?? this.#sessionOf(thread.uri)?.key;
    if (session === undefined || text.trim() === '') return;
    addComment(text, thread);
    this.#threads.set(thread, session);
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

  /** Puts all comments into the composers of their sessions, one message for each. */
  async send(): Promise<void> {
    const { conversations, deliver } = this.#options;
    const bySession = Map.groupBy([...this.#threads], ([, session]) => session);
    for (const [session, threads] of bySession) {
      // What was said of a session that is closed helps the one that the user is in.
      const conversation = conversations.find(session) ?? conversations.peek();
      if (!conversation) continue;
      const parts: string[] = [];
      for (const [thread] of threads) parts.push(await textOf(thread));
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

  #tell(): void {
    let count = 0;
    for (const thread of this.#threads.keys()) count += thread.comments.length;
    this.#options.onCount(count);
  }
}

/** The place of a thread, what stands there, and what the user has said of it. */
async function textOf({ uri, range, comments: said }: CommentThread): Promise<string> {
  const path = uri.scheme === 'file' || uri.scheme === VERSION_SCHEME || uri.scheme === 'parley-diff';
  const name = path ? workspace.asRelativePath(Uri.file(uri.fsPath)) : uri.path.slice(1);
  const first = (range?.start.line ?? 0) + 1;
  const last = (range?.end.line ?? 0) + 1;
  const place = `\`${name}:${first}${last > first ? `–${last}` : ''}\``;
  const head = uri.scheme === VERSION_SCHEME ? l10n.t('{0} (before the change)', place) : place;
  const quoted = await linesOf(uri, first, Math.min(last, first + MOST_LINES - 1));
  const words = said.map(({ body }) => (typeof body === 'string' ? body : body.value).trim());
  return [head, ...quoted.map((line) => `> ${line}`), '', ...words].join('\n');
}

async function linesOf(uri: Uri, first: number, last: number): Promise<readonly string[]> {
  try {
    const document = await workspace.openTextDocument(uri);
    const lines: string[] = [];
    for (let line = first; line <= Math.min(last, document.lineCount); line++)
      lines.push(oneLine(document.lineAt(line - 1).text, MAX_LINE));
    return lines;
  } catch {
    return []; // it is gone
  }
}
