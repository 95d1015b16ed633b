// Random operations compared with a simple model, through reopening and locks of the file.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SessionEvent } from '../../../src/session/events/event';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, queued, said, textIn } from '../../support/store/journals';
import { seeded } from '../../support/store/random';
import { seeds } from '../../support/tier';

const SEEDS = seeds(2, 40);
const STEPS = 250;
const KEYS = ['a', 'b', 'c'] as const;

interface ModelSession {
  events: SessionEvent[];
  queue: { id: string; text: string; state: string }[];
  draft: string;
  title: string | undefined;
}

class World {
  readonly sessions = new Map<string, ModelSession>();
  readonly #folder: string;
  readonly #random: (below: number) => number;
  journal: Journal;
  #holder: DatabaseSync | undefined;
  #count = 0;

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#random = seeded(seed);
    this.journal = openJournal(folder, { busyMs: 1 });
  }

  step(): void {
    const key = KEYS[this.#random(KEYS.length)] ?? 'a';
    const session = this.sessions.get(key);
    const choice = this.#random(100);
    if (!session) {
      // The file's content of a session is unknown while it cannot be read; new sessions can start
      // at any time.
      this.journal.saveSession(newSession(key));
      this.sessions.set(key, { events: [], queue: [], draft: '', title: undefined });
    } else if (choice < 40) this.#append(key, session);
    else if (choice < 75) this.#queue(key, session);
    else if (choice < 82) {
      session.draft = this.#random(3) === 0 ? '' : `draft ${this.#next()}`;
      this.journal.side.saveDraft(key, { text: session.draft, revision: 1, attachments: [] });
    } else if (choice < 86) {
      session.title = `title ${this.#next()}`;
      this.journal.updateSession(key, { title: session.title });
    } else if (choice < 88) {
      this.journal.deleteSession(key);
      this.sessions.delete(key);
    } else if (choice < 91) this.#lock();
    else if (choice < 95) this.unlock();
    else if (choice < 97 && !this.#holder) this.reopen();
    else this.check(key);
  }

  reopen(): void {
    this.unlock();
    this.journal.dispose();
    this.journal = openJournal(this.#folder, { busyMs: 1 });
  }

  unlock(): void {
    if (!this.#holder) return;
    this.#holder.exec('ROLLBACK');
    this.#holder.close();
    this.#holder = undefined;
    if (this.#random(2) === 0) assert.equal(this.journal.retry(), true);
  }

  check(key: string): void {
    const session = this.sessions.get(key);
    const found = this.journal.session(key);
    assert.equal(found?.title, session?.title);
    if (!session) return;
    assert.ok(found);
    const { events } = this.journal.events(key);
    assert.equal(textIn(events), textIn(session.events.map((event) => ({ at: 0, event }))));
    const others = (list: readonly SessionEvent[]): readonly SessionEvent[] =>
      list.filter((event) => event.type !== 'message_chunk');
    assert.deepEqual(others(events.map(({ event }) => event)), others(session.events));
    const items = this.journal.queue.items(key).map(({ id, text, state }) => ({ id, text, state }));
    assert.deepEqual(items, session.queue);
    assert.equal(this.journal.side.draft(key)?.text ?? '', session.draft);
  }

  checkAll(): void {
    for (const key of KEYS) this.check(key);
    const keys = this.journal.sessions({ limit: 10 }).map((session) => session.key);
    assert.deepEqual([...keys].sort(), [...this.sessions.keys()].sort());
  }

  #append(key: string, session: ModelSession): void {
    const events: SessionEvent[] = Array.from({ length: 1 + this.#random(5) }, () => {
      const number = this.#next();
      if (this.#random(4) > 0) return said(`${number} `);
      if (this.#random(2) > 0) return { type: 'mode', current: `m${number}` };
      return { type: 'turn_started', turnId: `t${number}`, origin: 'user', at: number };
    });
    this.journal.append(
      key,
      events.map((event) => ({ at: this.#next(), event })),
    );
    session.events.push(...events);
    if (this.#random(3) === 0) this.journal.flush();
  }

  #queue(key: string, session: ModelSession): void {
    const { queue } = this.journal;
    const item = session.queue[this.#random(Math.max(1, session.queue.length))];
    const choice = this.#random(6);
    if (choice < 2 || !item) {
      const added = queued(`q${this.#next()}`);
      const place = this.#random(2) === 0 ? 'first' : 'last';
      queue.enqueue(key, added, place);
      const { id, text, state } = added;
      if (place === 'first') session.queue.unshift({ id, text, state });
      else session.queue.push({ id, text, state });
    } else if (choice === 2) {
      assert.equal(queue.remove(key, item.id), true);
      session.queue.splice(session.queue.indexOf(item), 1);
    } else if (choice === 3) {
      const next = item.state === 'queued' ? 'sending' : item.state === 'sending' ? 'failed' : 'queued';
      queue.setState(key, item.id, next);
      item.state = next;
    } else if (choice === 4 && item.state !== 'sending') {
      item.text = `edited ${this.#next()}`;
      queue.edit(key, item.id, { text: item.text });
    } else {
      session.queue.reverse();
      queue.reorder(
        key,
        session.queue.map(({ id }) => id),
      );
    }
  }

  /** Another program locks the file against writing, or against reading too. */
  #lock(): void {
    if (this.#holder) return;
    // The journal's open connection prevents an exclusive lock, so this one writes without
    // committing.
    this.#holder = new DatabaseSync(join(this.#folder, 'parley.db'));
    this.#holder.exec('PRAGMA busy_timeout = 1000; BEGIN IMMEDIATE');
  }

  #next(): number {
    return ++this.#count;
  }
}

describe('the journal and a simple model of it', function () {
  this.timeout(60_000);

  afterEach(removeScratch);

  it(`agree after each of ${SEEDS} × ${STEPS} random steps`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const world = new World(await scratchFolder(), seed);
      try {
        for (let step = 0; step < STEPS; step++) world.step();
        world.checkAll();
        world.reopen();
        world.checkAll();
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      } finally {
        world.unlock();
        world.journal.dispose();
        await removeScratch();
      }
    }
  });
});
