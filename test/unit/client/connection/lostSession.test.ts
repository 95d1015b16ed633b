// Tests sessions that a running agent has lost: they are reopened, or replaced by a new one with
// the transcript.

import { strict as assert } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { at } from '../../../../src/base/untrusted';
import { InlineAgent, Refusal, useInlineAgents } from '../../../support/agents/inlineAgent';
import { pluck } from '../../../support/pluck';
import { spokenIn, type TestConversation } from '../../../support/sessions/conversation';

const BOTH = { loadSession: true, sessionCapabilities: { resume: {} } };
const gone = (sessionId: unknown) => new Refusal(-32002, 'Resource not found', { sessionId });

class ForgetfulAgent extends InlineAgent {
  readonly has = new Set<string>();
  readonly opens: Record<string, boolean>;
  #count = 0;
  #sessions = 0;

  constructor(capabilities: object, opens: Record<string, boolean> = {}, version: 1 | 2 = 1) {
    super(capabilities, version);
    this.opens = opens;
    Object.assign(this.answers, {
      'session/new': () => {
        const sessionId = `s${++this.#sessions}`;
        this.has.add(sessionId);
        return { sessionId };
      },
      'session/resume': (params: unknown) => this.#open('session/resume', params),
      'session/load': (params: unknown) => this.#open('session/load', params),
      'session/status': (params: unknown) => ({
        status: this.has.has(String(at(params, 'sessionId'))) ? 'live' : 'not_found',
      }),
      'session/prompt': (params: unknown) => {
        const sessionId = String(at(params, 'sessionId'));
        if (!this.has.has(sessionId)) return gone(sessionId);
        if (version === 2) return this.#work(sessionId, at(params, 'prompt'));
        this.update(sessionId, `Heard ${String(at(params, 'prompt', '0', 'text'))}`);
        return { stopReason: 'end_turn' };
      },
    });
  }

  #work(sessionId: string, content: unknown): object {
    const messageId = `u${++this.#count}`;
    this.update(sessionId, { sessionUpdate: 'user_message', messageId, content });
    setImmediate(() => {
      this.update(sessionId, { sessionUpdate: 'state_update', state: 'running' });
      this.update(sessionId, { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' });
    });
    return { messageId };
  }

  #open(method: string, params: unknown): unknown {
    const sessionId = String(at(params, 'sessionId'));
    if (!this.opens[method]) return gone(sessionId);
    this.has.add(sessionId);
    return {};
  }
}

