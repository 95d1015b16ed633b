// The sessions of a window as rows, which report exactly their changes.
import { strict as assert } from 'node:assert';
import { LiveSessions, type SessionNews } from '../../../../src/workbench/overview/liveSessions';
import { PlainSessions } from '../../../support/sessions/overview';
import { HeldTimers } from '../../../support/store/journals';

describe("a window's sessions", () => {
  interface Setup {
    readonly sessions: PlainSessions;
    readonly live: LiveSessions;
    readonly timers: HeldTimers;
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
        saveMarks: (key, marks) => void kept.set(key, marks),
        now: () => 1000,
        schedule: timers.schedule,
      }),
    };
    setup.live.onDidChange((keys) => setup.changes.push([...keys]));
    setup.live.onNews((one) => setup.news.push(one));
    return setup;
  }

  it('stay failed while the agent of a failed turn restarts', () => {
    const { sessions, timers, live } = setUp();
    const session = sessions.add('s');
    session.begin('t');
    const statuses = ['exited', 'recovering', 'starting', 'ready'].map((kind) => {
      session.connection = { kind };
      session.failedTurnId = 't';
      session.apply({ type: 'turn_ended', turnId: 't', stopReason: 'error', barrier: 'response', at: 2 });
      timers.run();
      return live.rows.find(({ key }) => key === 's')?.status;
    });
    assert.deepEqual(statuses, ['failed', 'working', 'failed', 'failed']);
  });

  it('update no row while 20 agents write', () => {
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

  it('are read once for all changes within a moment', () => {
    const { sessions, timers } = setUp();
    const session = sessions.add('a');
    for (let index = 0; index < 100; index++) session.say(`${index}`);
    assert.equal(timers.count, 1);
  });

  it('are unread after a turn ended out of sight, until seen', () => {
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

  it('report each question and each end of a turn once', () => {
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

  it('have no row for an unused chat', () => {
    const { sessions, timers, live } = setUp();
    sessions.add('a');
    live.seen('a');
    timers.run();
    assert.deepEqual(live.rows, []);
  });
});
