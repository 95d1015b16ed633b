// Tests forks at a message: only agents that support them fork, and no other fork is kept or used.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { at } from '../../../../src/base/untrusted';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import type { SessionEvent } from '../../../../src/session/events/event';
import { forkPointBefore } from '../../../../src/session/model/forkPoint';
import { InlineAgent, Refusal, useInlineAgents } from '../../../support/agents/inlineAgent';
import { scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';

const opening = { kind: 'fork', sessionId: 'origin', messageId: 'm2' } as const;
const past: readonly SessionEvent[] = [
  { type: 'message', role: 'user', messageId: 'origin-1', content: [{ type: 'text', text: 'one' }] },
  { type: 'message_chunk', role: 'agent', messageId: 'm2', block: { type: 'text', text: 'Heard one' } },
];

function agentWith(features: readonly ('fork' | 'delete')[], version: 1 | 2 = 1): InlineAgent {
  const offered = Object.fromEntries(features.map((feature) => [feature, {}]));
  const agent = new InlineAgent(version === 1 ? { sessionCapabilities: offered } : { session: offered }, version);
  agent.answers['session/delete'] = () => ({});
  return agent;
}

const pointOf = (params: unknown): unknown => at(params, '_meta', 'jetbrains', 'air', 'fork', 'messageId');

/** Forks at the known message, and rejects any other by name. */
function readsPoint(agent: InlineAgent, known: string): void {
  agent.answers['session/fork'] = (params) =>
    pointOf(params) === known
      ? { sessionId: 'fork' }
      : new Refusal(-32602, `Fork point message ${pointOf(params)} was not found`, { messageId: pointOf(params) });
}

function notices(conversation: Conversation): string {
  const { entries } = snapshotOf(conversation);
  return entries.flatMap(({ kind, text }) => (kind === 'notice' ? [text] : [])).join('\n');
}

describe('a session that is forked at a message', function () {
  this.timeout(5000);
  const open = useInlineAgents();

  async function begin(agent: InlineAgent): Promise<Conversation> {
    const { conversation } = await open(agent, opening);
    conversation.note(past.map((event) => ({ at: 0, event })));
    await conversation.start();
    return conversation;
  }

  /**
   * Asserts that the agent got the transcript with the next message, and that each message is shown
   * once.
   */
  async function hasTranscript(agent: InlineAgent, conversation: Conversation, reason: RegExp): Promise<void> {
    assert.equal(conversation.sessionId, 's1');
    assert.match(notices(conversation), reason);
    assert.match(notices(conversation), /started a new session\. The transcript is sent/);
    assert.doesNotMatch(notices(conversation), /No transcript is sent/);
    await conversation.send('two').done;
    assert.match(agent.prompts[0] ?? '', /Heard one/);
  }

  for (const version of [1, 2] as const)
    it(`uses the agent's own fork, without a transcript, in version ${version}`, async () => {
      const agent = agentWith(['fork', 'delete'], version);
      readsPoint(agent, 'm2');
      const conversation = await begin(agent);
      assert.equal(conversation.sessionId, 'fork');
      assert.match(
        notices(conversation),
        /Forked session\nThe agent knows the messages above\. No transcript is sent\./,
      );
      const forks = agent.received.filter(({ method }) => method === 'session/fork');
      assert.deepEqual(
        forks.map(({ params }) => [at(params, 'sessionId'), pointOf(params) === 'm2']),
        [
          ['origin', false],
          ['origin', true],
        ],
      );
      assert.deepEqual(at(forks[1]?.params, '_meta', 'jetbrains', 'air', 'fork'), { version: 1, messageId: 'm2' });
      const texts = snapshotOf(conversation).entries.flatMap(({ kind, text }) => (kind === 'notice' ? [] : [text]));
      assert.deepEqual(texts, ['one', 'Heard one']);
      const sent = conversation.send('two');
      if (version === 1) await sent.done;
      else {
        sent.done.catch(() => {});
        while (agent.prompts.length === 0) await new Promise(setImmediate);
      }
      assert.doesNotMatch(agent.prompts[0] ?? '', /Heard one/);
      assert.ok(!agent.methods.includes('session/new'));
    });

  it('gets the transcript if the agent ignores the message, and the unwanted fork is deleted', async () => {
    const agent = agentWith(['fork', 'delete']);
    agent.answers['session/fork'] = () => ({ sessionId: 'stray' });
    await hasTranscript(agent, await begin(agent), /can't fork sessions at a message/);
    const deleted = agent.received.filter(({ method }) => method === 'session/delete');
    assert.deepEqual(deleted, [{ method: 'session/delete', params: { sessionId: 'stray' } }]);
    assert.equal(agent.methods.filter((method) => method === 'session/fork').length, 1);
  });

  it('is never deleted if the agent returns its id as the fork', async () => {
    const agent = agentWith(['fork', 'delete']);
    agent.answers['session/fork'] = () => ({ sessionId: 'origin' });
    await hasTranscript(agent, await begin(agent), /can't fork sessions at a message/);
    assert.ok(!agent.methods.includes('session/delete'));
  });

  it('is not forked if a fork at the end could not be deleted', async () => {
    const agent = agentWith(['fork']);
    readsPoint(agent, 'm2');
    await hasTranscript(agent, await begin(agent), /can't fork sessions at a message/);
    assert.ok(!agent.methods.includes('session/fork'));
  });

  it("gets the transcript if the agent can't fork sessions", async () => {
    const agent = agentWith(['delete']);
    await hasTranscript(agent, await begin(agent), /can't fork sessions\./);
    assert.ok(!agent.methods.includes('session/fork'));
  });

  it("gets the transcript and the agent's reason if the agent doesn't know the message", async () => {
    const agent = agentWith(['fork', 'delete']);
    readsPoint(agent, 'another');
    await hasTranscript(agent, await begin(agent), /couldn't fork the session: .*message m2 was not found\./);
  });

  it('gets the transcript if the agent refuses for another reason, without a second request', async () => {
    const agent = agentWith(['fork', 'delete']);
    agent.answers['session/fork'] = () => new Refusal(-32603, 'The disk is full.');
    await hasTranscript(agent, await begin(agent), /couldn't fork the session: The disk is full\./);
    assert.equal(agent.methods.filter((method) => method === 'session/fork').length, 1);
  });

  it('starts its agent if needed', async () => {
    const { conversation } = await open(agentWith([]), { kind: 'reopen', sessionId: 'origin', transcript: 'keep' });
    assert.equal(conversation.sessionId, undefined);
    assert.equal(conversation.connector.agentSessionId, 'origin');
  });

  it('waits for the user to sign in', async () => {
    const agent = agentWith(['fork', 'delete']);
    agent.answers['session/fork'] = () =>
      new Refusal(-32000, 'Sign in first', { authMethods: [{ id: 'x', name: 'X' }] });
    agent.answers.authenticate = () => {
      readsPoint(agent, 'm2');
      return {};
    };
    const conversation = await begin(agent);
    assert.equal(conversation.connection.kind, 'authRequired');
    await conversation.signIn('x');
    assert.equal(conversation.sessionId, 'fork');
    assert.ok(!agent.methods.includes('session/new'));
  });

  it('creates no session if the user stops the start', async () => {
    const agent = agentWith(['fork', 'delete']);
    agent.answers['session/fork'] = () => undefined;
    const { conversation } = await open(agent, opening);
    const started = conversation.start();
    while (!agent.methods.includes('session/fork')) await new Promise(setImmediate);
    conversation.cancel();
    await started;
    assert.ok(!agent.methods.includes('session/new'));
  });

  it('gets the transcript if the agent does not answer in time', async () => {
    const agent = agentWith(['fork', 'delete']);
    agent.answers['session/fork'] = () => undefined;
    const { conversation } = await open(agent, opening, { startTimeoutMs: () => 200 });
    conversation.note(past.map((event) => ({ at: 0, event })));
    await conversation.start();
    await hasTranscript(agent, conversation, /no response to session\/fork/);
  });

  it('is forked by the demo agent at a message of another process', async () => {
    const program = join(process.cwd(), 'out/support/demo/agent.js');
    const [agent] = parseAgents({ demo: { name: 'Demo', command: process.execPath, args: [program] } }).agents;
    assert.ok(agent);
    const cwd = await scratchFolder();
    const origin = testConversation({ agent, cwd });
    await origin.conversation.start();
    await origin.conversation.choices.setConfigOption('pace', 'instant');
    await origin.conversation.send('hello').done;
    const { sessionId = '', model } = origin.conversation;
    const messageId = forkPointBefore(model.state.entries, model.state.entries.length);
    assert.ok(messageId);
    await origin.close();
    const fork = testConversation({ agent, cwd, opening: { kind: 'fork', sessionId, messageId } });
    fork.conversation.note(past.map((event) => ({ at: 0, event })));
    await fork.conversation.start();
    assert.match(notices(fork.conversation), /No transcript is sent/);
    await fork.close();
  });
});
