// Sessions that work or need the user, in all windows and without one, and their notifications.
import { strict as assert } from 'node:assert';
import { Emitter } from '../../../../src/base/event';
import type { FoundKeeper } from '../../../../src/client/transport/keepers';
import { ActiveSessions } from '../../../../src/workbench/overview/activeSessions';
import type { InboxQuestion } from '../../../../src/workbench/overview/inbox';
import { LiveSessions } from '../../../../src/workbench/overview/liveSessions';
import type { NotificationActions, NotificationSetting } from '../../../../src/workbench/overview/notifications';
import { useFakeEditor } from '../../../support/fakeEditor';
import { PlainSessions } from '../../../support/sessions/overview';
import { HeldTimers } from '../../../support/store/journals';
import { foundKeeper } from './foundKeeper';

useFakeEditor();
const { Notifications } = await import('../../../../src/workbench/overview/notifications');

/** A class with methods that need `this`, as in the workbench. */
class Actions implements NotificationActions {
  readonly #done: string[];

  constructor(done: string[]) {
    this.#done = done;
  }

  open(key: string): void {
    this.#done.push(`open ${key}`);
  }

  next(): void {
    this.#done.push('next');
  }

  answer(_question: InboxQuestion, choice: number): void {
    this.#done.push(`answer ${choice}`);
  }
}

