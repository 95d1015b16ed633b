// Recordings can be read back and played, and their content is never trusted.
import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { ParleyError } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { playRecording } from '../../../src/client/replay/playRecording';
import type { TurnLane } from '../../../src/panel/trafficContract';
import type { TimedEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import { cleanMessages } from '../../../src/traffic/cleanMessages';
import { RECORDING_LIMITS, readRecording, writeRecording } from '../../../src/traffic/recording';
import { TrafficLog } from '../../../src/traffic/trafficLog';

const read = (text: string) => readRecording(Buffer.from(text));
const isRefused = (code: string) => (error: unknown) => error instanceof ParleyError && error.code === code;

describe('a recording', () => {
  it('contains sent and received messages with times, stderr and other output', async () => {
    const log = new TrafficLog();
    log.note('s', 'out', '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}', 1_000);
    log.note('s', 'stderr', 'starting', 1_010);
    log.note('s', 'noise', 'Welcome!', 1_020);
    log.note('s', 'in', '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}', 1_200);
    log.note('s', 'in', `{"x":"${'y'.repeat(2_000_000)}"}`, 1_300);
    const text = writeRecording(await cleanMessages([...log.entries()]), [], { agent: 'Claude', version: '1.2.3' });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      lines.slice(0, 5).map(({ dir, t }) => [dir, t]),
      [
        ['mark', 0],
        ['c2a', 0],
        ['err', 10],
        ['a2c', 20],
        ['a2c', 200],
      ],
    );
    assert.equal(lines[3]?.raw, 'Welcome!');
    assert.equal(lines[5]?.len, 2_000_008);
    assert.equal(lines[5]?.msg, undefined);
    const recording = await read(text);
    assert.deepEqual([recording.agent, recording.began, recording.skipped], ['Claude', 1_000, 2]);
    assert.deepEqual(
      recording.messages.map(({ fromAgent, at }) => [fromAgent, at]),
      [
        [false, 0],
        [true, 200],
      ],
    );
  });

  it('ends with the turn trace, whose marks refer to lines', async () => {
    const log = new TrafficLog();
    for (let n = 0; n < 3; n++) log.note('s', n === 0 ? 'out' : 'in', `{"n":${n}}`, 1_000 + n * 10);
    const lanes: readonly TurnLane[] = [
      {
        id: 0,
        key: 's',
        requestId: '3',
        marks: [
          { kind: 'sent', at: 1_000, ms: 0, seq: 0 },
          { kind: 'settled', at: 1_005, ms: 5 },
          { kind: 'answer', at: 1_020, ms: 15, seq: 2, note: 'late' },
        ],
      },
      { id: 1, key: 's', isOwn: true, marks: [{ kind: 'idle', at: 1_010, ms: 0, seq: 1, note: 'doubled', count: 2 }] },
    ];
    const text = writeRecording(await cleanMessages([...log.entries()]), lanes, { agent: 'A', version: '1' });
    assert.deepEqual(JSON.parse(text.trim().split('\n').at(-1) ?? ''), {
      dir: 'mark',
      t: 20,
      turns: [
        {
          prompt: '3',
          marks: [
            { kind: 'sent', t: 0, ms: 0, line: 2 },
            { kind: 'settled', t: 5, ms: 5 },
            { kind: 'answer', t: 20, ms: 15, line: 4, note: 'late' },
          ],
        },
        { own: true, marks: [{ kind: 'idle', t: 10, ms: 0, line: 3, note: 'doubled', count: 2 }] },
      ],
    });
    const recording = await read(text);
    assert.deepEqual([recording.messages.length, recording.skipped, recording.agent], [3, 0, 'A']);
  });

  it('is rejected if it is too large, or has too many lines or none', async () => {
    await assert.rejects(readRecording(new Uint8Array(RECORDING_LIMITS.bytes + 1)), isRefused('recording-too-large'));
    const line = '{"dir":"err","t":0}\n';
    await assert.rejects(read(line.repeat(RECORDING_LIMITS.lines + 1)), isRefused('recording-too-large'));
    for (const text of ['', 'hello\n', '{}\n[]\nnull\n', '{"dir":"a2c","t":0,"msg":[]}'])
      await assert.rejects(read(text), isRefused('not-a-recording'));
  });

  it('has ascending times and short one-line names, whatever the file contains', async () => {
    const { messages, agent } = await read(
      [
        JSON.stringify({ dir: 'mark', agent: `A\n${'b'.repeat(9_000)}`, at: -1 }),
        '{"dir":"a2c","t":50,"msg":{"a":1}}',
        '{"dir":"a2c","t":-7,"msg":{"a":1}}',
        '{"dir":"a2c","t":1e300,"msg":{"a":1}}',
        '{"dir":"a2c","t":"now","msg":{"a":1}}',
      ].join('\r\n'),
    );
    assert.deepEqual(
      messages.map(({ at }) => at),
      [50, 50, 50, 50],
    );
    assert.equal(agent?.length, 101);
    assert.doesNotMatch(agent ?? '', /\n/);
  });

  it('is either read or rejected, whatever its bytes', async () => {
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({
          dir: fc.constantFrom('a2c', 'c2a', 'mark', 'err', 'exit', 'x'),
          t: fc.anything(),
          msg: fc.object(),
          agent: fc.anything(),
        })
        .map((value) => JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? 0 : inner))),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.uint8Array(), async (lines, tail) => {
        const bytes = Buffer.concat([Buffer.from(lines.join('\n')), tail]);
        try {
          const { messages } = await readRecording(bytes);
          await play(messages);
        } catch (error) {
          assert.ok(isRefused('not-a-recording')(error), String(error));
        }
      }),
      { numRuns: 200 },
    );
  });
});

async function play(messages: Awaited<ReturnType<typeof readRecording>>['messages']): Promise<SessionModel> {
  const model = new SessionModel();
  const note = (events: readonly TimedEvent[]): void => {
    for (const { at, event } of events) model.apply(event, at);
  };
  const options = { isPaced: false, note, log: silentLog, now: 0 };
  await playRecording({ messages, skipped: 0 }, options, new AbortController().signal);
  return model;
}
