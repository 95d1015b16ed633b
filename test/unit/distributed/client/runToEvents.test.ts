// Events of a run in a transcript.

import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log';
import { readStreamedEvent } from '../../../../src/distributed/client/communicationClient';
import { RunToEvents } from '../../../../src/distributed/client/runToEvents';
import { readEvent } from '../../../../src/distributed/model/model';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { sameData } from '../../../support/sameData';

const run = (status: string, fields: object = {}) => ({
  type: `run.${status}`,
  run: { run_id: 'r1', agent_name: 'a', session_id: null, status, output: [], ...fields },
});
const part = (fields: object) => ({ type: 'message.part', part: { name: null, content_url: null, ...fields } });
const text = (content: string) => ({ name: null, content_type: 'text/plain', content, metadata: null });
const created = (parts: object[] = []) => ({ type: 'message.created', message: { role: 'user', parts } });
const completed = (parts: object[]) => ({ type: 'message.completed', message: { role: 'user', parts } });
const trajectory = (fields: object) => part({ metadata: { kind: 'trajectory', ...fields } });

function shownBy(events: readonly object[]): { events: SessionEvent[]; reader: RunToEvents } {
  const reader = new RunToEvents('k', silentLog);
  return { events: events.flatMap((event) => reader.apply(readEvent(event))), reader };
}

function said(events: readonly SessionEvent[]): string {
  return events
    .map((event) => (event.type === 'message_chunk' && event.block.type === 'text' ? event.block.text : ''))
    .join('');
}

