// Marks of agents for the work of subagents.
import { strict as assert } from 'node:assert';
import { parentCallOf } from '../../../../src/acp/quirks/parentCall';
import { readUpdate as readV1 } from '../../../../src/acp/v1/v1Events';
import { readUpdate as readV2 } from '../../../../src/acp/v2/v2Events';
import type { SessionEvent } from '../../../../src/session/events/event';
import { sameData } from '../../../support/sameData';

function eventsOf(update: object, read: typeof readV1 = readV1): SessionEvent[] {
  const events: SessionEvent[] = [];
  assert.equal(
    read(update, (event) => events.push(event)),
    undefined,
  );
  return events;
}

describe('the call that started a subagent', () => {
  it('is read from the marks of claude-agent-acp and qwen-code', () => {
    assert.equal(parentCallOf({ claudeCode: { toolName: 'Read', parentToolUseId: 'toolu_1' } }), 'toolu_1');
    assert.equal(parentCallOf({ toolName: 'read_file', parentToolCallId: 'call_1', subagentType: 'x' }), 'call_1');
  });

  it('is absent if the mark is invalid', () => {
    for (const id of [null, 7, {}, '', 'x'.repeat(1001)])
      for (const meta of [{ claudeCode: { parentToolUseId: id } }, { parentToolCallId: id }])
        assert.equal(parentCallOf(meta), undefined);
    for (const meta of [
      undefined,
      null,
      'x',
      1,
      [],
      { claudeCode: 'x' },
      JSON.parse('{"__proto__":{"parentToolCallId":"x"}}'),
    ])
      assert.equal(parentCallOf(meta), undefined);
  });

  it('is attached to tool calls of both versions', () => {
    const _meta = { claudeCode: { parentToolUseId: 'A' } };
    const fields = { toolCallId: 'x', title: 'Read', _meta };
    for (const [update, read] of [
      [{ sessionUpdate: 'tool_call', ...fields }, readV1],
      [{ sessionUpdate: 'tool_call_update', ...fields }, readV1],
      [{ sessionUpdate: 'tool_call_update', ...fields }, readV2],
    ] as const) {
      const [event] = eventsOf(update, read);
      assert.equal(event?.type === 'tool_call' && event.patch.parent, 'A');
    }
  });

  it('is attached to messages and thoughts', () => {
    const chunk = {
      sessionUpdate: 'agent_thought_chunk',
      content: { type: 'text', text: 'Hm.' },
      _meta: { claudeCode: { parentToolUseId: 'A' } },
    };
    sameData(eventsOf(chunk), [
      { type: 'message_chunk', role: 'thought', block: { type: 'text', text: 'Hm.' }, parent: 'A' },
    ]);
  });
});
