// What an agent repeats after a restart, against what stands in the transcript.
import assert from 'node:assert/strict';
import type { SessionEvent } from '../../../src/session/event';
import { SessionModel } from '../../../src/session/model';
import { reconcile } from '../../../src/session/reconcile';

type Said = readonly [role: 'user' | 'agent' | 'thought', text: string, messageId?: string];

const chunk = ([role, text, messageId]: Said): SessionEvent => ({
  type: 'message_chunk',
  role,
  block: { type: 'text', text },
  ...(messageId !== undefined && { messageId }),
});

const tool = (toolCallId: string, status: 'pending' | 'completed' | 'failed'): SessionEvent => ({
  type: 'tool_call',
  toolCallId,
  patch: { title: `Read ${toolCallId}`, status },
  announced: true,
});

/** A transcript as the client kept it: prompts in turns, the last of which ended with the agent. */
function known(...turns: readonly (readonly [prompt: string, ...events: readonly SessionEvent[]])[]): SessionModel {
  const model = new SessionModel();
  for (const [index, [prompt, ...events]] of turns.entries()) {
    const turnId = `t${index + 1}`;
    model.apply({ type: 'turn_started', turnId, origin: 'user', at: 0 }, 0);
    model.apply({ type: 'prompt_sent', turnId, promptId: `q${index}`, content: [{ type: 'text', text: prompt }] }, 0);
    for (const event of events) model.apply(event, 0);
    model.apply({ type: 'turn_ended', turnId, stopReason: 'error', barrier: 'exit', at: 0 }, 0);
  }
  return model;
}

function repeated(...events: readonly SessionEvent[]): SessionModel {
  const model = new SessionModel();
  model.apply({ type: 'cleared', replay: true }, 0);
  for (const event of events) model.apply(event, 0);
  return model;
}

function linesOf(model: SessionModel): string[] {
  return model.state.entries.flatMap((entry) => {
    if (entry.kind === 'tool') return [`tool ${entry.toolCallId} ${entry.status}`];
    if (entry.kind !== 'user' && entry.kind !== 'agent' && entry.kind !== 'thought') return [];
    return [`${entry.kind}: ${entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`];
  });
}

function reconciled(ours: SessionModel, theirs: SessionModel): string[] {
  for (const event of reconcile(ours.state.entries, theirs.state.entries)) ours.apply(event, 1);
  return linesOf(ours);
}

describe('a replay after a restart', () => {
  it('shows everything twice if the agent repeats what stands here', () => {
    const ours = known(
      ['one', chunk(['agent', 'first answer', 'a1']), tool('c1', 'completed')],
      ['two', chunk(['agent', 'second'])],
    );
    const before = linesOf(ours);
    const theirs = repeated(
      chunk(['user', 'one']),
      chunk(['agent', 'first answer', 'a1']),
      tool('c1', 'completed'),
      chunk(['user', 'two']),
      chunk(['agent', 'second']),
    );
    assert.deepEqual(reconciled(ours, theirs), before);
  });

  it('shows everything twice if the agent repeats it in other pieces', () => {
    const ours = known([
      'one',
      chunk(['agent', 'first\n\nparagraph', 'a1']),
      tool('c1', 'completed'),
      chunk(['agent', 'and more']),
    ]);
    const before = linesOf(ours);
    const theirs = repeated(
      chunk(['user', 'one ']),
      tool('c1', 'completed'),
      chunk(['agent', 'first paragraph and more']),
    );
    assert.deepEqual(reconciled(ours, theirs), before);
  });

  it('loses the rest of an answer that was cut off', () => {
    const ours = known(['one', chunk(['agent', 'The answer to this is fo', 'a1'])]);
    const theirs = repeated(chunk(['user', 'one']), chunk(['agent', 'The answer to this is forty-two.', 'a1']));
    assert.deepEqual(reconciled(ours, theirs), ['user: one', 'agent: The answer to this is fo', 'agent: rty-two.']);
    assert.equal(ours.state.entries.at(-1)?.late, true);
  });

  it('leaves a tool call cancelled that the agent finished', () => {
    const ours = known(['one', tool('c1', 'pending')]);
    assert.deepEqual(linesOf(ours), ['user: one', 'tool c1 cancelled']);
    assert.deepEqual(reconciled(ours, repeated(chunk(['user', 'one']), tool('c1', 'completed'))), [
      'user: one',
      'tool c1 completed',
    ]);
  });

  it('loses what was done in the session elsewhere', () => {
    const ours = known(['one', chunk(['agent', 'answer'])]);
    const theirs = repeated(
      chunk(['user', 'one']),
      chunk(['agent', 'answer']),
      chunk(['user', 'from another client']),
      tool('c9', 'failed'),
      chunk(['agent', 'done there']),
    );
    assert.deepEqual(reconciled(ours, theirs), [
      'user: one',
      'agent: answer',
      'user: from another client',
      'tool c9 failed',
      'agent: done there',
    ]);
  });

  it('shows the preface that an agent puts before the first message of the user', () => {
    const ours = known(['one', chunk(['agent', 'answer'])]);
    const theirs = repeated(
      chunk(['user', 'This is the context of the agent: …', 'm0']),
      chunk(['user', 'one', 'm1']),
      chunk(['agent', 'answer']),
    );
    assert.deepEqual(reconciled(ours, theirs), ['user: one', 'agent: answer']);
  });

  it('rebuilds nothing where nothing was kept', () => {
    const theirs = repeated(chunk(['user', 'one']), chunk(['agent', 'answer']));
    assert.deepEqual(reconciled(new SessionModel(), theirs), ['user: one', 'agent: answer']);
  });

  it('takes the same words said twice for one message', () => {
    const ours = known(['yes', chunk(['agent', 'ok'])], ['yes', chunk(['agent', 'ok'])]);
    const theirs = repeated(
      ...['yes', 'yes', 'yes'].flatMap((text) => [
        chunk(['user', text]),
        tool(`c${text.length}`, 'completed'),
        chunk(['agent', 'ok']),
      ]),
    );
    assert.equal(reconciled(ours, theirs).filter((line) => line === 'user: yes').length, 3);
  });
});
