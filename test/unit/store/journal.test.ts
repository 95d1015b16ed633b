// Saving and restoring sessions.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { ConversationPersistence } from '../../../src/client/conversation/persistence';
import { Recorder } from '../../../src/client/conversation/recorder';
import type { SessionEvent, TimedEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import { Sql } from '../../../src/store/file/sql';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import {
  HeldTimers,
  newSession,
  openJournal,
  queued,
  said,
  searchIn,
  stateOf,
  textIn,
  timed,
  turn,
} from '../../support/store/journals';
import { seeded } from '../../support/store/random';
import { seeds } from '../../support/tier';

describe('Journal', () => {
  let folder: string;
  let journal: Journal;
  let timers: HeldTimers;

  function reopen(): void {
    journal.dispose();
    journal = openJournal(folder);
  }

  beforeEach(async () => {
    folder = await scratchFolder();
    timers = new HeldTimers();
    journal = openJournal(folder, { schedule: timers.schedule });
    journal.saveSession(newSession('a'));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  it('shows the same transcript after a reload', () => {
    const events = [...turn('t1', 10, 'hello', 'good morning'), ...turn('t2', 50, 'more', 'that is all')];
    journal.append('a', events);
    reopen();
    assert.deepEqual(stateOf(journal.events('a').events), stateOf(events));
  });

  it('joins tokens into few rows on disk', () => {
    for (let index = 0; index < 1000; index++) journal.append('a', timed(index, said('word ')));
    assert.equal(textIn(journal.events('a').events), 'word '.repeat(1000));
    assert.equal(journal.session('a')?.lastSeq, 1);
    for (let index = 0; index < 1000; index++) {
      journal.append('a', timed(2000 + index, said('x')));
      journal.flush();
    }
    assert.equal(journal.session('a')?.lastSeq, 1);
  });

  it('leaves the transcript unchanged when chunks are joined, in random sessions', () => {
    for (let seed = 1; seed <= seeds(30, 300); seed++) {
      const random = seeded(seed);
      const key = `s${seed}`;
      const events = randomEvents(random);
      journal.saveSession(newSession(key));
      for (let at = 0; at < events.length; ) {
        const count = 1 + random(6);
        journal.append(key, events.slice(at, at + count));
        if (random(3) === 0) journal.flush();
        at += count;
      }
      if (seed % 50 === 0) reopen();
      assert.deepEqual(stateOf(journal.events(key).events), stateOf(events), `seed ${seed}`);
    }
  });

  it('writes chunks together after the delay', () => {
    const timers = new HeldTimers();
    const other = openJournal(folder, { schedule: timers.schedule });
    const before = timers.count;
    other.append('a', timed(1, said('one ')));
    other.append('a', timed(2, said('two')));
    assert.equal(journal.session('a')?.lastSeq, 0);
    assert.equal(timers.count - before, 2);
    timers.run();
    assert.equal(textIn(journal.events('a').events), 'one two');
    other.dispose();
  });

  it('shows the end of a turn to other windows as soon as nothing follows it', () => {
    const window = openJournal(folder);
    timers.run();
    journal.append('a', turn('t1', 10, 'hello', 'world'));
    assert.deepEqual(window.events('a').events, []);
    // More events follow: they are written in bulk, later.
    journal.append('a', timed(100, said('and')));
    timers.runFirst();
    assert.deepEqual(window.events('a').events, []);
    journal.append('a', turn('t2', 200, 'more', 'that is all'));
    timers.runFirst();
    timers.runFirst();
    assert.equal(window.events('a').events.at(-1)?.event.type, 'turn_ended');
    window.dispose();
  });

  it('finds the start of the end of a long session without reading the session', () => {
    const model = new SessionModel();
    const recorder = new Recorder(
      model,
      { events: (events) => journal.append('a', events) } as ConversationPersistence,
      () => 1,
    );
    for (let index = 0; index < 100; index++)
      for (const { event } of turn(`t${index}`, index * 10, 'go', `answer ${index}`)) recorder.apply(event);
    const end = journal.tail('a', 10) ?? assert.fail('no end');
    assert.ok(end.mark.entries >= 280 && end.mark.entries <= 290, `${end.mark.entries}`);
    const partial = SessionModel.after(end.mark, 0);
    for (const { at, event } of journal.events('a', { from: end.from }).events) partial.apply(event, at);
    partial.beginLive();
    assert.equal(partial.begins, end.mark.entries);
    const last = (from: SessionModel): unknown => structuredClone(from.state.entries.slice(end.mark.entries));
    assert.deepEqual(last(partial), last(model));
    const whole = new SessionModel();
    for (const { at, event } of journal.events('a').events) whole.apply(event, at);
    partial.complete(whole);
    assert.deepEqual(structuredClone(partial.state), structuredClone(model.state));
  });

  it('shows a read-only window each text exactly once', () => {
    const looker = openJournal(folder);
    const seen: TimedEvent[] = [];
    let { cursor } = looker.events('a');
    const random = seeded(7);
    for (let step = 0; step < 60; step++) {
      const texts = Array.from({ length: 1 + random(4) }, (_, index) => said(`${step}.${index} `));
      journal.append('a', timed(step * 10, ...texts));
      if (random(4) === 0) journal.append('a', timed(step * 10 + 5, { type: 'mode', current: `m${step}` }));
      journal.flush();
      const page = looker.events('a', { after: cursor });
      seen.push(...page.events);
      cursor = page.cursor;
    }
    looker.dispose();
    assert.deepEqual(stateOf(seen), stateOf(journal.events('a').events));
  });

  it('accepts an event that has no JSON, an invalid time or half a character', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    journal.append('a', [
      { at: Number.NaN, event: { type: 'unknown_update', name: 'x', raw: circular } },
      { at: 5, event: said('a\ud83d') },
      { at: 6, event: said('\ude00\0b') },
    ]);
    reopen();
    const { events } = journal.events('a');
    assert.equal(events[0]?.event.type, 'notice');
    assert.equal(textIn(events), 'a😀\0b');
  });

  it('shows the history once, whether an agent died during a replay or completed it', () => {
    const past = turn('t1', 1, 'hello', 'old words');
    journal.append('a', [...past, ...timed(20, { type: 'mode', current: 'ask' })]);
    const replayed = [...timed(30, { type: 'cleared' }), ...turn('r1', 31, 'hello', 'old words')];
    journal.append('a', replayed);
    assert.equal(textIn(journal.events('a').events), 'old wordsold words');
    const before = stateOf(journal.events('a').events);
    timers.run();
    assert.equal(journal.events('a').firstSeq, 5, 'what was replaced is gone');
    assert.equal(textIn(journal.events('a').events), 'old words');
    assert.deepEqual(stateOf(journal.events('a').events), before);
    assert.equal(searchIn(journal, 'old words', 10)[0]?.hits, 1);
  });

  it('lists each session of the history once, newest first', () => {
    for (let index = 0; index < 25; index++) {
      const key = `s${String(index).padStart(2, '0')}`;
      journal.saveSession(newSession(key, { title: key }));
      journal.append(key, timed(2000 + Math.floor(index / 2), said('x')));
    }
    const keys: string[] = [];
    for (let page = journal.sessions({ limit: 10 }); page.length > 0; ) {
      keys.push(...page.map((session) => session.key));
      const last = page.at(-1);
      page = last ? journal.sessions({ limit: 10, before: last }) : [];
    }
    const all = Array.from({ length: 25 }, (_, index) => `s${String(24 - index).padStart(2, '0')}`);
    assert.deepEqual(keys, [...all, 'a']);
  });

  it('keeps the properties of a session across a reload', () => {
    journal.updateSession('a', {
      agentSessionId: 'sess',
      title: 'Name',
      ended: 'closed',
      roots: ['/x', '/y'],
      protocol: 2,
    });
    journal.append('a', turn('t1', 3000, 'first\n  prompt', 'x'));
    reopen();
    const { lastSeq, bytes, ...session } = journal.session('a') ?? assert.fail('gone');
    assert.equal(lastSeq, 4);
    assert.ok(bytes > 0);
    assert.deepEqual(session, {
      key: 'a',
      agentId: 'demo',
      agentSessionId: 'sess',
      cwd: '/work',
      roots: ['/x', '/y'],
      protocol: 2,
      title: 'Name',
      preview: 'first prompt',
      createdAt: 1000,
      updatedAt: 3004,
      ended: { at: 1000, why: 'closed' },
      queuePaused: undefined,
    });
    journal.append('a', timed(4000, { type: 'info', title: 'From the agent' }));
    journal.updateSession('a', { ended: null });
    assert.equal(journal.session('a')?.title, 'From the agent');
    assert.equal(journal.session('a')?.ended, undefined);
  });

  it('deletes a session completely', () => {
    journal.append('a', turn('t1', 1, 'secret', 'words'));
    journal.queue.enqueue('a', queued('q1'));
    journal.side.saveDraft('a', { text: 'draft', revision: 1, attachments: [] });
    assert.equal(searchIn(journal, 'secret', 5).length, 1);
    journal.deleteSession('a');
    assert.deepEqual(journal.sessions({ limit: 10 }), []);
    assert.deepEqual(searchIn(journal, 'secret', 5), []);
    journal.saveSession(newSession('a'));
    assert.deepEqual(journal.events('a').events, []);
    assert.deepEqual(journal.queue.items('a'), []);
    assert.equal(journal.side.draft('a'), undefined);
  });

  it('refuses a message for an unknown session', () => {
    assert.throws(() => journal.queue.enqueue('nobody', queued('q1')), { code: 'journal-unknown-session' });
    assert.throws(() => journal.updateSession('nobody', { title: 'x' }), { code: 'journal-unknown-session' });
    journal.append('nobody', timed(1, said('x')));
    journal.flush();
    assert.deepEqual(journal.events('nobody').events, []);
  });

  it('keeps the draft with its revision, and the scroll position', () => {
    const forms = [{ type: 'text', text: 'body' }] as const;
    const draft = {
      text: 'half a sen\ud800',
      revision: 7,
      attachments: [{ id: 'x', kind: 'file', label: 'f', forms }],
    } as const;
    journal.side.saveDraft('a', draft);
    journal.side.saveView('a', { anchor: 'e7', offset: -12.5, atEnd: false });
    reopen();
    assert.deepEqual(journal.side.draft('a'), draft);
    assert.deepEqual(journal.side.view('a'), { anchor: 'e7', offset: -12.5, atEnd: false });
    const sent = { text: '', revision: 8, attachments: [] };
    journal.side.saveDraft('a', sent);
    assert.deepEqual(journal.side.draft('a'), sent, 'a page that has an older text must not bring it back');
  });

  it('adds and removes attachments of a draft one by one, even across a restart', () => {
    for (const [revision, ids] of [['x'], ['x', 'y'], ['y'], ['y', 'z'], ['u', 'v', 'w'], ['w', 'x'], []].entries()) {
      const attachments = ids.map((id) => {
        const forms = [{ type: 'text', text: `content of ${id}` }] as const;
        return { id, kind: 'file', label: id, forms } as const;
      });
      const draft = { text: 'see', attachments, revision };
      journal.side.saveDraft('a', draft);
      assert.deepEqual(journal.side.draft('a'), draft);
      reopen();
      assert.deepEqual(journal.side.draft('a'), draft);
    }
  });

  it('reads a page of about as many characters, however well they are deflated', () => {
    const entries = Array.from({ length: 200 }, (_, step) => ({ content: `step ${step} of it`, status: 'pending' }));
    for (let plan = 0; plan < 200; plan++)
      journal.append('a', timed(plan, { type: 'plan', planId: `p${plan}`, entries }));
    const { events, cursor } = journal.events('a', { maxBytes: 64 * 1024 });
    const read = JSON.stringify(events).length;
    assert.ok(read < 512 * 1024, `${read} characters`);
    assert.ok(events.length > 1 && cursor.seq < 200);
  });

  it('continues reading after an image without reading the image again', () => {
    const block = { type: 'image', data: randomBytes(600_000).toString('base64'), mimeType: 'image/png' } as const;
    journal.append('a', timed(1, { type: 'message_chunk', role: 'agent', block }));
    const { cursor } = journal.events('a');
    journal.append('a', timed(2, said('a cat')));
    let chars = 0;
    const { lists } = Sql.prototype;
    Sql.prototype.lists = function (sql, ...values) {
      const rows = lists.call(this, sql, ...values);
      for (const value of rows.flat()) chars += typeof value === 'string' ? value.length : 8;
      return rows;
    };
    try {
      assert.deepEqual(journal.events('a', { after: cursor }).events, timed(2, said('a cat')));
    } finally {
      Sql.prototype.lists = lists;
    }
    assert.ok(chars < 1000, `${chars}`);
  });

  it('writes only the text of a draft next to an image, and keeps both', () => {
    const image = { type: 'image', data: 'A'.repeat(9_000_000), mimeType: 'image/png' } as const;
    const attachments = [{ id: 'x', kind: 'image', label: 'shot', forms: [image] }] as const;
    journal.side.saveDraft('a', { text: '', attachments, revision: 1 });
    let chars = 0;
    const { run } = Sql.prototype;
    Sql.prototype.run = function (sql, ...values) {
      for (const value of values) chars += typeof value === 'string' ? value.length : 8;
      return run.call(this, sql, ...values);
    };
    try {
      for (const text of ['w', 'wh', 'why']) journal.side.saveDraft('a', { text, attachments, revision: 2 });
    } finally {
      Sql.prototype.run = run;
    }
    assert.ok(chars < 1000, `${chars}`);
    reopen();
    assert.deepEqual(journal.side.draft('a'), { text: 'why', attachments, revision: 2 });
    journal.side.saveDraft('a', { text: 'why', attachments: [], revision: 3 });
    assert.deepEqual(journal.side.draft('a'), { text: 'why', attachments: [], revision: 3 });
  });
});

function randomEvents(random: (below: number) => number): TimedEvent[] {
  const events: TimedEvent[] = [];
  let open = 0;
  for (let at = 1; at < 60; at++) {
    const make: readonly (() => SessionEvent)[] = [
      () => {
        const block = { type: 'text', text: ['', 'a', 'bc ', '\ud83d', '\ude00'][random(5)] ?? '' } as const;
        const role = (['agent', 'agent', 'thought', 'user'] as const)[random(4)] ?? 'agent';
        const messageId = ([undefined, undefined, 'm1', 'm2'] as const)[random(4)];
        return { type: 'message_chunk', role, block, ...(messageId && { messageId }) };
      },
      () => ({ type: 'tool_call', toolCallId: `c${random(3)}`, patch: { title: 'x' }, announced: random(2) === 0 }),
      () => ({ type: 'turn_started', turnId: `t${++open}`, origin: 'user', at }),
      () => ({ type: 'prompt_sent', turnId: `t${open}`, promptId: `p${at}`, content: [{ type: 'text', text: 'abc' }] }),
      () => ({ type: 'turn_ended', turnId: `t${open}`, stopReason: 'end_turn', barrier: 'response', at }),
      () => ({ type: 'message_chunk', role: 'agent', block: { type: 'image', data: 'AA==', mimeType: 'image/png' } }),
    ];
    const choice = random(14);
    const event = (make[choice] ?? make[0])?.();
    if (event) events.push({ at: at * 10, event });
  }
  return events;
}
