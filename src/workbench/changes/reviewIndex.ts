// Files to review in the sessions of this window.
import { join } from 'node:path';
import type { Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import type { ReviewFile } from '../../changes/review/reviewFile';
import type { SessionReview } from '../../changes/review/sessionReview';
import type { Conversation } from '../../client/conversation/conversation';
import { pathKey } from '../editor/openDocuments';
import type { Conversations } from '../sessions/conversations';

export interface WaitingFile {
  readonly conversation: Conversation;
  readonly review: SessionReview;
  readonly file: ReviewFile;
  readonly path: string;
}

export type ReviewedSessions = Pick<Conversations, 'list' | 'onDidChange'>;

export class ReviewIndex implements Disposable {
  readonly #conversations: ReviewedSessions;
  readonly #onDidChange = new Emitter<void>();
  readonly #subscription: Disposable;
  #files: readonly WaitingFile[] = [];
  #byPath = new Map<string, readonly WaitingFile[]>();
  #versions = '';

  readonly onDidChange: Event<void> = this.#onDidChange.event;

  constructor(conversations: ReviewedSessions) {
    this.#conversations = conversations;
    this.#subscription = conversations.onDidChange(() => this.#update());
    this.#update();
  }

  get files(): readonly WaitingFile[] {
    return this.#files;
  }

  get settled(): readonly string[] {
    return this.#conversations.list().flatMap(({ changes }) => changes.review?.settledPaths ?? []);
  }

  /** Returns the file in the newest session that changed it. */
  at(path: string): WaitingFile | undefined {
    return this.allAt(path).at(-1);
  }

  /** Returns the file in each session that changed it, newest last. */
  allAt(path: string): readonly WaitingFile[] {
    return this.#byPath.get(pathKey(path)) ?? [];
  }

  /** Returns the newest session in which an undo of the file can be redone. */
  undoneAt(path: string): Omit<WaitingFile, 'file'> | undefined {
    const key = pathKey(path);
    const found = this.#conversations.list().flatMap((conversation) => {
      const { review } = conversation.changes;
      const undone = review?.redoable.find((one) => pathKey(join(one.root, one.path)) === key);
      const isShown = undone?.isLast || this.at(path)?.conversation === conversation;
      return review && undone && isShown ? [{ conversation, review, path: join(undone.root, undone.path) }] : [];
    });
    return found.at(-1);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }

  #update(): void {
    const open = this.#conversations.list().filter(({ changes }) => changes.review !== undefined);
    const versions = open.map(({ key, changes }) => `${key}:${changes.version()}`).join(' ');
    if (versions === this.#versions) return;
    this.#versions = versions;
    this.#files = open.flatMap((conversation) => {
      const { review } = conversation.changes;
      if (!review) return [];
      return review.files.map((file) => ({ conversation, review, file, path: join(file.root, file.path) }));
    });
    this.#byPath = Map.groupBy(this.#files, ({ path }) => pathKey(path));
    this.#onDidChange.fire();
  }
}
