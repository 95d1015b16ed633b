// Tests requests that precede the answer that names their session.

import { strict as assert } from 'node:assert';
import { EarlyRequests } from '../../../../src/acp/protocol/earlyUpdates';
import { at } from '../../../../src/base/untrusted';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { InlineAgent, Refusal, useInlineAgents } from '../../../support/agents/inlineAgent';
import { pluck } from '../../../support/pluck';

const permission = (sessionId: string, toolCallId = 'c') => ({
  sessionId,
  toolCall: { toolCallId, title: `Write ${toolCallId}` },
  options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
});
const form = {
  sessionId: 's1',
  mode: 'form',
  message: 'Which?',
  requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
};

describe('a request that precedes the answer that opens its session', function () {
  this.timeout(5000);
  const open = useInlineAgents();

  for (const [method, opening] of [
    ['session/new', undefined],
    ['session/fork', { kind: 'fork', sessionId: 'origin' }],
  ] as const)
    it(`waits for the answer to ${method} and is handled after earlier updates`, async () => {
      let asked: Promise<unknown> | undefined;
      const agent = new InlineAgent({ sessionCapabilities: { fork: {} } });
      agent.answers[method] = () => {
        agent.updateEarly('s1', { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Write c' });
        asked = agent.askEarly(100, 'session/request_permission', permission('s1'));
        return { sessionId: 's1' };
      };
      const { conversation, until } = await open(agent, opening);
      void conversation.start();
      await until(({ model }) => model.state.permissions.size === 1);
      assert.deepEqual(
        conversation.model.state.entries.flatMap((entry) => (entry.kind === 'tool' ? [entry.toolCallId] : [])),
        ['c'],
      );
      const [id = ''] = conversation.model.state.permissions.keys();
      conversation.answerPermission(id, 'yes');
      assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'yes' } });
    });

  it('is handled in order with other requests', async () => {
    const agent = new InlineAgent({});
    agent.answers['session/new'] = () => {
      for (const [index, name] of ['a', 'b'].entries())
        void agent.askEarly(100 + index, 'session/request_permission', permission('s1', name));
      void agent.askEarly(102, 'elicitation/create', form);
      return { sessionId: 's1' };
    };
    const { conversation, until } = await open(agent);
    void conversation.start();
    await until(({ model }) => model.state.permissions.size === 2 && model.state.elicitations.size === 1);
    assert.deepEqual(pluck([...conversation.model.state.permissions.values()], 'title'), ['Write a', 'Write b']);
  });

  it('is refused if the answer has another session id', async () => {
    let asked: Promise<unknown> | undefined;
    const agent = new InlineAgent({});
    agent.answers['session/new'] = () => {
      asked = agent.askEarly(100, 'fs/read_text_file', { sessionId: 'other', path: '/a' });
      return { sessionId: 's1' };
    };
    const { conversation } = await open(agent);
    await conversation.start();
    assert.equal(conversation.connection.kind, 'ready');
    assert.equal(at(await asked, 'code'), -32002);
  });

  it('is refused if the session is not opened', async () => {
    let asked: Promise<unknown> | undefined;
    const agent = new InlineAgent({});
    agent.answers['session/new'] = () => {
      asked = agent.askEarly(100, 'session/request_permission', permission('s1'));
      return new Refusal(-32000);
    };
    const { conversation } = await open(agent);
    await conversation.start();
    assert.equal(conversation.connection.kind, 'authRequired');
    assert.equal(at(await asked, 'code'), -32002);
  });

  it('is refused immediately while no session is being opened', async () => {
    const agent = new InlineAgent({});
    const { conversation } = await open(agent);
    await conversation.start();
    assert.equal(at(await agent.ask(100, 'session/request_permission', permission('other')), 'code'), -32002);
  });

  it('does not wait if the session is reopened, as its id is known', async () => {
    const agent = new InlineAgent({ sessionCapabilities: { resume: {} } });
    let resume: unknown;
    agent.answers['session/resume'] = (_params, _agent, id) => {
      resume = id;
      void agent.ask(100, 'session/request_permission', permission('old'));
      return undefined;
    };
    const { conversation, until } = await open(agent, { kind: 'reopen', sessionId: 'old', transcript: 'keep' });
    const started = conversation.start();
    await until(({ model }) => model.state.permissions.size === 1);
    agent.answer(resume, {});
    await started;
    assert.equal(conversation.connection.kind, 'ready');
  });
});

describe('a request during the replay of a session with a transcript', function () {
  this.timeout(5000);
  const open = useInlineAgents();

  for (const isEarly of [true, false])
    it(`is shown after entries that were replayed ${isEarly ? 'before the answer' : 'just before the request'}`, async () => {
      const agent = new InlineAgent({ loadSession: true });
      agent.answers['session/prompt'] = () => {
        agent.update('s1', 'Hello');
        return { stopReason: 'end_turn' };
      };
      const user = (text: string) => ({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } });
      agent.answers['session/load'] = (_params, _agent, id) => {
        for (const update of [user('one'), 'Hello', user('two'), 'I write']) agent.update('s1', update);
        if (isEarly) void agent.askEarly(100, 'session/request_permission', permission('s1'));
        agent.answer(id, {});
        if (!isEarly) void agent.ask(100, 'session/request_permission', permission('s1'));
        return undefined;
      };
      const { conversation, until } = await open(agent);
      await conversation.send('one').done;
      void conversation.restart();
      await until(({ model, connection }) => model.state.permissions.size === 1 && connection.kind === 'ready');
      assert.deepEqual(
        snapshotOf(conversation).entries.map(({ kind, text }) => text ?? kind),
        ['one', 'Hello', 'two', 'I write', 'tool'],
      );
    });
});

describe('early requests', () => {
  /**
   * Sends requests that wait while a session is opened.
   * @returns how many were handled before it was open
   */
  async function countHandled(requests: readonly unknown[]): Promise<number> {
    const early = new EarlyRequests();
    let count = 0;
    await early.during(async () => {
      for (const params of requests) void early.untilOpened(params).then(() => count++);
      await new Promise((resolve) => setImmediate(resolve));
      requests = [];
    });
    const before = count;
    await new Promise((resolve) => setImmediate(resolve));
    return before;
  }

  it('are limited in number', async () => {
    assert.equal(await countHandled(Array.from({ length: 103 }, () => ({}))), 3);
  });

  it('are limited in size', async () => {
    const big = { content: 'x'.repeat(3 * 1024 * 1024) };
    assert.equal(await countHandled([big, big, {}]), 1);
  });

  it('continue when the last of several openings has ended', async () => {
    const early = new EarlyRequests();
    const order: string[] = [];
    let endFirst: () => void = () => {};
    const first = early.during(() => new Promise<void>((resolve) => (endFirst = resolve)));
    const waits = early.untilOpened({}).then(() => order.push('request'));
    await early.during(async () => {});
    order.push('second opened');
    endFirst();
    await Promise.all([first, waits]);
    assert.deepEqual(order, ['second opened', 'request']);
  });
});
