// The review of one session: read from the disk when it is first needed, and stored after each
// change.

import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { FolderStates } from '../../changes/model/folderStore';
import type { WorkingFiles } from '../../changes/model/workingFiles';
import type { FinishedTurn } from '../../changes/review/reviewFile';
import { SessionReview } from '../../changes/review/sessionReview';
import type { ReviewStorage } from './changeServices';

export interface ReviewOfSessionOptions {
  /** Ours of the session. */
  readonly key: string;
  readonly states: () => Promise<FolderStates>;
  readonly files: WorkingFiles;
  readonly storage: ReviewStorage;
  readonly onChange: () => void;
  readonly log: Log;
}

export class ReviewOfSession implements Disposable {
  readonly #options: ReviewOfSessionOptions;
  #loading: Promise<SessionReview> | undefined;
  #review: SessionReview | undefined;
  #isDisposed = false;

  constructor(options: ReviewOfSessionOptions) {
    this.#options = options;
  }

  /** The review, once it was read. */
  get current(): SessionReview | undefined {
    return this.#review;
  }

  /** Reads the review where something waits in it; nothing else is run for that. Never rejects. */
  async loadKept(): Promise<void> {
    const { key, storage, log } = this.#options;
    try {
      if ((await storage.read(key)) !== undefined && !this.#isDisposed) await this.load();
    } catch (error) {
      log.warn(`review of session: ${messageOf(error)}`);
    }
  }

  /** Returns the review. @throws what opens the states throws */
  load(): Promise<SessionReview> {
    this.#loading ??= this.#load();
    // It is tried again.
    this.#loading.catch(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async turnEnded(turn: FinishedTurn): Promise<void> {
    await (await this.load()).turnEnded(turn);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#review?.dispose();
  }

  async #load(): Promise<SessionReview> {
    const { states, files, onChange } = this.#options;
    const review = new SessionReview({
      states: await states(),
      files,
      kept: await this.#read(),
      save: (kept) => this.#save(JSON.stringify(kept), kept.files.length + kept.settled.length === 0),
    });
    this.#review = review;
    review.onDidChange(onChange);
    if (this.#isDisposed) review.dispose();
    else onChange();
    return review;
  }

  /** A file that is damaged counts as none: what waits is only a list of what is on disk. */
  async #read(): Promise<unknown> {
    const { key, storage, log } = this.#options;
    try {
      const text = await storage.read(key);
      return text === undefined ? undefined : JSON.parse(text);
    } catch (error) {
      log.warn(`review of session: ${messageOf(error)}`);
      return undefined;
    }
  }

  async #save(text: string, isEmpty: boolean): Promise<void> {
    const { key, storage, log } = this.#options;
    try {
      await (isEmpty ? storage.remove(key) : storage.write(key, text));
    } catch (error) {
      log.error(`review of session: ${messageOf(error)}`);
    }
  }
}
