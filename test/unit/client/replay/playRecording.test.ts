// Plays recorded traffic of real agents, and malicious recordings.

import { strict as assert } from 'node:assert';
import { silentLog } from '../../../../src/base/log';
import { playRecording } from '../../../../src/client/replay/playRecording';
import type { SessionEvent, TimedEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { type RecordedMessage, type Recording, readRecording } from '../../../../src/traffic/recording';
import { pluck } from '../../../support/pluck';
import { readRecording as fixture, recordingNames } from '../../../support/protocol/recordings';

class Played {
  readonly model = new SessionModel();
  readonly events: SessionEvent[] = [];
  readonly waits: number[] = [];

  readonly note = (timed: readonly TimedEvent[]): void => {
    for (const { at, event } of timed) {
      this.events.push(event);
      this.model.apply(event, at);
    }
  };

  async play(recording: Recording, isPaced = false, signal = new AbortController().signal): Promise<this> {
    const wait = async (ms: number): Promise<void> => {
      this.waits.push(ms);
    };
    await playRecording(recording, { isPaced, note: this.note, log: silentLog, now: 0, wait }, signal);
    return this;
  }
}

const recordingOf = (...lines: readonly object[]): Promise<Recording> =>
  readRecording(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
const toAgent = (t: number, msg: object) => ({ dir: 'c2a', t, msg });
const fromAgent = (t: number, msg: object) => ({ dir: 'a2c', t, msg });
const said = (t: number, text: string) =>
  fromAgent(t, {
    method: 'session/update',
    params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  });
const update = (t: number, sessionUpdate: object) =>
  fromAgent(t, { method: 'session/update', params: { sessionId: 's', update: sessionUpdate } });
const prompt = (t: number, id: number, text: string) =>
  toAgent(t, { id, method: 'session/prompt', params: { sessionId: 's', prompt: [{ type: 'text', text }] } });

describe('playing a recording', () => {
  for (const name of recordingNames())
    it(`shows messages and tool calls of ${name}, with all turns ended and all questions closed`, async () => {
      const lines = fixture(name);
      const recording = await readRecording(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
      const { model } = await new Played().play(recording);
      const prompts = lines.filter(({ dir, msg }) => dir === 'c2a' && msg?.method === 'session/prompt').length;
      assert.equal(model.state.turn, undefined);
      assert.equal(model.state.permissions.size, 0);
      // A second load replaces the entries of the first.
      if (!lines.some(({ msg }) => msg?.method === 'session/load')) assert.equal(model.state.turns.length, prompts);
      if (prompts > 0) assert.ok(model.state.entries.some(({ kind }) => kind === 'agent' || kind === 'error'));
    });

  it('shows prompts, answers and stop reasons at their times', async () => {
    const recording = await recordingOf(
      { dir: 'mark', t: 0, at: 5_000, agent: 'A' },
      prompt(10, 1, 'hello'),
      said(20, 'Hi '),
      said(30, 'there'),
      fromAgent(40, { id: 1, result: { stopReason: 'max_tokens' } }),
      prompt(50, 2, 'more'),
      fromAgent(60, { id: 2, error: { code: -32000, message: 'No credit' } }),
    );
    const { model } = await new Played().play(recording);
    assert.deepEqual(pluck(model.state.entries, 'kind', 'at'), [
      ['user', 5_010],
      ['agent', 5_020],
      ['turn_end', 5_040],
      ['user', 5_050],
      ['error', 5_060],
      ['turn_end', 5_060],
    ]);
    assert.deepEqual(pluck(model.state.turns, 'stopReason'), ['max_tokens', 'error']);
  });

  it('passes on each message with its time, before its effects', async () => {
    const recording = await recordingOf({ dir: 'mark', t: 0, at: 5_000 }, prompt(10, 1, 'hello'), said(20, 'Hi'));
    const seen: unknown[] = [];
    const onMessage = (message: RecordedMessage, at: number): unknown =>
      seen.push([message.fromAgent, message.message.method, at]);
    const note = (events: readonly TimedEvent[]): unknown => seen.push(events[0]?.event.type);
    const options = { isPaced: false, note, onMessage, log: silentLog, now: 0 };
    await playRecording(recording, options, new AbortController().signal);
    assert.deepEqual(seen.slice(0, 4), [
      [false, 'session/prompt', 5_010],
      'turn_started',
      [true, 'session/update', 5_020],
      'message_chunk',
    ]);
  });

  it('ends an open turn with the recording, without a failure', async () => {
    const { model } = await new Played().play(await recordingOf(prompt(0, 1, 'hello'), said(1, 'Hi')));
    const [turn] = model.state.turns;
    assert.deepEqual([turn?.barrier, turn?.note, turn?.interrupted], ['exit', 'recording-ended', true]);
  });

  it('applies the state in the answer to session/status', async () => {
    const can = { protocolVersion: 2, info: { name: 'a', version: '1' }, capabilities: { session: { status: {} } } };
    const lines = [
      toAgent(0, { id: 1, method: 'initialize', params: {} }),
      fromAgent(1, { id: 1, result: can }),
      prompt(10, 2, 'hello'),
      fromAgent(11, { id: 2, result: { messageId: 'm' } }),
      update(12, { sessionUpdate: 'state_update', state: 'running' }),
      toAgent(100, { id: 3, method: 'session/status', params: { sessionId: 's' } }),
    ];
    const answer = fromAgent(110, { id: 3, result: { status: 'live', state: { state: 'idle' } } });
    const ended = await new Played().play(await recordingOf(...lines, answer));
    assert.equal(ended.model.state.turns[0]?.barrier, 'state');
    // Output since the question is newer than the answer.
    const working = await new Played().play(await recordingOf(...lines, said(105, 'more'), answer));
    assert.equal(working.model.state.turns[0]?.barrier, 'exit');
  });

  it('keeps the recorded pace without long pauses, and can be stopped', async () => {
    const recording = await recordingOf(prompt(0, 1, 'x'), said(100, 'a'), said(60_000, 'b'), said(60_050, 'c'));
    assert.deepEqual((await new Played().play(recording, true)).waits, [100, 2_000, 50]);
    const { model } = await new Played().play(recording, true, AbortSignal.abort());
    assert.equal(model.state.entries.length, 0);
  });

  it('shows terminals that a client ran for the agent', async () => {
    const recording = await recordingOf(
      fromAgent(1, { id: 7, method: 'terminal/create', params: { command: 'npm', args: ['test'] } }),
      toAgent(2, { id: 7, result: { terminalId: 't1' } }),
      fromAgent(3, { id: 8, method: 'terminal/output', params: { terminalId: 't1' } }),
      toAgent(4, { id: 8, result: { output: '1 passing', truncated: false, exitStatus: { exitCode: 0 } } }),
    );
    const { model } = await new Played().play(recording);
    const terminal = model.state.terminals.get('t1');
    assert.deepEqual([terminal?.command, terminal?.exit?.exitCode], ['npm test', 0]);
  });

  describe('whose connection was lost in a turn', () => {
    const can = { loadSession: true, sessionCapabilities: { status: {} } };
    const connect = (t: number, id: number, method: string, result: object): readonly object[] => [
      toAgent(t, { id: 0, method: 'initialize', params: {} }),
      fromAgent(t, { id: 0, result: { protocolVersion: 1, agentCapabilities: can } }),
      toAgent(t + 1, { id, method, params: { sessionId: 's' } }),
      fromAgent(t + 2, { id, result }),
    ];
    const begun = [...connect(0, 1, 'session/new', { sessionId: 's' }), prompt(10, 2, 'go'), said(20, 'It begins. ')];
    const asked = (t: number, id: number, result: object): readonly object[] => [
      toAgent(t, { id, method: 'session/status', params: { sessionId: 's' } }),
      fromAgent(t + 1, { id, result }),
    ];

    it('continues the turn, if the client asked about it', async () => {
      const recording = await recordingOf(
        ...begun,
        ...connect(1000, 1, 'session/status', { status: 'live' }),
        toAgent(1010, { id: 2, method: 'session/load', params: { sessionId: 's' } }),
        fromAgent(1011, { id: 2, result: {} }),
        ...asked(1200, 3, { status: 'live', state: { state: 'running' } }),
        said(1300, 'And on.'),
        update(1400, { sessionUpdate: 'state_update', state: 'idle', stopReason: 'max_tokens' }),
      );
      const { model } = await new Played().play(recording);
      assert.deepEqual(pluck(model.state.turns, 'stopReason', 'barrier'), [['max_tokens', 'state']]);
    });

    it('ends the turn, if the agent does not have it', async () => {
      const recording = await recordingOf(
        ...begun,
        ...connect(1000, 1, 'session/status', { status: 'not_found' }),
        ...connect(1010, 2, 'session/new', { sessionId: 'other' }),
      );
      const { model } = await new Played().play(recording);
      assert.deepEqual([model.state.turns[0]?.barrier, model.state.turn], ['exit', undefined]);
    });

    it('ends the turn, if the client opened the session without a question', async () => {
      const recording = await recordingOf(...begun, ...connect(1000, 1, 'session/load', {}), said(2000, 'late'));
      const { model } = await new Played().play(recording);
      assert.deepEqual([model.state.turns[0]?.barrier, model.state.entries.at(-1)?.late], ['exit', true]);
    });
  });

  it('shows only requests for this session and its subagents', async () => {
    const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }];
    const asks = (id: number, sessionId: string): object =>
      fromAgent(20 + id, {
        id,
        method: 'session/request_permission',
        params: { sessionId, toolCall: { toolCallId: `call-${id}`, title: 'Work' }, options },
      });
    const recording = await recordingOf(
      prompt(10, 1, 'go'),
      update(11, { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'Child', state: { state: 'running' } }),
      asks(1, 's'),
      asks(2, 'child'),
      asks(3, 'stranger'),
      toAgent(40, { method: 'session/cancel', params: { sessionId: 'child' } }),
      fromAgent(50, { id: 1, result: { stopReason: 'end_turn' } }),
    );
    const { model } = await new Played().play(recording);
    const calls = model.state.entries.flatMap((entry) => (entry.kind === 'tool' ? [entry.toolCallId] : []));
    assert.deepEqual(
      calls.map((id) => id.replace(/^.* /, '')),
      ['child', 'call-1', 'call-2'],
    );
    assert.equal(model.state.turns[0]?.stopReason, 'end_turn');
  });

  it('shows requests that a client refused as unknown', async () => {
    const recording = await recordingOf(
      fromAgent(1, { id: 7, method: 'vendor/ask', params: { plan: 'x' } }),
      toAgent(2, { id: 7, error: { code: -32601, message: 'Method not found' } }),
      fromAgent(3, { id: 8, method: 'fs/read_text_file', params: { path: '/x' } }),
      toAgent(4, { id: 8, error: { code: -32601, message: 'Method not found' } }),
    );
    const { model } = await new Played().play(recording);
    assert.deepEqual(
      model.state.entries.map((entry) => entry.kind === 'notice' && entry.title),
      ['vendor/ask'],
    );
  });

  it('treats messages of any form as data', async () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as object;
    const recording: Recording = {
      skipped: 0,
      messages: [
        { method: 'session/update', params: { update: { sessionUpdate: 'tool_call', toolCallId: { evil: 1 } } } },
        { method: 'session/update', params: { update: deep } },
        { id: 1, method: 'session/request_permission', params: { options: 'none' } },
        { id: 2, method: 'session/request_permission', params: deep },
        { id: {}, method: 'initialize' },
        { id: 3, result: { protocolVersion: deep } },
        { __proto__: { method: 'session/update' }, id: 4 },
        JSON.parse('{"__proto__":{"polluted":true},"id":5,"method":"session/prompt","params":{"prompt":{}}}') as object,
      ].map((message) => ({ fromAgent: true, at: 0, message: message as Readonly<Record<string, unknown>> })),
    };
    const { model } = await new Played().play(recording);
    assert.equal(model.state.turn, undefined);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it('stores a limited number of requests', async () => {
    const messages = Array.from({ length: 5_000 }, (_one, id) => ({
      fromAgent: false,
      at: 0,
      message: { id, method: 'session/new', params: {} },
    }));
    const { events } = await new Played().play({ messages, skipped: 0 });
    assert.equal(events.length, 0);
  });
});
