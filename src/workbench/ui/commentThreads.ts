// VS Code's comment threads, with comments of the user alone.
import {
  type Comment,
  type CommentAuthorInformation,
  CommentMode,
  type CommentThread,
  CommentThreadCollapsibleState,
  comments,
  l10n,
  Range,
  type TextDocument,
  type Uri,
} from 'vscode';
import type { Disposable } from '../../base/disposable';

export interface CommentThreadsOptions {
  /** Named in `when` clauses of menus. */
  readonly id: string;
  readonly label: string;
  readonly prompt: string;
  readonly isOffered: (uri: Uri) => boolean;
}

/** Its buttons get it as their argument. */
export class OwnComment implements Comment {
  readonly mode = CommentMode.Preview;
  readonly author: CommentAuthorInformation = { name: l10n.t('You') };
  /** VS Code shows a string as plain text. */
  readonly body: string;
  readonly thread: CommentThread;

  constructor(body: string, thread: CommentThread) {
    this.body = body;
    this.thread = thread;
  }
}

export function addComments(bodies: readonly string[], thread: CommentThread): void {
  thread.comments = [...thread.comments, ...bodies.map((body) => new OwnComment(body, thread))];
  thread.collapsibleState = CommentThreadCollapsibleState.Expanded;
}

export class CommentThreads implements Disposable {
  readonly #controller: ReturnType<typeof comments.createCommentController>;
  readonly #options: CommentThreadsOptions;

  constructor(options: CommentThreadsOptions) {
    this.#options = options;
    const { id, label, prompt } = options;
    this.#controller = comments.createCommentController(id, label);
    this.#controller.options = { prompt, placeHolder: prompt };
    this.offer();
  }

  offer(): void {
    const { isOffered } = this.#options;
    // Setting it again makes VS Code ask again.
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: ({ uri, lineCount }: TextDocument) =>
        isOffered(uri) ? [new Range(0, 0, Math.max(0, lineCount - 1), 0)] : [],
    };
  }

  restore(uri: Uri, range: Range, bodies: readonly string[], label: string | undefined): CommentThread {
    const thread = this.#controller.createCommentThread(uri, range, []);
    addComments(bodies, thread);
    if (label !== undefined) thread.label = label;
    return thread;
  }

  dispose(): void {
    this.#controller.dispose();
  }
}
