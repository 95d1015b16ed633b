// A window that attaches to an agent in memory, and can be killed before any single thing that
// would survive it: a write to the journal, a message to the keeper.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { parseAgents } from '../../../src/agents/agentDefinition';
import { silentLog } from '../../../src/base/log';
import { type Machine, thisMachine } from '../../../src/store/file/machine';
import { Journal } from '../../../src/store/journal';
import { JournalPersistence, readKept } from '../../../src/workbench/sessions/journalPersistence';
import { type TestConversation, testConversation } from '../sessions/conversation';
import type { MemoryKeeper } from './memoryKeeper';

const KEY = 'attach-1';
const alive = new Set<number>();
let windows = 0;

export class AttachWindow {
  readonly session: TestConversation;
  readonly #pid = ++windows;
  #left: number;
  #timers: (() => void)[] = [];

  constructor(folder: string, keeper: MemoryKeeper, steps: number) {
    this.#left = steps;
    alive.add(this.#pid);
    const machine: Machine = {
      ...thisMachine,
      pid: this.#pid,
      isAlive: (pid) => alive.has(pid),
      startOf: () => '1',
    };
    const journal = Journal.open({
      folder: join(folder, 'journal'),
      log: silentLog,
      now: Date.now,
      machine,
      schedule: (run) => {
        this.#timers.push(run);
        return { dispose: () => this.#timers.splice(this.#timers.indexOf(run) >>> 0, 1) };
      },
    });
    const known = journal.session(KEY) !== undefined;
    if (known) assert.equal(journal.claim(KEY, `window-${this.#pid}`).kind, 'owned');
    const [agent] = parseAgents({ one: { name: 'One', command: process.execPath } }).agents;
    assert.ok(agent);
    const kept = known ? readKept(journal, KEY) : undefined;
    const facts = { key: KEY, agentId: agent.id, cwd: folder, roots: [folder] };
    const persistence = new JournalPersistence(
      { journal: this.#mortal(journal), log: silentLog, windowId: `window-${this.#pid}`, session: facts },
      known,
    );
    this.session = testConversation({
      agent,
      cwd: folder,
      key: KEY,
      persistence,
      services: { keepers: keeper.keepers({ isAlive: () => this.#step() }) },
      ...(kept && { kept }),
    });
  }

  get isAlive(): boolean {
    return this.#left > 0;
  }

  wait(): void {
    for (const run of this.#timers.splice(0)) if (this.#step()) run();
  }

  kill(): void {
    this.#left = 0;
    alive.delete(this.#pid);
    this.#timers = [];
  }

  #step(): boolean {
    if (this.#left > 0) this.#left--;
    if (this.#left === 0) this.kill();
    return this.#left > 0;
  }

  #mortal<T extends object>(inner: T): T {
    return new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name === 'queue' || name === 'side') return this.#mortal(value as object);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (!this.#step()) throw new Error('the window is dead');
          return value.apply(target, args);
        };
      },
    });
  }
}
