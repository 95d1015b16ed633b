// The journal stores only what the model keeps: superseded content takes no disk space.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import { thisMachine } from '../../../src/store/file/machine';
import { Sql } from '../../../src/store/file/sql';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { HeldTimers, modelOf, newSession, openJournal, said, stateOf, timed, turn } from '../../support/store/journals';
import { seeded } from '../../support/store/random';
import { seeds } from '../../support/tier';

const MB = 1024 * 1024;

describe('the contents of the journal', function () {
  this.timeout(60_000);
  let folder: string;
  let timers: HeldTimers;
  let journal: Journal;

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

  function size(): number {
    journal.flush();
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  }

  function closedSize(): number {
    journal.dispose();
    return statSync(join(folder, 'parley.db')).size;
  }

  function terminal(append: string): SessionEvent {
    return { type: 'terminal', terminalId: 't1', append };
  }

  function changesDuring(work: () => void): number {
    let changes = 0;
    const { run } = Sql.prototype;
    Sql.prototype.run = function (sql, ...values) {
      changes++;
      return run.call(this, sql, ...values);
    };
    try {
      work();
    } finally {
      Sql.prototype.run = run;
    }
    return changes;
  }

  it("have only the end of a terminal's output, however long it is", () => {
    const model = new SessionModel();
    let at = 0;
    for (let second = 0; second < seeds(4, 10); second++) {
      for (let count = 0; count < 40; count++) {
        const event = terminal(randomBytes(48 * 1024).toString('base64'));
        model.apply(event, at);
        journal.append('a', [{ at: at++, event }]);
        if (count % 10 === 9) timers.run();
      }
      journal.flush();
    }
    const exit: SessionEvent = { type: 'terminal', terminalId: 't1', exit: { exitCode: 0 } };
    model.apply(exit, at);
    journal.append('a', [{ at, event: exit }]);
    const kept = modelOf(journal.events('a').events).state.terminals.get('t1');
    const shown = model.state.terminals.get('t1');
    assert.ok(kept && shown && kept.output.length >= MB && kept.output.endsWith(shown.output.slice(-MB)));
    assert.deepEqual([kept.truncated, kept.exit], [true, { exitCode: 0 }]);
    const bytes = closedSize();
    assert.ok(bytes <= 3 * MB, `${bytes} bytes of text that cannot be deflated`);
  });

  it('have the changes of a turn once, with both states', () => {
    const folders = [{ root: '/project', before: 'b'.repeat(40) }];
    const changed = { type: 'turn_changes', turnId: 't1', files: 0, added: 0, removed: 0 } as const;
    const after = {
      ...changed,
      folders: [{ ...folders[0], after: 'a'.repeat(40) }],
      files: 1,
      added: 2,
    } as SessionEvent;
    journal.append('a', turn('t1', 10, 'go', 'done'));
    journal.append('a', [{ at: 20, event: { ...changed, folders } }]);
    journal.append('a', [{ at: 30, event: after }]);
    const kept = journal.events('a').events.filter(({ event }) => event.type === 'turn_changes');
    assert.deepEqual(kept, [{ at: 30, event: after }]);
    assert.equal(modelOf(journal.events('a').events).turn('t1')?.changes?.files, 1);
  });

  it('have only the last version of a tool call that is updated repeatedly', () => {
    const events: SessionEvent[] = [call('c1', { title: 'Run', status: 'pending' }, true)];
    let output = '';
    for (let count = 0; count < 600; count++) {
      output += `${randomBytes(200).toString('hex')}\n`;
      events.push(call('c1', { status: 'in_progress', content: text(output), rawOutput: { output } }));
    }
    events.push(call('c1', { status: 'completed' }));
    for (const [at, event] of events.entries()) {
      journal.append('a', [{ at, event }]);
      if (at % 20 === 0) journal.flush();
    }
    assert.deepEqual(stateOf(journal.events('a').events), stateOf(timed(0, ...events)));
    const bytes = closedSize();
    assert.ok(bytes <= 1.5 * MB, `${bytes} bytes for ${output.length} characters`);
  });

  it('give the same state as all events, in random sessions', () => {
    for (let seed = 1; seed <= seeds(20, 200); seed++) {
      const random = seeded(seed);
      const key = `s${seed}`;
      journal.saveSession(newSession(key));
      const events: SessionEvent[] = Array.from({ length: 120 }, (_, at) => randomEvent(random, at));
      for (const [at, event] of events.entries()) {
        journal.append(key, [{ at, event }]);
        if (random(6) === 0) journal.flush();
      }
      assert.deepEqual(stateOf(journal.events(key).events), stateOf(timed(0, ...events)), `seed ${seed}`);
    }
  });

  it('have only the last version of a plan, options, commands and a message that are sent repeatedly', () => {
    const entries = Array.from({ length: 200 }, (_, index) => `step ${index} of what is to be done`);
    const events: SessionEvent[] = [{ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }];
    for (let count = 0; count < 1500; count++) {
      const list = entries.map((content, index) => ({ content, status: index < count ? 'completed' : 'pending' }));
      const said = entries.slice(0, 1 + (count % 200)).join('\n');
      events.push(
        { type: 'plan', planId: 'p', entries: list },
        { type: 'commands', commands: entries.map((description, name) => ({ name: `c${name}`, description })) },
        { type: 'message', role: 'agent', messageId: 'm', content: [{ type: 'text', text: said }] },
        { type: 'info', title: `${count} of 1500` },
      );
    }
    for (const [at, event] of events.entries()) {
      journal.append('a', [{ at, event }]);
      if (at % 100 === 0) journal.flush();
    }
    const kept = journal.events('a').events;
    assert.deepEqual(stateOf(kept), stateOf(timed(0, ...events)));
    const size = JSON.stringify(kept).length;
    assert.ok(size <= 100_000, `${size} characters are read back`);
    const { bytes = Number.NaN } = journal.session('a') ?? {};
    assert.ok(bytes <= 100_000, `${bytes} bytes are kept`);
  });

  it('count a changed file in the turn that changed it, even if a later one changes it again', () => {
    const change = (newText: string): SessionEvent =>
      call('c1', { status: 'completed', content: [{ type: 'diff', path: '/f1', oldText: '', newText }] });
    const events: SessionEvent[] = ['t1', 't2'].flatMap((turnId, at) => [
      { type: 'turn_started', turnId, origin: 'user', at },
      change(`${turnId} `.repeat(2000)),
      { type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at },
    ]);
    for (const isFlushed of [false, true]) {
      const key = `files${isFlushed}`;
      journal.saveSession(newSession(key));
      for (const [at, event] of events.entries()) {
        journal.append(key, [{ at, event }]);
        if (isFlushed) journal.flush();
      }
      assert.deepEqual(stateOf(journal.events(key).events), stateOf(timed(0, ...events)));
    }
  });

  it('are deflated for the tool output of a busy day', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `src/part${at % 37}/file${at}.ts(${at},7): error TS2${at}: x`);
    for (let turn = 0; turn < 20; turn++) {
      const turnId = `t${turn}`;
      journal.append('a', timed(turn, { type: 'turn_started', turnId, origin: 'user', at: turn }));
      for (let step = 0; step < 30; step++) {
        const output = lines
          .slice(step)
          .join('\n')
          .slice(0, 10_000 + ((turn * 30 + step) % 20) * 1000);
        const id = `c${turn}-${step}`;
        journal.append('a', timed(turn, call(id, { title: 'Run', status: 'pending' }, true)));
        for (const status of ['in_progress', 'in_progress', 'completed'] as const)
          journal.append('a', timed(turn, call(id, { status, content: text(output), rawOutput: { output } })));
      }
      const end = { type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at: turn } as const;
      journal.append('a', timed(turn, end));
    }
    assert.ok(size() <= 12 * MB, `${size()} bytes`);
    assert.ok(closedSize() <= 6 * MB, 'a tenth of a day is a tenth of 60 MB');
  });

  it('take little more than the text of many short turns', () => {
    const streamed = (): number => {
      const stream = readdirSync(folder).find((name) => name.endsWith('.stream'));
      return stream === undefined ? 0 : statSync(join(folder, stream)).size;
    };
    let bytes = 0;
    const changes = changesDuring(() => {
      for (let index = 0; index < 50; index++) {
        const events = turn(`t${index}`, index * 10, 'go on', 'an answer of a few words '.repeat(20));
        bytes += JSON.stringify(events).length;
        for (const event of events) journal.append('a', [event]);
        const isLast = events.at(-1)?.event.type === 'turn_ended';
        assert.ok(isLast && streamed() >= 500 * index, 'all of it outlives the process');
      }
    });
    assert.equal(changes, 0, 'no page of the journal is written for a turn');
    assert.ok(streamed() < 2 * bytes, `${streamed()} bytes for ${bytes}`);
  });

  it('do not change while the user types a draft and scrolls', () => {
    journal.append('a', timed(1, said('an answer that goes on')));
    timers.runFirst();
    const changes = changesDuring(() => {
      for (let revision = 1; revision <= 100; revision++) {
        journal.side.saveDraft('a', { text: 'w'.repeat(revision), revision, attachments: [] });
        journal.side.saveView('a', { anchor: `e${revision}`, offset: 0, atEnd: false });
      }
    });
    assert.equal(changes, 0);
    assert.equal(journal.side.draft('a')?.revision, 100);
    assert.equal(journal.side.view('a')?.anchor, 'e100');
  });

  it('include the draft and the scroll position of a killed process', () => {
    const pid = process.pid + 1_000_000;
    const isAlive = (one: number): boolean => one !== pid && thisMachine.isAlive(one);
    journal.dispose();
    const killed = openJournal(folder, { schedule: timers.schedule, machine: { ...thisMachine, pid } });
    killed.side.saveDraft('a', { text: 'half a sent', revision: 3, attachments: [] });
    killed.side.saveDraft('a', { text: 'half a sentence', revision: 4, attachments: [] });
    killed.side.saveView('a', { anchor: 'e7', offset: 0, atEnd: false });
    journal = openJournal(folder, { machine: { ...thisMachine, isAlive } });
    assert.deepEqual(journal.side.draft('a'), { text: 'half a sentence', revision: 4, attachments: [] });
    assert.equal(journal.side.view('a')?.anchor, 'e7');
  });
});

