// A replay into a transcript that stands here already: what the agent repeats goes into a model beside it, and only what is missing is added in the end. What says how
// the session is now (commands, modes, settings, usage, title) is taken over at once.
import type { Dialect } from '../acp/dialect';
import type { Log } from '../base/log';
import type { SessionEvent } from '../session/event';
import { SessionModel } from '../session/model';
import { reconcile, type Transcript } from '../session/reconcile';
import { sameIds } from '../session/renewedIds';
import type { Entry } from '../session/state';
import { withoutSeed } from './seed';

const OF_THE_SESSION: ReadonlySet<SessionEvent['type']> = new Set([
  'commands',
  'modes',
  'mode',
  'config',
  'info',
  'usage',
]);

export interface ShadowOptions {
  readonly dialect: Dialect;
  readonly apply: (event: SessionEvent) => void;
  readonly log: Log;
}

export class Shadow {
  readonly #options: ShadowOptions;
  readonly #model = new SessionModel();

  constructor(options: ShadowOptions) {
    this.#options = options;
    this.#model.apply({ type: 'cleared', replay: true }, 0);
  }

  /** Takes the updates of the replay. */
  readonly take = (updates: readonly unknown[]): void => {
    const { dialect, apply, log } = this.#options;
    dialect.readUpdates(updates, {
      emit: (event) => {
        if (OF_THE_SESSION.has(event.type)) apply(event);
        else this.#model.apply(event, 0);
      },
      onTurnComplete: () => {},
      onState: () => {},
      log,
    });
  };

  /** What was repeated, as far as it has come. */
  get repeated(): readonly Entry[] {
    return this.#model.state.entries.map(asSaid);
  }

  /** Adds what was repeated and is not known. @returns how many events that took */
  settle(known: Transcript): number {
    const { repeated } = this;
    const missing = reconcile(known, { ...this.#model.state, entries: [...repeated] });
    this.#options.apply({ type: 'ids_renewed', known: sameIds(known.entries, repeated) });
    for (const event of missing) this.#options.apply(event);
    return missing.length;
  }
}

/** A message as the user wrote it, without what went along for a new session. */
function asSaid(entry: Entry): Entry {
  if (entry.kind !== 'user') return entry;
  const content = entry.content.map((block) =>
    block.type === 'text' ? { ...block, text: withoutSeed(block.text) } : block,
  );
  return { ...entry, content };
}
