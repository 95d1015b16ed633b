// Tests the marks of turns in captured messages.

import { strict as assert } from 'node:assert';
import { WireMarks } from '../../../../src/client/replay/wireMarks';
import type { TurnLane } from '../../../../src/panel/trafficContract';
import type { WireMessage } from '../../../../src/traffic/trafficLog';
import { lanesOf } from '../../../../src/traffic/turnTrace';
import { pluck } from '../../../support/pluck';
import { readRecording, recordingNames } from '../../../support/protocol/recordings';

type Line = readonly [at: number, kind: 'in' | 'out', message: object];

const initialized = (protocolVersion: number, promised = false): readonly Line[] => [
  [0, 'out', { id: 0, method: 'initialize', params: { protocolVersion } }],
  [
    1,
    'in',
    {
      id: 0,
      result: {
        protocolVersion,
        agentCapabilities: { sessionCapabilities: { ...(promised && { turnComplete: {} }) } },
      },
    },
  ],
  [2, 'out', { id: 1, method: 'session/new', params: {} }],
  [3, 'in', { id: 1, result: { sessionId: 's' } }],
];
const prompt = (at: number, id: number, text = 'go'): Line => [
  at,
  'out',
  { id, method: 'session/prompt', params: { sessionId: 's', prompt: [{ type: 'text', text }] } },
];
const update = (at: number, fields: object, sessionId = 's'): Line => [
  at,
  'in',
  { method: 'session/update', params: { sessionId, update: fields } },
];
const says = (at: number, sessionId?: string): Line =>
  update(at, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Well' } }, sessionId);
const complete = (at: number, promptRequestId: string): Line =>
  update(at, { sessionUpdate: 'turn_complete', promptRequestId, stopReason: 'end_turn' });
const state = (at: number, word: string): Line => update(at, { sessionUpdate: 'state_update', state: word });
const echo = (at: number, messageId: string, text = 'go'): Line =>
  update(at, { sessionUpdate: 'user_message', messageId, content: [{ type: 'text', text }] });
const answer = (at: number, id: number, result: object = { stopReason: 'end_turn' }): Line => [
  at,
  'in',
  { id, result },
];

async function lanes(...lines: readonly Line[]): Promise<readonly TurnLane[]> {
  const entries = lines.map(([at, kind, message], seq) => ({
    entry: { seq, at, key: 'k', kind, text: '', length: 0 },
    message: message as WireMessage,
    text: '',
  }));
  return lanesOf(entries, new WireMarks());
}

/**
 * Returns `3: sent@10 #4, answer late@30 #5` for each lane: the id, and the marks with their times
 * and messages.
 */
async function words(...lines: readonly Line[]): Promise<readonly string[]> {
  return (await lanes(...lines)).map(({ requestId = '-', marks }) => {
    const parts = marks.map(
      ({ kind, note, at, seq }) => `${kind}${note ? ` ${note}` : ''}@${at}${seq === undefined ? '' : ` #${seq}`}`,
    );
    return `${requestId}: ${parts.join(', ')}`;
  });
}

describe('the trace of captured messages', () => {
  it('has the points of a v1 turn with their messages', async () => {
    assert.deepEqual(await words(...initialized(1), prompt(10, 2), says(20), says(25), answer(30, 2)), [
      '2: sent@10 #4, output@20 #5, answer@30 #7, settled@30 #7',
    ]);
  });

  it('has the points of a v2 turn, whichever of receipt and echo is first', async () => {
    const idle: readonly Line[] = [state(15, 'running'), says(20), state(30, 'idle')];
    assert.deepEqual(
      await words(...initialized(2), prompt(10, 2), answer(11, 2, { messageId: 'm' }), echo(12, 'm'), ...idle),
      ['2: sent@10 #4, receipt@11 #5, echo@12 #6, output@20 #8, idle@30 #9, settled@30 #9'],
    );
    assert.deepEqual(
      await words(...initialized(2), prompt(10, 2), echo(11, 'm'), answer(12, 2, { messageId: 'm' }), ...idle),
      ['2: sent@10 #4, echo@11 #5, receipt@12 #6, output@20 #8, idle@30 #9, settled@30 #9'],
    );
  });

  it('settles a turn without its answer after the timeout, and marks the answer as late', async () => {
    const late: readonly Line[] = [prompt(10, 2), says(20), complete(30, '2'), prompt(15_000, 3), answer(15_010, 2)];
    assert.deepEqual(await words(...initialized(1, true), ...late, complete(15_020, '3'), answer(15_030, 3)), [
      '2: sent@10 #4, output@20 #5, barrier@30 #6, settled@10030, answer late@15010 #8',
      '3: sent@15000 #7, barrier@15020 #9, answer@15030 #10, settled@15030 #10',
    ]);
  });

  it('marks a barrier of another client as foreign and a repeated one as doubled', async () => {
    const lines: readonly Line[] = [
      prompt(10, 2),
      complete(20, '77'),
      complete(30, '2'),
      complete(31, '2'),
      answer(40, 2),
    ];
    assert.deepEqual(await words(...initialized(1, true), ...lines, complete(50, '2')), [
      '2: sent@10 #4, barrier foreign@20 #5, barrier@30 #6, barrier doubled@31 #7, answer@40 #8, settled@40 #8, barrier doubled@50 #9',
    ]);
  });

  it('has a lane for a turn that another client began', async () => {
    const other: readonly Line[] = [echo(10, 'x', 'theirs'), state(11, 'running'), says(20), state(30, 'idle')];
    assert.deepEqual(await words(...initialized(2), ...other), [
      '-: echo foreign@10 #4, output@20 #6, idle@30 #7, settled@30 #7',
    ]);
  });

  it('distinguishes two prompts that are sent together', async () => {
    const both: readonly Line[] = [prompt(10, 2, 'one'), prompt(11, 3, 'two'), says(20), answer(30, 2), answer(40, 3)];
    assert.deepEqual(await words(...initialized(1), ...both), [
      '2: sent@10 #4, output@20 #6, answer@30 #7, settled@30 #7',
      '3: sent@11 #5, answer@40 #8, settled@40 #8',
    ]);
  });

  it('marks a stop', async () => {
    const stop: Line = [20, 'out', { method: 'session/cancel', params: { sessionId: 's' } }];
    assert.deepEqual(await words(...initialized(1), prompt(10, 2), stop, answer(30, 2, { stopReason: 'cancelled' })), [
      '2: sent@10 #4, cancel@20 #5, answer@30 #6, settled@30 #6',
    ]);
  });

  it('ignores replays and messages of subagents', async () => {
    const load: Line = [10, 'out', { id: 2, method: 'session/load', params: { sessionId: 's' } }];
    const repeated: readonly Line[] = [load, echo(11, 'm'), says(12), complete(13, '9'), answer(14, 2, {})];
    assert.deepEqual(await words(...initialized(1), ...repeated, prompt(20, 3), says(21, 'sub'), answer(30, 3)), [
      '3: sent@20 #9, answer@30 #11, settled@30 #11',
    ]);
  });

  it('settles open turns when the agent restarts with the same ids', async () => {
    const again = initialized(1).map(([at, kind, message]): Line => [at + 100, kind, message]);
    assert.deepEqual(await words(...initialized(1), prompt(10, 2), ...again, prompt(110, 2), answer(120, 2)), [
      '2: sent@10 #4, settled@100 #5',
      '2: sent@110 #9, answer@120 #10, settled@120 #10',
    ]);
  });

  it('returns when the next timeout is due', () => {
    const reader = new WireMarks();
    for (const [seq, [at, kind, message]] of [...initialized(1, true), prompt(10, 2), complete(30, '2')].entries())
      reader.read({ at, kind, seq }, message as Record<string, unknown>);
    assert.equal(reader.dueAt, 10_030);
    assert.deepEqual(reader.tick(10_029), []);
    assert.deepEqual(pluck(reader.tick(20_000), 'kind', 'at', 'seq'), [['settled', 10_030, undefined]]);
  });

  it('has a lane for each prompt of every recorded agent, whatever a message contains', async () => {
    for (const name of recordingNames()) {
      const recorded = readRecording(name).flatMap(({ dir, msg }, index): readonly Line[] =>
        msg && (dir === 'a2c' || dir === 'c2a') ? [[index, dir === 'a2c' ? 'in' : 'out', msg]] : [],
      );
      const prompts = recorded.filter(([, kind, message]) => kind === 'out' && isPrompt(message)).length;
      const found = await lanes(...recorded.slice(-5_000));
      assert.equal(found.filter(({ isOwn }) => !isOwn).length, prompts, name);
    }
    const odd: readonly object[] = [
      { id: 5, method: 'session/prompt' },
      { id: 5, result: null },
      { method: 'session/update', params: { update: { sessionUpdate: 'turn_complete', promptRequestId: {} } } },
      { method: 'session/update', params: 7 },
      { id: 6, method: 'session/prompt', params: { prompt: 'x' } },
      { id: 6, error: 'no' },
    ];
    await lanes(
      ...odd.flatMap((message): readonly Line[] => [
        [0, 'in', message],
        [0, 'out', message],
      ]),
    );
  });

  describe('of a prompt that is refused because the session is lost', () => {
    const refused = (at: number, id: number): Line => [at, 'in', { id, error: { code: -32002, message: 'Not found' } }];

    it('ends the lane with the answer, and gives the turn to the prompt that is sent again', async () => {
      const found = await words(
        ...initialized(1),
        prompt(10, 2),
        refused(20, 2),
        [30, 'out', { id: 3, method: 'session/resume', params: { sessionId: 's' } }],
        [40, 'in', { id: 3, result: {} }],
        prompt(50, 4),
        says(60),
        answer(70, 4),
      );
      assert.deepEqual(found, [
        '2: sent@10 #4, answer@20 #5',
        '4: sent@50 #8, output@60 #9, answer@70 #10, settled@70 #10',
      ]);
    });

    it('has the answer once if the session is not reopened', async () => {
      const found = await words(...initialized(1), prompt(10, 2), refused(20, 2), prompt(90_000, 3));
      assert.match(found[0] ?? '', /^2: sent@10 #4, answer@20 #5, settled@\d+(?: #6)?$/);
    });
  });
});

function isPrompt(message: object): boolean {
  return 'method' in message && message.method === 'session/prompt' && 'id' in message;
}