describe('a run in the transcript', () => {
  it('shows a text once, whether it is streamed, sent whole, or only in the final run', () => {
    const output = [{ role: 'agent/a', parts: [text('one '), text('two')] }];
    const parts = [part(text('one ')), part(text('two'))];
    const ways = [
      [created(), ...parts, completed(output[0]!.parts), run('completed', { output })],
      [created(output[0]!.parts), ...parts, completed(output[0]!.parts), run('completed', { output })],
      [created(output[0]!.parts), completed(output[0]!.parts), run('completed', { output })],
      [created(), ...parts, completed([text('one two')]), run('completed', { output: [{ parts: [text('one two')] }] })],
      [...parts, run('completed', { output })],
      [created(), part(text('one ')), run('completed', { output })],
      [run('completed', { output })],
    ];
    for (const way of ways) {
      const { events, reader } = shownBy(way);
      assert.equal(said(events), 'one two', JSON.stringify(way.map(({ type }) => type)));
      assert.equal(reader.end?.stopReason, 'end_turn');
      assert.ok(events.every((event) => event.type !== 'message_chunk' || event.role === 'agent'));
    }
  });

  it('keeps the streamed text if the whole contradicts it', () => {
    const { events } = shownBy([created(), part(text('abc')), completed([text('xyz')]), run('completed')]);
    assert.equal(said(events), 'abc');
  });

  it('separates messages, and shows text after a tool call below it', () => {
    const { events } = shownBy([
      created(),
      part(text('one')),
      completed([text('one')]),
      created(),
      part(text('two')),
      trajectory({ tool_name: 'grep', tool_input: { q: 1 } }),
      part(text('three')),
    ]);
    const model = new SessionModel();
    model.apply({ type: 'turn_started', turnId: 't', origin: 'user', at: 0 }, 0);
    for (const event of events) model.apply(event, 0);
    assert.deepEqual(
      model.state.entries.map((entry) => entry.kind),
      ['agent', 'agent', 'tool', 'agent'],
    );
  });

  it('shows steps as thoughts and tool calls, with input and output', () => {
    const { events } = shownBy([
      trajectory({ message: 'hm', tool_name: null, tool_input: null, tool_output: null }),
      trajectory({ tool_name: 'grep', tool_input: { q: 'x' }, message: 'Searching' }),
      trajectory({ tool_name: 'grep', tool_output: { hits: 2 } }),
      trajectory({ tool_name: 'ls', tool_input: {}, tool_output: { files: [] } }),
      trajectory({ tool_name: 'slow', tool_input: {} }),
      run('completed'),
    ]);
    assert.equal(events[0]?.type === 'message_chunk' && events[0].role, 'thought');
    const calls = events.filter((event) => event.type === 'tool_call');
    assert.deepEqual(
      calls.map(({ toolCallId, announced, patch }) => [toolCallId, announced, patch.status, patch.title]),
      [
        ['k:step2', true, 'in_progress', 'Searching'],
        ['k:step2', false, 'completed', undefined],
        ['k:step4', true, 'completed', 'ls'],
        ['k:step5', true, 'in_progress', 'slow'],
        ['k:step5', false, 'completed', undefined],
      ],
    );
    assert.deepEqual(calls[0]?.patch.rawInput, { q: 'x' });
    assert.deepEqual(calls[1]?.patch.rawOutput, { hits: 2 });
  });

  it('shows files, images and sources, and links instead of fetching', () => {
    const { events } = shownBy([
      part({ name: '/a.txt', content_type: 'text/plain', content: 'ZGF0YQ==', content_encoding: 'base64' }),
      part({ name: 'p.png', content_type: 'image/png', content: 'AAAA', content_encoding: 'base64' }),
      part({ name: 'b.bin', content_type: 'application/zip', content: 'AAAA', content_encoding: 'base64' }),
      part({ content_type: 'application/pdf', content_url: 'https://x.test/f/doc%20one.pdf?sig=secret' }),
      part({ content: 'as said', metadata: { kind: 'citation', url: 'https://x.test/s', title: 'Source' } }),
      part({ metadata: { kind: 'citation', url: 'javascript:alert(1)', title: 'A book', description: 'p. 3' } }),
    ]);
    sameData(
      events.map((event) => event.type === 'message_chunk' && event.block),
      [
        { type: 'resource', uri: 'artifact:///a.txt', mimeType: 'text/plain', text: 'data' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png', uri: 'artifact:///p.png' },
        { type: 'resource', uri: 'artifact:///b.bin', mimeType: 'application/zip', blob: 'AAAA' },
        {
          type: 'resource_link',
          uri: 'https://x.test/f/doc%20one.pdf?sig=secret',
          name: 'doc one.pdf',
          mimeType: 'application/pdf',
        },
        { type: 'text', text: 'as said' },
        { type: 'resource_link', uri: 'https://x.test/s', name: 'Source' },
        { type: 'text', text: ' (A book: p. 3)' },
      ],
    );
  });

  it('shows the question of a run, and continues the run after the answer', () => {
    const question = { type: 'message', message: { role: 'user', parts: [text('Proceed?')] } };
    const reader = new RunToEvents('k', silentLog);
    const first = [created(), part(text('so far ')), run('awaiting', { await_request: question })];
    const shown = first.flatMap((event) => reader.apply(readEvent(event)));
    assert.equal(said(shown), 'so far Proceed?');
    assert.deepEqual([reader.end?.status, reader.end?.stopReason], ['awaiting', 'end_turn']);
    const output = [{ parts: [text('so far ')] }, { parts: [text('done')] }];
    const after = [run('in-progress', { await_request: question }), created(), part(text('done'))];
    const rest = [...after, completed([text('done')]), run('completed', { output, await_request: question })];
    assert.equal(said(rest.flatMap((event) => reader.apply(readEvent(event)))), 'done');
    assert.equal(reader.end?.status, 'completed');
  });

  it('shows a notice if the agent waits without a question', () => {
    const { events } = shownBy([run('awaiting', { await_request: null })]);
    assert.deepEqual(events, [
      { type: 'notice', severity: 'info', title: '', said: { code: 'agent-awaits-answer', args: [] }, own: true },
    ]);
  });

  it('keeps the output before a failure, and shows the error on one line', () => {
    const output = [{ parts: [text('partial')], completed_at: null }];
    const error = { code: 'invalid_input', message: 'bad\u001b[31m\ninput', data: null };
    const { events, reader } = shownBy([created(), part(text('partial')), run('failed', { output, error })]);
    assert.equal(said(events), 'partial');
    assert.deepEqual(events.at(-1), { type: 'error', code: 'agent-error invalid_input', message: 'bad [31m input' });
    assert.equal(reader.end?.stopReason, 'error');
  });

  it('continues after unknown, irrelevant and invalid events', () => {
    const reader = new RunToEvents('k', silentLog);
    const strange = [
      { type: 'run.paused', x: 1 },
      { type: 'generic', generic: { thought: 1 } },
      { type: 'message.part' },
      7,
      undefined,
    ];
    for (const event of strange) assert.deepEqual(reader.apply(readStreamedEvent(event, silentLog)), []);
    assert.equal(reader.end, undefined);
  });

  it('ends a run whose last event is invalid', () => {
    const reader = new RunToEvents('k', silentLog);
    reader.apply(readStreamedEvent({ type: 'run.completed', run: { status: 'completed' } }, silentLog));
    assert.equal(reader.end?.status, 'failed');
  });
});