describe('a session that the agent has lost', function () {
  this.timeout(10_000);
  const open = useInlineAgents();
  const spoken = ({ conversation }: TestConversation): string[] => spokenIn(conversation, ['user', 'agent', 'notice']);
  const reasons = ({ conversation }: TestConversation) => conversation.model.state.turns.map((turn) => turn.stopReason);
  const NEW = /^notice: New session\n/;

  const losses = [
    ['says so to a prompt', { quietMs: 60_000 }, {}, []],
    ['says so when it is asked', { quietMs: -1 }, { status: {} }, ['session/status']],
  ] as const;
  for (const [how, services, status, asks] of losses) {
    describe(`and ${how}`, () => {
      const begun = asks.length > 0 ? [] : ['session/prompt'];

      for (const [way, tried] of [
        ['session/resume', ['session/resume']],
        ['session/load', ['session/resume', 'session/load']],
      ] as const)
        it(`is reopened with ${way}, and the message is sent again in the same turn`, async () => {
          const agent = new ForgetfulAgent(
            { ...BOTH, sessionCapabilities: { resume: {}, ...status } },
            { [way]: true },
          );
          const session = await open(agent, undefined, services);
          await session.conversation.send('one').done;
          agent.has.clear();
          const before = agent.methods.length;
          assert.equal((await session.conversation.send('two').done).stopReason, 'end_turn');
          assert.deepEqual(agent.methods.slice(before), [...asks, ...begun, ...tried, 'session/prompt']);
          assert.deepEqual(spoken(session), ['user: one', 'agent: Heard one', 'user: two', 'agent: Heard two']);
          assert.deepEqual(reasons(session), ['end_turn', 'end_turn']);
          assert.equal(session.conversation.sessionId, 's1');
        });

      for (const [name, capabilities] of [
        ['offers resume and load', { ...BOTH, sessionCapabilities: { resume: {}, ...status } }],
        ['offers load only', { loadSession: true, sessionCapabilities: status }],
        ['offers neither', { sessionCapabilities: status }],
      ] as const)
        it(`is replaced by a new one with the transcript: the agent ${name}`, async () => {
          const agent = new ForgetfulAgent(capabilities);
          const session = await open(agent, undefined, services);
          const { conversation } = session;
          await conversation.send('one').done;
          agent.has.clear();
          assert.equal((await conversation.send('two').done).stopReason, 'end_turn');
          assert.equal(conversation.sessionId, 's2');
          const prompts = agent.received.filter(({ method }) => method === 'session/prompt');
          const last = prompts.at(-1)?.params;
          assert.equal(at(last, 'sessionId'), 's2');
          const [own, along] = [String(at(last, 'prompt', '0', 'text')), String(at(last, 'prompt', '1', 'text'))];
          assert.equal(own, 'two');
          assert.match(along, /<transcript>[\s\S]*User: one[\s\S]*Heard one/);
          assert.doesNotMatch(along, /User: two/, 'the message itself is no part of the past');
          assert.deepEqual(reasons(session), ['end_turn', 'end_turn']);
          assert.equal(spoken(session).filter((line) => NEW.test(line)).length, 1, spoken(session).join('\n'));
          await conversation.send('three').done;
          assert.equal(at(agent.received.at(-1)?.params, 'sessionId'), 's2');
          assert.equal(agent.prompts.at(-1)?.includes('transcript'), false, 'it is told once');
          assert.equal(conversation.queue.paused, undefined);
        });

      it('keeps the message with a reason, and can be retried, if no session can be opened', async () => {
        const agent = new ForgetfulAgent({ sessionCapabilities: status });
        const session = await open(agent, undefined, services);
        const { conversation, until } = session;
        await conversation.send('one').done;
        agent.has.clear();
        const begin = agent.answers['session/new'];
        agent.answers['session/new'] = () => new Refusal(-32603, 'no room');
        const { done } = conversation.send('two');
        await until(({ queue }) => queue.paused !== undefined);
        assert.match(conversation.queue.paused ?? '', /^session-not-opened.*no room/);
        assert.deepEqual(pluck(conversation.queue.items, 'text', 'state'), [['two', 'queued']]);
        assert.equal(conversation.sessionId, 's1');
        Object.assign(agent.answers, { 'session/new': begin });
        conversation.queueActions.resume();
        assert.equal((await done).stopReason, 'end_turn');
        assert.equal(conversation.sessionId, 's2');
      });
    });
  }

  for (const [name, capabilities, tried] of [
    ['resume and load', BOTH, ['session/resume', 'session/prompt', 'session/load', 'session/prompt', 'session/new']],
    ['load', { loadSession: true }, ['session/load', 'session/prompt', 'session/new']],
    [
      'status, and says live',
      { sessionCapabilities: { status: {} } },
      ['session/status', 'session/prompt', 'session/new'],
    ],
  ] as const)
    it(`is replaced if the agent reopens it but still refuses the prompt: it offers ${name}`, async () => {
      const agent = new ForgetfulAgent(capabilities);
      const session = await open(agent);
      const { conversation } = session;
      await conversation.send('one').done;
      agent.has.clear();
      for (const method of ['session/resume', 'session/load']) agent.answers[method] = () => ({});
      agent.answers['session/status'] = () => ({ status: 'live' });
      const before = agent.methods.length;
      assert.equal((await conversation.send('two').done).stopReason, 'end_turn');
      assert.deepEqual(agent.methods.slice(before), ['session/prompt', ...tried, 'session/prompt']);
      assert.match(agent.prompts.at(-1) ?? '', /"two".*<transcript>/);
      assert.deepEqual(reasons(session), ['end_turn', 'end_turn']);
      assert.equal(conversation.sessionId, 's2');
    });

  it('is replaced once for two accepted prompts, which keep their order', async () => {
    const agent = new ForgetfulAgent({ session: {} }, {}, 2);
    const { conversation } = await open(agent);
    await conversation.send('one').done;
    const usual = agent.answers['session/prompt'];
    const held: unknown[] = [];
    agent.answers['session/prompt'] = (_params, _agent, id) => void held.push(id);
    const both = [conversation.send('two'), conversation.send('three')];
    while (held.length < 2) await nextTurn();
    agent.has.clear();
    Object.assign(agent.answers, { 'session/prompt': usual });
    for (const id of held) agent.answer(id, gone('s1'));
    assert.deepEqual(await Promise.all(both.map(async ({ done }) => (await done).stopReason)), [
      'end_turn',
      'end_turn',
    ]);
    assert.equal(agent.methods.filter((method) => method === 'session/new').length, 2);
    const sent = agent.received.filter(({ method }) => method === 'session/prompt').slice(-2);
    assert.deepEqual(
      sent.map(({ params }) => [at(params, 'sessionId'), at(params, 'prompt', '0', 'text')]),
      [
        ['s2', 'two'],
        ['s2', 'three'],
      ],
    );
  });

  it('holds messages while it is reopened', async () => {
    const agent = new ForgetfulAgent({ session: {} }, { 'session/resume': true }, 2);
    const { conversation } = await open(agent);
    await conversation.send('one').done;
    agent.has.clear();
    const resume = agent.answers['session/resume'];
    let held: unknown;
    agent.answers['session/resume'] = (_params, _agent, id) => {
      held = id;
      return undefined;
    };
    const two = conversation.send('two');
    while (held === undefined) await nextTurn();
    const three = conversation.send('three');
    await nextTurn();
    agent.answer(held, resume?.({ sessionId: 's1' }, agent, held));
    await Promise.all([two.done, three.done]);
    const sent = agent.received.filter(({ method }) => method === 'session/prompt');
    assert.deepEqual(
      sent.map(({ params }) => at(params, 'prompt', '0', 'text')),
      ['one', 'two', 'two', 'three'],
    );
  });

  it('can be stopped while it is reopened, without sending the message', async () => {
    const agent = new ForgetfulAgent({ sessionCapabilities: { resume: {} } });
    const { conversation } = await open(agent);
    await conversation.send('one').done;
    agent.has.clear();
    agent.answers['session/resume'] = () => undefined;
    const { done } = conversation.send('two');
    while (!agent.methods.includes('session/resume')) await nextTurn();
    conversation.cancel();
    assert.equal((await done).stopReason, 'cancelled');
    assert.equal(agent.methods.filter((method) => method === 'session/prompt').length, 2);
  });

  it('is reopened by a restart', async () => {
    const agent = new ForgetfulAgent({ sessionCapabilities: { resume: {} } });
    const { conversation } = await open(agent);
    await conversation.send('one').done;
    agent.has.clear();
    await conversation.send('two').done;
    agent.opens['session/resume'] = true;
    await conversation.restart();
    assert.equal(at(agent.received.at(-1)?.params, 'sessionId'), 's2');
    assert.equal(conversation.sessionId, 's2');
  });

  it('is used unchanged if updates arrive while the agent denies having it', async () => {
    const agent = new ForgetfulAgent({ sessionCapabilities: { status: {} } });
    agent.answers['session/status'] = () => {
      agent.updateEarly('old', 'Still here');
      return { status: 'not_found' };
    };
    const session = await open(agent, { kind: 'reopen', sessionId: 'old', transcript: 'keep' });
    await session.conversation.start();
    assert.deepEqual(agent.methods, ['initialize', 'session/status']);
    assert.equal(session.conversation.sessionId, 'old');
  });
});
