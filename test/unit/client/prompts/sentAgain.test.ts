// Tests the idempotency key of a version 2 prompt whose answer was lost.

import { strict as assert } from 'node:assert';
import { at } from '../../../../src/base/untrusted';
import { InlineAgent, useInlineAgents } from '../../../support/agents/inlineAgent';
import { spokenIn, stopReasons } from '../../../support/sessions/conversation';
import { skipTime } from '../../../support/skipTime';

describe('a prompt that may have been sent', () => {
  const open = useInlineAgents();
  const idle = { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' };
  const keysOf = ({ received }: InlineAgent): unknown[] =>
    received.filter(({ method }) => method === 'session/prompt').map(({ params }) => at(params, 'idempotencyKey'));

  /** Drops the connection at its first prompt, after taking it in. */
  function forgetful(version: 1 | 2 = 2): InlineAgent {
    const agent = new InlineAgent(version === 2 ? { session: {} } : { sessionCapabilities: { resume: {} } }, version);
    agent.answers['session/resume'] = () => {
      agent.update('s1', idle);
      return {};
    };
    agent.answers['session/prompt'] = () => {
      if (agent.prompts.length === 1) agent.exit();
      return agent.prompts.length === 1 ? undefined : { messageId: 'm1' };
    };
    return agent;
  }

  async function inDoubt(agent: InlineAgent) {
    const session = await open(agent);
    const { conversation } = session;
    conversation.send('do it').done.catch(() => {});
    await session.until((c) => c.queue.items[0]?.doubtful === true);
    return session;
  }

  for (const edit of [undefined, 'do something else'])
    it(`has ${edit ? 'another key when it was edited' : 'the same key when it is sent again'}`, async () => {
      const agent = forgetful();
      await skipTime(async () => {
        const { conversation, until } = await inDoubt(agent);
        const { queue, queueActions } = conversation;
        const id = queue.items[0]?.id ?? '';
        if (edit) queue.edit(id, edit);
        queueActions.sendNow(id);
        await until(() => agent.prompts.length === 2);
      });
      const [first, again] = keysOf(agent);
      assert.match(String(first), /^[0-9a-f]{32}$/);
      assert.equal(again === first, edit === undefined);
    });

  it('ends its turn if the agent has worked on it already and reports nothing more', async () => {
    const agent = forgetful();
    await skipTime(async () => {
      const { conversation, until } = await inDoubt(agent);
      conversation.queueActions.sendNow(conversation.queue.items[0]?.id ?? '');
      await until((c) => agent.prompts.length === 2 && !c.isBusy);
      assert.deepEqual(stopReasons(conversation), ['error', 'unknown']);
      assert.deepEqual(spokenIn(conversation), ['user: do it', 'user: do it']);
    });
  });

  it('has another key if its turn has failed because it needs a sign-in', async () => {
    const agent = new InlineAgent({ session: {} }, 2);
    const { initialize } = agent.answers;
    agent.answers.initialize = (...asked) => ({
      ...(initialize?.(...asked) as object),
      authMethods: [{ methodId: 'own', name: 'Own', type: 'agent' }],
    });
    agent.answers['auth/login'] = () => ({});
    agent.answers['session/prompt'] = (_params, _agent, id) => {
      const [messageId, failed] = [`m${agent.prompts.length}`, agent.prompts.length === 1];
      agent.answer(id, { messageId });
      agent.update('s1', { sessionUpdate: 'state_update', state: 'running' });
      agent.update(
        's1',
        failed ? { ...idle, stopReason: undefined, error: { code: -32000, message: 'Sign in' } } : idle,
      );
      return undefined;
    };
    const { conversation, until } = await open(agent);
    conversation.send('do it').done.catch(() => {});
    await until((c) => c.connection.kind === 'authRequired' && c.queue.items.length === 1);
    await conversation.signIn('own');
    await until((c) => agent.prompts.length === 2 && !c.isBusy);
    const [first, again] = keysOf(agent);
    assert.notEqual(again, first);
  });

  it('has no key in version 1', async () => {
    const agent = forgetful(1);
    await skipTime(() => inDoubt(agent));
    assert.deepEqual(keysOf(agent), [undefined]);
  });
});
