// Tests the terminals of a session in its transcript, and when a turn is stopped.

import { strict as assert } from 'node:assert';
import type { StateReport } from '../../../../src/acp/protocol/dialect';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { Deferred } from '../../../../src/base/deferred';
import { toDisposable } from '../../../../src/base/disposable';
import { Emitter } from '../../../../src/base/event';
import { silentLog } from '../../../../src/base/log';
import { followTerminals } from '../../../../src/client/conversation/followTerminals';
import { type HearingConversation, Inbound } from '../../../../src/client/conversation/inbound';
import { TurnDriver } from '../../../../src/client/prompts/turnDriver';
import type { CreatedTerminal, TerminalChange } from '../../../../src/client/terminals/terminals';
import { GRACES, initialTurns, type TurnResult } from '../../../../src/client/turns/turnState';
import type { ToolContent } from '../../../../src/session/events/content';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import type { ToolEntry } from '../../../../src/session/model/state';
import type { QueueItem } from '../../../../src/session/queue/queue';

const shows = (terminalId: string): ToolContent => ({ type: 'terminal', terminalId });
const runs = (command: string, more: ToolPatch = {}): ToolPatch => ({
  kind: 'execute',
  rawInput: { command },
  ...more,
});

class Session {
  readonly model = new SessionModel();
  readonly created = new Emitter<CreatedTerminal>();
  readonly changed = new Emitter<TerminalChange>();
  readonly running = new Set<string>();
  readonly stopped: string[] = [];
  readonly #applied = new Emitter<SessionEvent>();
  readonly #timers = new Set<() => void>();

