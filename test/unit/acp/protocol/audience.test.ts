// Content for the agent alone is preserved, but never shown as text for the user.
import { strict as assert } from 'node:assert';
import type { UpdateTargets } from '../../../../src/acp/protocol/dialect';
import { readMergingText } from '../../../../src/acp/protocol/textRuns';
import { applyUpdates as applyV1 } from '../../../../src/acp/v1/v1Events';
import { applyUpdates as applyV2, V2Terminals } from '../../../../src/acp/v2/v2Events';
import { projectItem } from '../../../../src/client/view/projectItem';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { readInto } from '../../../support/protocol/onlyReads';
import { sameData } from '../../../support/sameData';

const said = (text: string, annotations?: unknown): object => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text, ...(annotations !== undefined && { annotations }) },
});
const forAgent = { audience: ['assistant'] };

for (const [version, applyUpdates] of [
  ['v1', applyV1],
  ['v2', (updates: readonly unknown[], targets: UpdateTargets) => applyV2(updates, new V2Terminals(), targets)],
] as const) {
  describe(`the audience of content (${version})`, () => {
    const shown = (...updates: object[]): unknown => {
      const model = new SessionModel();
      applyUpdates(
        updates,
        readInto((event) => model.apply(event, 1)),
      );
      const context = { state: model.state, turn: () => undefined, roots: [], isOpenable: () => false };
      return model.state.entries.flatMap((entry) => {
        const item = projectItem(entry, context);
        return item.kind === 'agent' || item.kind === 'tool' ? [...item.content] : [];
      });
    };

    it('separates text for the assistant from text for the user', () => {
      const others = [said('Hello '), said('secret ', forAgent), said('plan', forAgent), said('you')];
      assert.deepEqual(shown(...others), [
        { type: 'text', text: 'Hello ' },
        { type: 'unknown', kind: 'text', json: 'secret plan', forAgent: true },
        { type: 'text', text: 'you' },
      ]);
    });

    it('shows text for the user, for both, without an audience and with an invalid audience', () => {
      const audiences = [['user'], ['user', 'assistant'], [], null, 'assistant', ['robot']];
      assert.deepEqual(shown(...audiences.map((audience) => said('a', { audience })), said('b', null), said('c', 7)), [
        { type: 'text', text: 'aaaaaabc' },
      ]);
    });

    it('preserves images and tool content for the assistant', () => {
      const image = { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations: forAgent };
      const text = { type: 'text', text: 'notes', annotations: forAgent };
      const sessionUpdate = version === 'v1' ? 'tool_call' : 'tool_call_update';
      const call = {
        sessionUpdate,
        toolCallId: 't',
        title: 'Look',
        content: [{ type: 'content', content: text }, text],
      };
      const notes = { type: 'content', block: { type: 'unknown', kind: 'text', json: 'notes', forAgent: true } };
      sameData(shown({ sessionUpdate: 'agent_message_chunk', content: image }, call), [
        { type: 'unknown', kind: 'image', json: JSON.stringify(image, null, 2), forAgent: true },
        notes,
        notes,
      ]);
    });
  });
}

describe('a run of text', () => {
  it('continues over annotations that name the user, and ends at a chunk for the assistant', () => {
    const updates = [said('a'), said('b', { audience: ['user'], priority: 1 }), said('c', forAgent)];
    const events: SessionEvent[] = [];
    const others: unknown[] = [];
    readMergingText(
      updates,
      (event) => events.push(event),
      (update) => others.push(update),
    );
    assert.deepEqual(events, [{ type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'ab' } }]);
    assert.deepEqual(others, [updates[2]]);
  });
});
