// Work on changed files that the user started: one at a time, with its progress.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { ChangesWorkView } from '../../panel/contract';

/** Tells how far work is, in files. */
export type Progress = (done: number, total: number) => void;

export class UserWork {
  readonly #onChange: () => void;
  readonly #onEnd: (kind: ChangesWorkView['kind']) => Promise<void>;
  #work: { readonly view: ChangesWorkView; readonly abort: AbortController } | undefined;

  /** @param onEnd is waited for by who asked for the work, not by the next one; never rejects */
  constructor(onChange: () => void, onEnd: (kind: ChangesWorkView['kind']) => Promise<void>) {
    this.#onChange = onChange;
    this.#onEnd = onEnd;
  }

  get view(): ChangesWorkView | undefined {
    return this.#work?.view;
  }

  /**
   * Runs work, and shows how far it is.
   * @param run gets what it tells its progress with, and what is aborted when the user cancels
   * @throws ParleyError `changes-busy` where other work runs; what `run` throws
   */
  async run<T>(
    kind: ChangesWorkView['kind'],
    run: (progress: Progress, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#work)
      throw new ParleyError('changes-busy', localizable('Another operation on the changed files is still running.'));
    const abort = new AbortController();
    const show = (view: ChangesWorkView): void => {
      this.#work = { view, abort };
      this.#onChange();
    };
    show({ kind });
    try {
      return await run((done, total) => show({ kind, done, total }), abort.signal);
    } finally {
      this.#work = undefined;
      this.#onChange();
      await this.#onEnd(kind);
    }
  }

  cancel(): void {
    this.#work?.abort.abort();
  }
}
