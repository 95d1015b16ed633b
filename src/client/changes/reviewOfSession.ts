// The review of one session: read from the disk when it is first needed, and stored after each
// change.

import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { FolderStates, WorkingFiles } from '../../changes/model/fileChange';
import type { FinishedTurn } from '../../changes/review/reviewFile';
import { SessionReview } from '../../changes/review/sessionReview';
import type { ReviewStorage } from './changeServices';

export interface ReviewOfSessionOptions {
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

  get current(): SessionReview | undefined {
    return this.#review;
  }

  /** Loads a stored review with waiting files. Never rejects. */
  async loadKept(): Promise<void> {
    const { key, storage, log } = this.#options;
    try {
      if ((await storage.read(key)) !== undefined && !this.#isDisposed) await this.load();
    } catch (error) {
      log.warn(`review of session: ${messageOf(error)}`);
    }
  }

  load(): Promise<SessionReview> {
    this.#loading ??= this.#load();
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

  /** A damaged file counts as none: waiting files are still on disk. */
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