  constructor() {
    const terminals = {
      onDidCreate: this.created.event,
      onDidChange: this.changed.event,
      isRunning: (id: string) => this.running.has(id),
      stop: async (id: string) => void this.stopped.push(id),
    };
    const recorder = { apply: (event: SessionEvent) => this.apply(event), onDidApply: this.#applied.event };
    const schedule = (run: () => void) => {
      this.#timers.add(run);
      return toDisposable(() => this.#timers.delete(run));
    };
    const { model } = this;
    followTerminals({ key: 's', agent: { name: 'Grok' }, model, recorder, services: { terminals } }, schedule);
    this.apply({ type: 'turn_started', turnId: 't', origin: 'user', at: 0 });
  }

  apply(event: SessionEvent): void {
    this.model.apply(event, 0);
    this.#applied.fire(event);
  }

  call(toolCallId: string, patch: ToolPatch): void {
    this.apply({ type: 'tool_call', toolCallId, patch, announced: this.model.toolIndex(toolCallId) === undefined });
  }

  create(terminalId: string, command: string): void {
    this.running.add(terminalId);
    this.created.fire({ terminalId, sessionId: 's', command, cwd: '/w' });
  }

  exit(terminalId: string, exitCode: number): void {
    this.running.delete(terminalId);
    this.changed.fire({ terminalId, exit: { exitCode } });
  }

  end(turnId = 't'): void {
    this.apply({ type: 'turn_ended', turnId, stopReason: 'cancelled', barrier: 'response', at: 1 });
  }

  stop(): void {
    this.apply({ type: 'cancel_requested', turnId: 't' });
    this.end();
  }

  wait(): void {
    for (const run of [...this.#timers]) {
      this.#timers.delete(run);
      run();
    }
  }

  reload(): void {
    this.#timers.clear();
    for (const terminalId of this.running) this.create(terminalId, 'as before');
  }

  shownIn(terminalId: string): string[] {
    return this.#tools
      .filter(({ content }) => JSON.stringify(content).includes(terminalId))
      .map((one) => one.toolCallId);
  }

  get #tools(): ToolEntry[] {
    return this.model.state.entries.flatMap((entry) => (entry.kind === 'tool' ? [entry] : []));
  }

  tool(toolCallId: string): ToolEntry {
    const entry = this.#tools.find((one) => one.toolCallId === toolCallId);
    assert.ok(entry);
    return entry;
  }

  get notices(): (string | undefined)[] {
    return this.model.state.entries.flatMap((entry) => (entry.kind === 'notice' ? [entry.said?.code] : []));
  }
}

describe('a terminal that no call names', () => {
  let session: Session;
  beforeEach(() => {
    session = new Session();
  });

  it('is shown in the only open call that runs commands, even when its content is replaced', () => {
    session.call('a', { kind: 'execute', title: 'Run' });
    session.call('b', { kind: 'read' });
    session.create('t1', 'npm test');
    session.call('a', { content: [{ type: 'content', block: { type: 'text', text: 'x' } }] });
    session.wait();
    assert.deepEqual(session.shownIn('t1'), ['a']);
    assert.equal(session.tool('a').content.length, 2);
  });

  it('is shown in the call whose command it runs', () => {
    session.call('a', runs('ls'));
    session.call('b', runs('ls -la'));
    session.call('c', { kind: 'other', rawInput: { input: { cmd: 'npm test' } } });
    session.create('t1', "bash -lc 'ls -la'");
    session.create('t2', 'npm test 2>&1');
    session.create('t3', 'ls');
    assert.deepEqual([session.shownIn('t1'), session.shownIn('t2'), session.shownIn('t3')], [['b'], ['c'], ['a']]);
  });

  it('moves to the call that the agent names', () => {
    session.call('a', runs('npm test'));
    session.create('t1', 'npm test');
    session.call('b', { kind: 'execute', content: [shows('t1')] });
    assert.deepEqual(session.shownIn('t1'), ['b']);
    session.call('a', { content: [] });
    assert.deepEqual(session.shownIn('t1'), ['b']);
  });

  it('has its own entry if several calls or none match', () => {
    session.call('a', runs('one'));
    session.call('b', runs('two'));
    session.create('t1', 'three');
    assert.deepEqual(session.shownIn('t1'), [], 'the agent may name its call at once');
    session.wait();
    assert.deepEqual(session.shownIn('t1'), ['terminal t1']);
    const { title, status } = session.tool('terminal t1');
    assert.deepEqual([title, status], ['three', 'in_progress']);
    session.exit('t1', 1);
    assert.equal(session.tool('terminal t1').status, 'failed');
    session.create('t2', 'four');
    session.call('c', runs('four', { content: [shows('t2')] }));
    session.wait();
    assert.deepEqual(session.shownIn('t2'), ['c']);
  });
});

describe('a turn that the user stops', () => {
  let session: Session;
  beforeEach(() => {
    session = new Session();
  });

  it('ends the commands that run in it after a second, and says so', () => {
    session.call('a', runs('sleep 100'));
    session.create('t1', 'sleep 100');
    session.create('t2', 'ls');
    session.exit('t2', 0);
    session.stop();
    assert.deepEqual(session.stopped, [], 'the agent may end them itself');
    session.wait();
    assert.deepEqual(session.stopped, ['t1']);
    assert.equal(session.model.state.terminals.get('t1')?.isStopped, true);
    assert.equal(session.model.state.terminals.get('t2')?.isStopped, undefined);
    session.changed.fire({ terminalId: 't1', append: 'bye' });
    assert.deepEqual(session.notices, []);
  });

  it('ends a command whose request was on its way, unless a later turn runs', () => {
    session.stop();
    session.wait();
    session.create('late', 'sleep 100');
    session.wait();
    assert.deepEqual(session.stopped, ['late']);
    session.apply({ type: 'turn_started', turnId: 't2', origin: 'user', at: 2 });
    session.create('next', 'ls');
    session.wait();
    assert.deepEqual(session.stopped, ['late']);
  });

  it('ends its commands if the window is reloaded immediately', () => {
    session.create('t1', 'sleep 100');
    session.stop();
    session.reload();
    session.wait();
    assert.deepEqual(session.stopped, ['t1']);
  });

  it('leaves the commands of other turns and of announced background work', () => {
    session.create('old', 'npm run dev');
    session.apply({ type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 1 });
    session.wait();
    session.apply({ type: 'turn_started', turnId: 't2', origin: 'user', at: 2 });
    session.call('a', runs('watch'));
    session.create('t1', 'watch');
    session.create('t2', 'serve');
    session.create('t3', 'sleep');
    session.apply({
      type: 'background',
      work: [
        { type: 'tool_call', id: 'a' },
        { type: 'terminal', id: 't2' },
      ],
    });
    session.apply({ type: 'cancel_requested', turnId: 't2' });
    session.end('t2');
    session.wait();
    assert.deepEqual(session.stopped, ['t3']);
    for (const terminalId of ['t1', 't2']) session.changed.fire({ terminalId, append: 'works' });
    session.call('a', { rawOutput: 'works' });
    assert.deepEqual(session.notices, []);
  });

  it('ends no commands if it ends by itself', () => {
    session.create('t1', 'npm run dev');
    session.end();
    session.wait();
    assert.deepEqual(session.stopped, []);
  });

  it('causes one warning if the agent still sends output of its own commands', () => {
    session.call('a', runs('yes', { content: [shows('own')] }));
    session.apply({ type: 'terminal', terminalId: 'own', append: 'y' });
    session.stop();
    session.apply({ type: 'terminal', terminalId: 'own', append: 'on its way' });
    session.wait();
    assert.deepEqual(session.notices, []);
    session.call('a', { status: 'failed' });
    assert.deepEqual(session.notices, [], 'the end of a call is no output');
    session.apply({ type: 'terminal', terminalId: 'own', append: 'y' });
    session.apply({ type: 'terminal', terminalId: 'own', append: 'y' });
    assert.deepEqual(session.notices, ['still-running']);
  });

  it('causes no warning for output of a later turn', () => {
    session.call('a', runs('yes', { content: [shows('own')] }));
    session.apply({ type: 'terminal', terminalId: 'own', append: 'y' });
    session.stop();
    session.wait();
    session.apply({ type: 'turn_started', turnId: 't2', origin: 'user', at: 2 });
    session.apply({ type: 'terminal', terminalId: 'own', append: 'y' });
    assert.deepEqual(session.notices, []);
  });
});

function running(create = async (): Promise<unknown> => ({})): {
  readonly inbound: Inbound;
  readonly model: SessionModel;
} {
  const model = new SessionModel();
  const dialect = new V1Agent({ request: () => Promise.reject(new Error('only reads')), notify: async () => {} });
  const driver = new TurnDriver(initialTurns(), {
    graces: GRACES,
    now: () => 0,
    log: silentLog,
    apply: (event) => void model.apply(event, 0),
    onInserted() {},
    onSettled() {},
  });
  const prompt = { item: {} as QueueItem, content: [], done: new Deferred<TurnResult | undefined>() };
  driver.prompt(prompt, { promptId: 'q1', text: '', endsBy: 'response', promised: false });
  const turns = { driver, state: (report: StateReport) => driver.feed({ type: 'state', report }), isCancelled: false };
  const inbound = new Inbound({
    ...{ key: 'k', roots: [], model, turns },
    services: { log: silentLog, clock: { now: () => 0 }, terminals: { create } },
    changes: { beforeWrite: async () => {} },
    recorder: { together: (run: () => void) => run(), applyAt: model.apply.bind(model) },
    probe: { onUpdate() {} },
    connector: { sessionId: 's', agentSide: { dialect, link: { router: { requested() {} } } }, progressed() {} },
  } as unknown as HearingConversation);
  return { inbound, model };
}

describe('a command that an agent starts', () => {
  it('is refused from the moment the user stops a turn until the next one begins', async () => {
    let started = 0;
    const { inbound, model } = running(async () => ({ terminalId: `t${++started}` }));
    const params = { sessionId: 's', command: 'ls' };
    const create = () => inbound.request('terminal/create', params, new AbortController().signal, 1);
    await create();
    const turnId = model.state.turn?.id ?? '';
    model.apply({ type: 'cancel_requested', turnId }, 0);
    await assert.rejects(create(), { code: -32800 });
    model.apply({ type: 'turn_ended', turnId, stopReason: 'cancelled', barrier: 'response', at: 1 }, 0);
    await assert.rejects(create(), { code: -32800 });
    model.apply({ type: 'background', work: [{ type: 'tool_call', id: 'a' }] }, 0);
    await create();
    model.apply({ type: 'background', work: [] }, 0);
    model.apply({ type: 'turn_started', turnId: 'next', origin: 'user', at: 2 }, 0);
    await create();
    assert.equal(started, 3);
  });
});
