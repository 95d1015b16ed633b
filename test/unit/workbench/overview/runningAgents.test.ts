// Finds agents without a window, and leaves others alone.
import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log';
import type { FoundKeeper } from '../../../../src/client/transport/keepers';
import { backgroundStateOf, RunningAgents } from '../../../../src/workbench/overview/runningAgents';
import { foundKeeper } from './foundKeeper';

describe('RunningAgents', () => {
  class World {
    found: FoundKeeper[] = [];
    readonly here = new Set<string>();
    changes = 0;
    #next: (() => void) | undefined;
    come = (): void => {};

    get waits(): boolean {
      return this.#next !== undefined;
    }

    start(): RunningAgents {
      const running = new RunningAgents({
        keepers: {
          list: async (isMeant = () => true) => this.found.filter(({ about }) => isMeant(about)),
          watch: (onChange) => {
            this.come = onChange;
            return { dispose: () => {} };
          },
          end: async (id) => {
            this.found = this.found.filter((one) => one.id !== id);
          },
          collect: async () => {},
          endSessions: async (sessions) => {
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
      return running;
    }

    async look(): Promise<void> {
      const run = this.#next;
      this.#next = undefined;
      run?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('lists agents without a window', async () => {
    const world = new World();
    world.here.add('here');
    world.found = [
      foundKeeper('works'),
      foundKeeper('asks', { waiting: 1 }),
      foundKeeper('idle', { isWorking: false }),
      foundKeeper('ended', { ended: { code: 0, signal: null, at: 1 } }),
      foundKeeper('here'),
      foundKeeper('otherWindow', { isAttached: true }),
      { ...foundKeeper('mute'), kind: 'unreachable', state: undefined as never },
    ];
    const running = world.start();
    await world.look();
    assert.deepEqual(
      running.background.map((one) => [one.id, backgroundStateOf(one)]),
      [
        ['works', 'working'],
        ['asks', 'needsYou'],
        ['idle', 'ready'],
        ['ended', 'ended'],
      ],
    );
  });

  it('waits for the next keeper to come while there is none of another window', async () => {
    const world = new World();
    world.here.add('here');
    world.found = [foundKeeper('here'), { ...foundKeeper('far'), kind: 'elsewhere', state: undefined as never }];
    const running = world.start();
    await world.look();
    assert.equal(world.waits, false);
    world.found.push(foundKeeper('new'));
    world.come();
    await world.look();
    assert.deepEqual(
      running.background.map(({ id }) => id),
      ['new'],
    );
    assert.equal(world.waits, true);
  });

  it('looks for the agent that this window has left', async () => {
    const world = new World();
    world.here.add('here');
    world.found = [foundKeeper('here')];
    const running = world.start();
    await world.look();
    world.here.delete('here');
    running.pollLater();
    await world.look();
    assert.equal(running.background.length, 1);
  });

  it('fires once per change', async () => {
    const world = new World();
    world.found = [foundKeeper('one')];
    world.start();
    await world.look();
    world.found = [foundKeeper('one', { waiting: 1 })];
    await world.look();
    await world.look();
    assert.equal(world.changes, 2);
  });

  it('removes an agent that was ended', async () => {
    const world = new World();
    world.found = [foundKeeper('one'), foundKeeper('two')];
    const running = world.start();
    await world.look();
    await running.end('one');
    assert.deepEqual(
      running.background.map(({ id }) => id),
      ['two'],
    );
  });
});
