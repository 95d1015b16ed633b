// What a conversation of a test needs to know what its turns change on disk: real states in a store
// of the test, which the test can hold up.

import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { openFolderStates } from '../../../src/changes/folderStates';
import type { FolderStates, Snapshot } from '../../../src/changes/model/fileChange';
import type { ChangeServices } from '../../../src/client/changes/changeServices';
import { NodeFiles } from './nodeFiles';

export class TestChangeServices implements ChangeServices {
  readonly asked: string[] = [];
  readonly edited = new Set<string>();
  /** By path, ms since 1970. */
  readonly editedAt = new Map<string, number>();
  enabled = true;
  /** Environment of git. */
  env = process.env;
  readonly storage: string;
  readonly #waiting: { readonly count: number; readonly asked: Deferred<void> }[] = [];
  #gate: Deferred<void> | undefined;
  #start: Deferred<void> | undefined;

  constructor(storage: string) {
    this.storage = storage;
  }

  readonly isEnabled = (): boolean => this.enabled;
  readonly userEdits = {
    since: (at: number): ReadonlySet<string> =>
      new Set([...this.edited, ...[...this.editedAt].filter(([, time]) => time >= at).map(([path]) => path)]),
  };
  readonly files = new NodeFiles();
  readonly kept = new Map<string, string>();
  readonly reviews = {
    read: async (key: string): Promise<string | undefined> => this.kept.get(key),
    write: async (key: string, text: string): Promise<void> => void this.kept.set(key, text),
    remove: async (key: string): Promise<void> => void this.kept.delete(key),
  };

  readonly openStates = async (session: string, roots: readonly string[]): Promise<FolderStates> => {
    const states = openFolderStates({ roots, session, storage: this.storage, env: this.env, log: silentLog });
    const take = states.take.bind(states);
    return Object.assign(states, {
      take: async (signal?: AbortSignal): Promise<Snapshot> => {
        this.asked.push('take');
        for (const { count, asked } of this.#waiting) if (this.asked.length >= count) asked.resolve();
        await this.#start?.promise;
        const snapshot = await take(signal);
        await this.#gate?.promise;
        return snapshot;
      },
    });
  };

  untilAsked(count: number): Promise<void> {
    const asked = new Deferred<void>();
    if (this.asked.length >= count) asked.resolve();
    this.#waiting.push({ count, asked });
    return asked.promise;
  }

  holdBack(): () => void {
    const start = new Deferred<void>();
    this.#start = start;
    return () => {
      this.#start = undefined;
      start.resolve();
    };
  }

  holdUp(): () => void {
    const gate = new Deferred<void>();
    this.#gate = gate;
    return () => {
      this.#gate = undefined;
      gate.resolve();
    };
  }
}
