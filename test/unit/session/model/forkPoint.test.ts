// The agent message at which a session can be forked, so that it remembers everything before.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { ownText } from '../../../../src/session/events/ownText';
import { forkPointBefore } from '../../../../src/session/model/forkPoint';
import { SessionModel } from '../../../../src/session/model/model';

const said = (text: string, messageId?: string, parent?: string): SessionEvent => ({
  type: 'message_chunk',
  role: 'agent',
  messageId,
  parent,
  block: { type: 'text', text },
});
const thought = { ...said('Hm', 't'), role: 'thought' } as SessionEvent;
const tool: SessionEvent = { type: 'tool_call', toolCallId: 'c', patch: { title: 'Ran' }, announced: true };
const notice = (code: 'new-session' | 'not-stopped'): SessionEvent => ({
  type: 'notice',
  own: true,
  severity: 'info',
  title: '',
  said: code === 'new-session' ? ownText(code, 'Agent') : ownText(code),
});
const turn = (number: number, ...events: SessionEvent[]): SessionEvent[] => [
  { type: 'turn_started', turnId: `t${number}`, origin: 'user', at: number },
  {
    type: 'prompt_sent',
    turnId: `t${number}`,
    promptId: `p${number}`,
    content: [{ type: 'text', text: `prompt ${number}` }],
  },
  ...events,
  { type: 'turn_ended', turnId: `t${number}`, stopReason: 'end_turn', barrier: 'response', at: number },
];

function pointIn(...events: readonly SessionEvent[]): string | undefined {
  const model = new SessionModel();
  for (const event of [...events, ...turn(9)]) model.apply(event, 0);
  const { entries } = model.state;
  return forkPointBefore(
    entries,
    entries.findIndex(({ turnId }) => turnId === 't9'),
  );
}

describe('the fork point before a message', () => {
  const found: readonly [string, readonly SessionEvent[]][] = [
    ['the last message of the turn before', [...turn(1, said('a', 'm1')), ...turn(2, tool, said('b', 'm2'))]],
    ['that message, although words of an adapter without an id follow', turn(1, said('a', 'm2'), said('Warning'))],
    ['that message, although notices follow', [...turn(1, said('a', 'm2')), notice('not-stopped')]],
    ['that message, although a subagent says more', turn(1, tool, said('a', 'm2'), said('sub', 'm3', 'c'))],
    ['a message of a session that began with a transcript', [notice('new-session'), ...turn(1, said('a', 'm2'))]],
  ];
  for (const [title, events] of found) it(`is ${title}`, () => assert.equal(pointIn(...events), 'm2'));

  const missing: readonly [string, readonly SessionEvent[]][] = [
    ['there is nothing before it', []],
    ['the agent gives no ids', turn(1, said('a'))],
    [
      'the agent counts its ids anew in each process',
      [...turn(1, said('a', 'm1')), { type: 'ids_renewed' }, ...turn(2, said('b', 'm1'))],
    ],
    ['the turn before ended with a tool call', turn(1, said('a', 'm1'), tool)],
    ['the turn before ended with a thought', turn(1, said('a', 'm1'), thought)],
    ['the agent did not answer the message before', [...turn(1, said('a', 'm1')), ...turn(2)]],
    ["the agent's session began after the message", [...turn(1, said('a', 'm1')), notice('new-session')]],
  ];
  for (const [title, events] of missing)
    it(`does not exist if ${title}`, () => assert.equal(pointIn(...events), undefined));
});