function text(value: string) {
  return [{ type: 'content', block: { type: 'text', text: value } }] as const;
}

type ToolCall = Extract<SessionEvent, { type: 'tool_call' }>;

function call(toolCallId: string, patch: ToolCall['patch'], announced = false): ToolCall {
  return { type: 'tool_call', toolCallId, patch, announced };
}

function configEvent(random: (below: number) => number, body: string): SessionEvent {
  const values = ['v0', 'v1', 'v2'].slice(random(2)).map((value) => ({ value, name: body }));
  const option = { id: 'o', name: 'Mode', type: 'select', value: values[0]?.value ?? '', values } as const;
  return {
    type: 'config',
    options: [option],
    ...(random(3) === 0 && { chosen: `o${random(2)}` }),
    ...(random(3) === 0 && { isPast: true }),
  };
}

function randomEvent(random: (below: number) => number, at: number): SessionEvent {
  const id = `c${random(3)}`;
  const body = `${at} `.repeat(random(2) === 0 ? 1 : 1500);
  const content = (
    [undefined, text(body), [{ type: 'diff', path: `/f${random(3)}`, newText: body }], null, []] as const
  )[random(5)];
  const status = ([undefined, 'pending', 'in_progress', 'completed', 'failed'] as const)[random(5)];
  const patch = {
    ...(content !== undefined && { content }),
    ...(status !== undefined && { status }),
    ...(random(3) === 0 && { rawOutput: random(4) === 0 ? null : body }),
    ...(random(4) === 0 && { title: ['', 'a', null][random(3)] ?? null }),
    ...(random(5) === 0 && { locations: [{ path: `/l${at}` }] }),
  };
  const make: readonly (() => SessionEvent)[] = [
    () => call(id, patch),
    () => call(id, patch),
    () => call(id, patch, random(4) === 0),
    () => ({ type: 'tool_content', toolCallId: id, part: { type: 'content', block: { type: 'text', text: body } } }),
    () => ({ type: 'terminal', terminalId: `t${random(2)}`, append: body }),
    () => ({
      type: 'terminal',
      terminalId: `t${random(2)}`,
      ...(random(2) === 0 && { output: body, truncated: random(2) === 0 }),
      ...(random(3) === 0 && { exit: random(2) === 0 ? null : { exitCode: at } }),
      ...(random(3) === 0 && { command: `run ${at}` }),
    }),
    () => said(`word ${at} `),
    () => ({ type: 'turn_started', turnId: `t${at}`, origin: 'user', at }),
    () => ({ type: 'cancel_requested', turnId: `t${at - 3}` }),
    () => ({ type: 'turn_ended', turnId: `t${at - 5}`, stopReason: 'end_turn', barrier: 'response', at }),
    () => (random(6) === 0 ? { type: 'cleared', replay: true } : said('y', 'm1')),
    () => ({
      type: 'plan',
      planId: `p${random(2)}`,
      entries: [{ content: body, priority: 'medium', status: 'pending' }],
    }),
    () => ({ type: 'plan_document', planId: `p${random(2)}`, document: { type: 'markdown', text: body } }),
    () => (random(3) === 0 ? { type: 'plan_removed', planId: `p${random(2)}` } : said('z', 'm2')),
    () => ({
      type: 'message',
      role: random(2) === 0 ? 'agent' : 'thought',
      messageId: `m${random(3)}`,
      content: ([null, [], [{ type: 'text', text: body }]] as const)[random(3)] ?? null,
    }),
    () => ({ type: 'commands', commands: [{ name: `c${at}`, description: body }] }),
    () => configEvent(random, body),
    () => ({ type: 'mode', current: `v${random(3)}`, ...(random(2) === 0 && { byUser: true }) }),
    () => ({
      type: 'info',
      ...(random(3) > 0 && { title: random(4) === 0 ? null : body }),
      ...(random(4) === 0 && { byUser: true }),
    }),
    () => ({
      type: 'usage',
      usage: { used: at, size: 100, ...(random(3) === 0 && { cost: { amount: at, currency: 'USD' } }) },
    }),
    () => ({
      type: 'rate_limits',
      limits: Array.from({ length: 1 + random(2) }, () => ({
        kind: `k${random(2)}`,
        state: random(4) === 0 ? 'reached' : 'ok',
        used: at,
      })),
    }),
    () => ({ type: 'replayed_turn' }),
    () => (random(3) === 0 ? { type: 'replay_resumed' } : { type: 'ids_renewed' }),
    () => ({ type: 'message_chunk', role: 'user', block: { type: 'text', text: 'asked' }, messageId: `u${random(4)}` }),
  ];
  return (make[random(make.length)] ?? make[0])?.() ?? said('x');
}
