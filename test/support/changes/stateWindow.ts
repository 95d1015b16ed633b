// A window in a separate process that takes and holds states of a folder, for tests that kill it or
// run another one beside it.
import type { FileVersion, Snapshot } from '../../../src/changes/model/fileChange';
import type { StoreWorker } from '../store/spawnWorker';

export type WindowStep =
  | { readonly do: 'turn'; readonly files: Readonly<Record<string, string>>; readonly hold?: string }
  | { readonly do: 'write'; readonly content: string }
  | { readonly do: 'release'; readonly name: string }
  | { readonly do: 'collect' };

export interface WindowAnswer {
  readonly snapshot?: Snapshot;
  readonly version?: FileVersion;
}

export class StateWindow {
  readonly #worker: StoreWorker;

  constructor(worker: StoreWorker) {
    this.#worker = worker;
  }

  tell(step: WindowStep): void {
    this.#worker.goOn(JSON.stringify(step));
  }

  async answer(): Promise<WindowAnswer | undefined> {
    return (await this.#worker.next()) as WindowAnswer | undefined;
  }

  async run(step: WindowStep): Promise<WindowAnswer> {
    this.tell(step);
    const answer = await this.answer();
    if (!answer) throw new Error('the window has ended');
    return answer;
  }

  kill(): Promise<void> {
    return this.#worker.end();
  }
}