class World {
  readonly sessions = new PlainSessions();
  readonly timers = new HeldTimers();
  readonly told: string[] = [];
  readonly done: string[] = [];
  offered: readonly string[] = [];
  shown: string | undefined;
  setting: NotificationSetting = 'all';
  button: string | undefined;
  afterMs = 500;
  readonly #focus = new Emitter<void>();
  #isFocused = true;
  #now = 0;
  readonly #inbox = {
    changed: new Emitter<void>(),
    others: [] as InboxQuestion[],
    questions: [] as InboxQuestion[],
  };
  readonly #running = { changed: new Emitter<void>(), background: [] as FoundKeeper[] };
  readonly live = new LiveSessions({
    conversations: this.sessions,
    titleOf: ({ key }) => key,
    isShown: (key) => key === this.shown,
    wasUnread: () => false,
    saveMarks: () => {},
    now: () => 1000,
    schedule: this.timers.schedule,
  });
  readonly active: ActiveSessions;

  constructor() {
    const { live } = this;
    const inbox = Object.assign(this.#inbox, { onDidChange: this.#inbox.changed.event });
    const running = Object.assign(this.#running, { onDidChange: this.#running.changed.event });
    const titleOf = (key: string) => (key.startsWith('deleted') ? undefined : key);
    this.active = new ActiveSessions({ live, inbox, running, titleOf, now: () => 2000 });
    new Notifications(
      { active: this.active, live, inbox },
      new Actions(this.done),
      {
        setting: () => this.setting,
        isShown: (key) => key === this.shown,
        isFocused: () => this.#isFocused,
        onDidChangeFocus: this.#focus.event,
        tell: async (text, ...buttons) => {
          this.told.push(text);
          this.offered = buttons;
          this.#now += this.afterMs;
          return this.button;
        },
      },
      { now: () => this.#now, schedule: this.timers.schedule },
    );
  }

  async settle(): Promise<void> {
    while (this.timers.count > 0) this.timers.runFirst();
    await new Promise(setImmediate);
  }

  async begin(...keys: readonly string[]) {
    const sessions = keys.map((key) => this.sessions.add(key));
    for (const session of sessions) session.begin('t');
    await this.settle();
    return sessions;
  }

  focus(isFocused: boolean): void {
    this.#isFocused = isFocused;
    this.#focus.fire();
  }

  keepers(...background: FoundKeeper[]): void {
    this.#running.background = background;
    this.#running.changed.fire();
  }

  elsewhere(...keys: readonly string[]): void {
    this.#inbox.others = keys.map((key) => question({ key, session: key, agent: 'other', isOurs: false }));
    this.#inbox.changed.fire();
  }

  asks(brief: string, labels: readonly string[]): void {
    const kinds = ['allow_once', 'reject_once'];
    this.#inbox.questions = [question({ brief, choices: labels.map((label, n) => ({ label, kind: kinds[n] })) })];
  }
}

function question(more: Partial<InboxQuestion>): InboxQuestion {
  const base = { key: 'a', id: 'q', isOurs: true, session: 's', agent: 'one', folder: '/', title: '', text: '' };
  return { ...base, choices: [], ...more };
}

describe('active sessions', () => {
  it('contain each session once, wherever it runs', async () => {
    const world = new World();
    const [asks] = await world.begin('asks', 'works');
    asks?.ask('May I?');
    world.elsewhere('asks', 'far');
    world.keepers(foundKeeper('far'), foundKeeper('alone', { waiting: 1 }), foundKeeper('deleted', { waiting: 1 }));
    await world.settle();
    const seen = (status: 'working' | 'needsYou') => world.active.in(status).map(({ key, where }) => [key, where]);
    assert.deepEqual(seen('needsYou').sort(), [
      ['alone', 'background'],
      ['asks', 'here'],
      ['far', 'otherWindow'],
    ]);
    assert.deepEqual(seen('working'), [['works', 'here']]);
  });

  it('fire only on changes', async () => {
    const world = new World();
    let changes = 0;
    world.active.onDidChange(() => changes++);
    world.keepers(foundKeeper('a'));
    world.keepers(foundKeeper('a'));
    world.elsewhere();
    assert.equal(changes, 1);
    world.keepers(foundKeeper('a', { isWorking: false }));
    assert.equal(changes, 2);
  });

  it("cycle through this window's sessions that need the user", async () => {
    const world = new World();
    const [a, , c] = await world.begin('a', 'b', 'c', 'd');
    for (const session of [a, c]) session?.ask('May I?');
    world.elsewhere('far');
    await world.settle();
    const first = world.active.next(undefined);
    const second = world.active.next(first?.key);
    assert.deepEqual([first?.key, second?.key].sort(), ['a', 'c']);
    assert.equal(world.active.next(second?.key)?.key, first?.key);
    assert.equal(new World().active.next(undefined), undefined);
  });
});

describe('notifications', () => {
  it('are combined if they arrive together, with a button that goes to the next session', async () => {
    const world = new World();
    world.button = 'Show';
    for (const session of await world.begin('a', 'b')) session.ask('One?');
    world.keepers(foundKeeper('far', { waiting: 1 }));
    await world.settle();
    assert.deepEqual([world.told, world.done], [['3 sessions need you.'], ['next']]);
  });

  it('open the session of a single question, even of an agent without a window', async () => {
    const world = new World();
    world.button = 'Show';
    world.keepers(foundKeeper('far', { waiting: 1 }));
    await world.settle();
    assert.deepEqual([world.told, world.done], [['One needs you: far'], ['open far']]);
  });

  describe('about one question that fits into one line', () => {
    async function pressed(button: string, keys: readonly string[], afterMs = 500): Promise<World> {
      const world = new World();
      Object.assign(world, { button, afterMs });
      world.asks('Demo wants to run: npm test', ['Allow', 'Show']);
      for (const session of await world.begin(...keys)) session.ask('One?');
      await world.settle();
      return world;
    }

    it('show the question, and answer with buttons after Show', async () => {
      const { told, offered, done } = await pressed('Allow', ['a']);
      assert.deepEqual([told, offered, done], [['Demo wants to run: npm test'], ['Show', 'Allow'], ['answer 0']]);
    });

    it("open the session with Show, whatever the agent's labels are", async () => {
      assert.deepEqual((await pressed('Show', ['a'])).done, ['open a']);
    });

    it('open the session if an answer is pressed before the notification can be read', async () => {
      assert.deepEqual((await pressed('Allow', ['a'], 499)).done, ['open a']);
    });

    it('answer nothing if several sessions need the user', async () => {
      const { told, offered, done } = await pressed('Allow', ['a', 'b']);
      assert.deepEqual([told, offered, done], [['2 sessions need you.'], ['Show'], ['next']]);
    });
  });

  it('skip what the user is looking at, unless another window is focused', async () => {
    for (const isFocused of [true, false]) {
      const world = new World();
      world.shown = 'a';
      world.focus(isFocused);
      (await world.begin('a'))[0]?.ask('One?');
      await world.settle();
      assert.deepEqual(world.told, isFocused ? [] : ['DEMO needs you: a']);
    }
  });

  it('report only long turns, and only with that setting', async () => {
    for (const setting of ['all', 'questions', 'off'] as const) {
      const world = new World();
      world.setting = setting;
      const [short, long] = await world.begin('short', 'long');
      short?.end('t', 5);
      long?.end('t', 20_000);
      await world.settle();
      assert.deepEqual(world.told, setting === 'all' ? ['DEMO is done: long'] : []);
    }
  });

  it('report no question with the setting `off`', async () => {
    const world = new World();
    world.setting = 'off';
    (await world.begin('a'))[0]?.ask('One?');
    world.keepers(foundKeeper('far', { waiting: 1 }));
    await world.settle();
    assert.deepEqual(world.told, []);
  });

  it('skip a question that was answered in the meantime', async () => {
    const world = new World();
    const [session] = await world.begin('a');
    const withdraw = session?.ask('One?');
    world.timers.runFirst();
    withdraw?.();
    await world.settle();
    assert.deepEqual(world.told, []);
  });

  describe('about agents without a window', () => {
    const asking = (id: string, waiting = 1): FoundKeeper => foundKeeper(id, { waiting });

    it('appear once, in the focused window', async () => {
      const world = new World();
      world.keepers(asking('a'));
      await world.settle();
      world.focus(false);
      world.focus(true);
      await world.settle();
      assert.deepEqual(world.told, ['One needs you: a']);
    });

    it('wait until the window is focused', async () => {
      const world = new World();
      world.focus(false);
      world.keepers(asking('a'));
      world.keepers(asking('a'), asking('b'));
      await world.settle();
      assert.deepEqual(world.told, []);
      world.focus(true);
      await world.settle();
      world.focus(true);
      await world.settle();
      assert.deepEqual(world.told, ['2 sessions need you.']);
    });

    it('do not appear if the question was answered, or the agent exited, in the meantime', async () => {
      const world = new World();
      world.focus(false);
      world.keepers(asking('answered'), asking('gone'));
      world.keepers(asking('answered', 0));
      world.focus(true);
      await world.settle();
      assert.deepEqual(world.told, []);
      world.keepers(asking('answered'));
      await world.settle();
      assert.deepEqual(world.told, ['One needs you: answered']);
    });
  });
});
