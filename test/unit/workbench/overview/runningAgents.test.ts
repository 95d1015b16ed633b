// Agents that no window is attached to: found, counted, told of once, and left alone where a window has them.
import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log';
import type { FoundKeeper } from '../../../../src/client/transport/keepers';
import type { KeeperState } from '../../../../src/keeper/wire';
import { RunningAgents } from '../../../../src/workbench/overview/runningAgents';

describe('RunningAgents', () => {
  const state: KeeperState = {
    pid: 1,
    agentPid: 2,
    startedAt: 1,
    sent: 1,
    lines: 1,
    storedLine: 1,
    answered: [],
    bytes: 0,
    isHeld: false,
    isAttached: false,
    isWorking: true,
    waiting: 0,
  };

  const keeper = (session: string, more: Partial<KeeperState> = {}): FoundKeeper => ({
    id: session,
    kind: 'alive',
    about: { session, agentId: 'one', agentName: 'One', folder: '/work' },
    startedAt: 1,
    host: 'here',
    state: { ...state, ...more },
  });

  class World {
    found: FoundKeeper[] = [];
    readonly here = new Set<string>();
    readonly asked: string[] = [];
    changes = 0;
    #next: (() => void) | undefined;

    start(): RunningAgents {
      const running = new RunningAgents({
        keepers: {
          list: async (isMeant = () => true) => this.found.filter(({ about }) => isMeant(about)),
          end: async (id) => {
            this.found = this.found.filter((one) => one.id !== id);
          },
          endOf: async (sessions) => {
            this.found = this.found.filter(({ about }) => !sessions.includes(about.session));
          },
        },
        isHere: (session) => this.here.has(session),
        schedule: (run) => {
          this.#next = run;
          return { dispose: () => {} };
        },
        log: silentLog,
      });
      running.onDidChange(() => {
        this.changes++;
      });
      running.onDidAsk(({ id }) => this.asked.push(id));
      return running;
    }

    /** The next look, and what follows from it. */
    async look(): Promise<void> {
      const run = this.#next;
      this.#next = undefined;
      run?.();
      while (!this.#next) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('counts those that work or ask and that no window has', async () => {
    const world = new World();
    world.here.add('here');
    world.found = [
      keeper('works'),
      keeper('asks', { waiting: 1 }),
      keeper('idle', { isWorking: false }),
      keeper('ended', { ended: { code: 0, signal: null, at: 1 } }),
      keeper('here'),
      keeper('otherWindow', { isAttached: true }),
      { ...keeper('mute'), kind: 'unreachable', state: undefined as never },
    ];
    const running = world.start();
    await world.look();
    const counts = (['working', 'needsYou', 'ready', 'ended'] as const).map((one) => running.count(one));
    assert.deepEqual(counts, [1, 1, 1, 1]);
    assert.deepEqual(
      (await running.all()).map(({ id }) => id),
      ['works', 'asks', 'idle', 'ended', 'here', 'otherWindow', 'mute'],
    );
  });

  it('says once that one asks, and nothing while nothing changes', async () => {
    const world = new World();
    world.found = [keeper('one')];
    world.start();
    await world.look();
    world.found = [keeper('one', { waiting: 1 })];
    await world.look();
    await world.look();
    assert.deepEqual([world.asked, world.changes], [['one'], 2]);
  });

  it('forgets one that is ended', async () => {
    const world = new World();
    world.found = [keeper('one'), keeper('two')];
    const running = world.start();
    await world.look();
    await running.end('one');
    assert.deepEqual(
      running.background.map(({ id }) => id),
      ['two'],
    );
  });
});
