// Tests the turns of a replayed session, with the ends that the agent reports.
import { strict as assert } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SessionOpenStrategy } from '../../../../src/client/connection/sessionOpenStrategy';
import { InlineAgent, Refusal, useInlineAgents } from '../../../support/agents/inlineAgent';
import type { TestConversation } from '../../../support/sessions/conversation';

const text = (words: string) => ({ type: 'text', text: words });
const user = (words: string) => ({ sessionUpdate: 'user_message_chunk', content: text(words) });
const agent = (words: string) => ({ sessionUpdate: 'agent_message_chunk', content: text(words) });
const complete = (promptRequestId: string | undefined, stopReason: string) => ({
  sessionUpdate: 'turn_complete',
  ...(promptRequestId !== undefined && { promptRequestId }),
  stopReason,
});
const state = (name: string, more: object = {}) => ({ sessionUpdate: 'state_update', state: name, ...more });
let ids = 0;
const withId = (update: object) => ({ ...update, messageId: `m${++ids}` });

describe('the turns of a replayed session', function () {
  this.timeout(10_000);
  const open = useInlineAgents();
  const again: SessionOpenStrategy = { kind: 'reopen', sessionId: 'old', transcript: 'replay' };
  const turnsOf = ({ conversation }: TestConversation) =>
    conversation.model.state.turns.map(({ origin, stopReason, tokens, endedAt }) =>
      [origin, stopReason ?? 'open', tokens, ...(endedAt === undefined ? ['runs'] : [])].filter(Boolean).join(' '),
    );

  /** Opens a session with this replay, by session/load or, in version 2, session/resume. */
  async function repeated(version: 1 | 2, updates: readonly object[]): Promise<[TestConversation, InlineAgent]> {
    const inline = new InlineAgent(version === 1 ? { loadSession: true } : { session: {} }, version);
    const repeat = () => {
      for (const update of updates) inline.updateEarly('old', update);
      return {};
    };
    Object.assign(inline.answers, { 'session/load': repeat, 'session/resume': repeat });
    const opened = await open(inline, again);
    await opened.conversation.start();
    return [opened, inline];
  }

  it('have no end if the agent reports none', async () => {
    const [opened] = await repeated(1, [user('one'), agent('Heard one'), user('two'), agent('Heard two')]);
    assert.deepEqual(turnsOf(opened), ['user open runs', 'user open runs']);
    const [other] = await repeated(2, [withId(user('one')), withId(agent('Heard one')), state('idle')]);
    assert.deepEqual(turnsOf(other), ['user open runs'], 'how the session is now is no end');
  });

  it('belong to the agent if they began without a message', async () => {
    const [opened] = await repeated(2, [
      ...[withId(user('one')), state('running'), withId(agent('Heard one')), state('idle', { stopReason: 'end_turn' })],
      ...[state('running'), withId(agent('By the way')), state('idle', { stopReason: 'max_tokens' })],
      state('idle'),
    ]);
    assert.deepEqual(turnsOf(opened), ['user end_turn', 'agent max_tokens']);
    const turnIds = opened.conversation.model.state.entries.map(({ kind, turnId }) => `${kind} ${turnId}`);
    assert.deepEqual(turnIds, ['user r1', 'agent r1', 'turn_end r1', 'agent r2', 'turn_end r2']);
  });

  it('have an error with its message', async () => {
    const [opened] = await repeated(2, [
      ...[withId(user('one')), state('running')],
      state('idle', { stopReason: 'error', error: { code: -1, message: 'out of memory' } }),
    ]);
    assert.deepEqual(turnsOf(opened), ['user error']);
    assert.ok(opened.conversation.model.state.entries.some((entry) => entry.kind === 'error'));
  });

  it('keep their ends when they are added to an existing transcript', async () => {
    const inline = new InlineAgent({ loadSession: true });
    inline.answers['session/prompt'] = () => {
      inline.update('s1', 'Heard one');
      return { stopReason: 'end_turn' };
    };
    inline.answers['session/load'] = () => {
      for (const update of [user('one'), agent('Heard one'), complete('2', 'end_turn')])
        inline.updateEarly('s1', update);
      for (const update of [user('else'), agent('Heard else'), complete('3', 'refusal')])
        inline.updateEarly('s1', update);
      return {};
    };
    const opened = await open(inline);
    await opened.conversation.send('one').done;
    for (let times = 0; times < 2; times++) {
      await opened.conversation.restart();
      assert.deepEqual(turnsOf(opened), ['user end_turn', 'user refusal']);
    }
  });

  it('exclude output of a running turn after the answer', async () => {
    const [opened, inline] = await repeated(1, [
      ...[user('one'), agent('Heard one'), complete('2', 'end_turn')],
      ...[user('two'), agent('Still ')],
    ]);
    const { conversation, until } = opened;
    assert.deepEqual(turnsOf(opened), ['user end_turn', 'user open runs']);
    inline.update('old', 'at work');
    await until(({ model }) => model.state.turn !== undefined);
    assert.equal(conversation.model.state.turn?.origin, 'agent');
    assert.equal(conversation.isBusy, true);
    const said = conversation.model.state.entries.findLast(({ kind }) => kind === 'agent');
    assert.equal(said?.turnId, conversation.model.state.turn?.id);
    inline.update('old', complete('3', 'max_tokens'));
    await until(({ isBusy }) => !isBusy);
    assert.deepEqual(turnsOf(opened), ['user end_turn', 'user open runs', 'agent max_tokens']);
  });

  it("don't end the running turn for whose prompt the session is loaded", async () => {
    const inline = new InlineAgent({ loadSession: true });
    let prompts = 0;
    let held: unknown;
    inline.answers['session/prompt'] = (_params, _agent, id) => {
      prompts++;
      if (prompts === 1) return { stopReason: 'end_turn' };
      if (prompts === 2) return new Refusal(-32002, 'gone', { sessionId: 's1' });
      held = id;
      return undefined;
    };
    inline.answers['session/load'] = () => {
      for (const update of [user('one'), complete(undefined, 'refusal')]) inline.updateEarly('s1', update);
      return {};
    };
    const opened = await open(inline);
    await opened.conversation.send('one').done;
    const { done } = opened.conversation.send('two');
    while (held === undefined) await nextTurn();
    assert.deepEqual(turnsOf(opened), ['user end_turn', 'user open runs']);
    inline.answer(held, { stopReason: 'max_tokens' });
    assert.equal((await done).stopReason, 'max_tokens');
  });
});
