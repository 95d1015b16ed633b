// The sessions of a window as rows: what changes in them is told, and nothing else.
import { strict as assert } from 'node:assert';
import type { BriefQuestion } from '../../../../src/workbench/overview/briefQuestion';
import { LiveSessions, type SessionNews } from '../../../../src/workbench/overview/liveSessions';
import { nextWaiting } from '../../../../src/workbench/overview/nextWaiting';
import { type NotificationSetting, Notifications } from '../../../../src/workbench/overview/notifications';
import { PlainSessions } from '../../../support/sessions/overview';
import { HeldTimers } from '../../../support/store/journals';

describe('the sessions of a window', () => {
  interface Setup {
    readonly sessions: PlainSessions;
    readonly live: LiveSessions;
    readonly timers: HeldTimers;
    /** Keys of the rows that changed, each time. */
    readonly changes: string[][];
    readonly news: SessionNews[];
    readonly kept: Map<string, object>;
    shown: string | undefined;
  }

  function setUp(): Setup {
    const sessions = new PlainSessions();
    const timers = new HeldTimers();
    const kept = new Map<string, object>();
    const setup: Setup = {
      sessions,
      timers,
      kept,
      changes: [],
      news: [],
      shown: undefined,
      live: new LiveSessions({
        conversations: sessions,
        titleOf: ({ key }) => key,
        isShown: (key) => key === setup.shown,
        wasUnread: () => false,
        keep: (key, marks) => void kept.set(key, marks),
        now: () => 1000,
        schedule: timers.schedule,
      }),
    };
    setup.live.onDidChange((keys) => setup.changes.push([...keys]));
    setup.live.onNews((one) => setup.news.push(one));
    return setup;
  }

  it('stay failed while the agent of a failed turn is started again', () => {
    const { sessions, timers, live } = setUp();
    const session = sessions.add('s');
    session.begin('t');
    const shown = ['exited', 'recovering', 'starting', 'ready'].map((kind) => {
      session.connection = { kind };
      session.failedTurnId = 't';
      session.apply({ type: 'turn_ended', turnId: 't', stopReason: 'error', barrier: 'response', at: 2 });
      timers.run();
      return live.rows.find(({ key }) => key === 's')?.status;
    });
    assert.deepEqual(shown, ['failed', 'working', 'failed', 'failed']);
  });

  it('change no row while 20 agents write', () => {
    const { sessions, timers, changes } = setUp();
    const all = Array.from({ length: 20 }, (_none, index) => sessions.add(`s${index}`, `agent${index % 4}`));
    for (const one of all) one.begin('t');
    timers.run();
    assert.equal(changes.length, 1);
    assert.equal(changes[0]?.length, 20);
    for (let round = 0; round < 500; round++) {
      for (const one of all) one.say(`word ${round}`);
      timers.run();
    }
    assert.equal(changes.length, 1, '10,000 chunks change no row');
    all[7]?.ask('May I?');
    timers.run();
    assert.deepEqual(changes.slice(1), [['s7']]);
  });

  it('are looked at once for everything that happens within a moment', () => {
    const { sessions, timers } = setUp();
    const session = sessions.add('a');
    for (let index = 0; index < 100; index++) session.say(`${index}`);
    assert.equal(timers.count, 1);
  });

  it('are unread once a turn has ended out of sight, until they are seen', () => {
    const setup = setUp();
    const { sessions, timers, live, kept } = setup;
    const session = sessions.add('a');
    session.begin('t');
    timers.run();
    session.end('t');
    timers.run();
    assert.equal(live.get('a')?.unread, true);
    assert.deepEqual(kept.get('a'), { unread: true, files: 0 });
    setup.shown = 'a';
    live.seen('a');
    timers.run();
    assert.equal(live.get('a')?.unread, false);
    assert.deepEqual(kept.get('a'), { unread: false, files: 0 });
  });

  it('tell of each question and each end of a turn once', () => {
    const { sessions, timers, news } = setUp();
    const session = sessions.add('a');
    session.begin('t');
    timers.run();
    session.ask('One?');
    timers.run();
    session.say('still writing');
    timers.run();
    session.ask('Two?');
    timers.run();
    session.end('t', 20_000);
    timers.run();
    assert.deepEqual(
      news.map(({ kind }) => kind),
      ['question', 'question', 'turn'],
    );
    assert.ok((news[2]?.ranMs ?? 0) >= 20_000);
  });

  it('have no row for a chat in which nothing has happened', () => {
    const { sessions, timers, live } = setUp();
    sessions.add('a');
    live.seen('a');
    timers.run();
    assert.deepEqual(live.rows, []);
  });

  it('that need the user come one after the other, and again from the first', () => {
    const { sessions, timers, live } = setUp();
    for (const key of ['a', 'b', 'c', 'd']) sessions.add(key).begin('t');
    for (const key of ['a', 'c']) (sessions.find(key) as unknown as { ask(text: string): void }).ask('May I?');
    timers.run();
    const first = nextWaiting(live.rows, undefined);
    const second = nextWaiting(live.rows, first?.key);
    assert.deepEqual([first?.key, second?.key].sort(), ['a', 'c']);
    assert.equal(nextWaiting(live.rows, second?.key)?.key, first?.key);
    assert.equal(nextWaiting([], undefined), undefined);
  });

  describe('in notifications', () => {
    function notifying(setting: NotificationSetting, setup: Setup, isFocused = true, brief?: BriefQuestion) {
      const timers = new HeldTimers();
      const told: string[] = [];
      const revealed: string[] = [];
      const answered: string[] = [];
      let offered: readonly string[] = [];
      let at = 0;
      let afterMs = 500;
      let press: string | undefined;
      const notifications = new Notifications({
        live: setup.live,
        isShown: (key) => key === setup.shown,
        isFocused: () => isFocused,
        setting: () => setting,
        texts: {
          asking: (all) => `asking: ${all.map(({ key }) => key)}`,
          done: (all) => `done: ${all.map(({ key }) => key)}`,
          show: () => 'Show',
        },
        briefly: () => brief,
        answer: ({ text }, choice) => answered.push(`${text}: ${choice}`),
        now: () => at,
        tell: async (text, ...buttons) => {
          told.push(text);
          at += afterMs;
          offered = buttons;
          return press;
        },
        reveal: (key) => revealed.push(key),
        next: () => revealed.push('next'),
        schedule: timers.schedule,
      });
      const run = (): void => {
        setup.timers.run();
        timers.run();
      };
      return {
        notifications,
        told,
        revealed,
        answered,
        offered: () => offered,
        run,
        press: (button: string, ms = 500) => {
          press = button;
          afterMs = ms;
        },
      };
    }

    it('are one for questions that come together, and its button goes to the next', async () => {
      const setup = setUp();
      const { told, revealed, run, press } = notifying('all', setup);
      press('Show');
      const [a, b] = [setup.sessions.add('a'), setup.sessions.add('b')];
      a.begin('t');
      b.begin('t');
      run();
      a.ask('One?');
      b.ask('Two?');
      run();
      assert.deepEqual(told, ['asking: a,b']);
      await new Promise(setImmediate);
      assert.deepEqual(revealed, ['next']);
    });

    describe('with one question that fits into one line', () => {
      const brief = {
        text: 'Demo wants to run: npm test',
        answers: [
          { label: 'Allow', choice: 0 },
          { label: 'Show', choice: 1 },
        ],
      } as unknown as BriefQuestion;

      async function pressed(button: string, sessions: readonly string[], afterMs?: number) {
        const setup = setUp();
        const made = notifying('all', setup, true, brief);
        made.press(button, afterMs);
        const all = sessions.map((key) => setup.sessions.add(key));
        for (const session of all) session.begin('t');
        made.run();
        for (const session of all) session.ask('One?');
        made.run();
        await new Promise(setImmediate);
        return { ...made, offered: made.offered() };
      }

      it('show what is asked, and answer with a button that comes after Show', async () => {
        const { told, offered, answered, revealed } = await pressed('Allow', ['a']);
        assert.deepEqual([told, offered], [[brief.text], ['Show', 'Allow']]);
        assert.deepEqual([answered, revealed], [[`${brief.text}: 0`], []]);
      });

      it('show the session with Show, whatever the labels of the agent are', async () => {
        const { answered, revealed } = await pressed('Show', ['a']);
        assert.deepEqual([answered, revealed], [[], ['a']]);
      });

      it('show the session for an answer that is pressed before the notification can be read', async () => {
        const { answered, revealed } = await pressed('Allow', ['a'], 499);
        assert.deepEqual([answered, revealed], [[], ['a']]);
      });

      it('answer nothing where they are of several sessions', async () => {
        const { told, offered, answered } = await pressed('Allow', ['a', 'b']);
        assert.deepEqual([told, offered, answered], [['asking: a,b'], ['Show'], []]);
      });
    });

    it('do not tell of what the user looks at, unless another window has the focus', () => {
      for (const isFocused of [true, false]) {
        const setup = setUp();
        setup.shown = 'a';
        const { told, run } = notifying('all', setup, isFocused);
        const session = setup.sessions.add('a');
        session.begin('t');
        run();
        session.ask('One?');
        run();
        assert.deepEqual(told, isFocused ? [] : ['asking: a']);
      }
    });

    it('tell of long turns only, and of none where the setting says so', () => {
      for (const setting of ['all', 'questions', 'off'] as const) {
        const setup = setUp();
        const { told, run } = notifying(setting, setup);
        for (const [key, ranMs] of [
          ['short', 5],
          ['long', 20_000],
        ] as const) {
          const session = setup.sessions.add(key);
          session.begin('t');
          run();
          session.end('t', ranMs);
          run();
        }
        assert.deepEqual(told, setting === 'all' ? ['done: long'] : []);
      }
    });

    it('do not tell of a question that was answered before they came', () => {
      const setup = setUp();
      const { told, run } = notifying('all', setup);
      const session = setup.sessions.add('a');
      session.begin('t');
      run();
      const withdraw = session.ask('One?');
      setup.timers.run();
      withdraw();
      run();
      assert.deepEqual(told, []);
    });
  });
});
