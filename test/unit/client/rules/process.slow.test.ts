// Rules and reasons with a real agent process.

import { strict as assert } from 'node:assert';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { Deferred } from '../../../../src/base/deferred';
import type { RuleSet } from '../../../../src/client/rules/judge';
import { scriptedAgent } from '../../../support/agents/definition';
import { pluck } from '../../../support/pluck';
import { removeFolder } from '../../../support/scratch';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('a session with an agent process', function () {
  this.timeout(30_000);
  const [agent = assert.fail()] = parseAgents({ plain: scriptedAgent('plain') }).agents;
  let cwd: string;
  let session: TestConversation;

  const begin = (rules: RuleSet): void => {
    session = testConversation({ agent, cwd, services: { permissionRules: () => rules } });
  };
  const call = (id: string, command: string): string =>
    `permission ${JSON.stringify({ toolCall: { toolCallId: id, title: 'npm test', kind: 'execute', rawInput: { command } } })}`;
  const asked = async () => {
    await session.until(({ model }) => model.state.permissions.size === 1);
    const [question = assert.fail()] = session.conversation.model.state.permissions.values();
    return question;
  };
  const reject = ({ id, options }: Awaited<ReturnType<typeof asked>>): boolean =>
    session.conversation.answerPermission(id, options.find(({ kind }) => kind === 'reject_once')?.optionId ?? '');
  const prompts = (): string[] =>
    session.conversation.model.state.entries.flatMap((entry) =>
      entry.kind === 'user' ? entry.content.map((block) => (block.type === 'text' ? block.text : '')) : [],
    );

  beforeEach(async () => {
    cwd = await realpath(await mkdtemp(join(tmpdir(), 'parley-rules-')));
  });

  afterEach(async () => {
    await session.close();
    await removeFolder(cwd);
  });

  it('sends the reason of a rejection as the next message, before queued ones', async () => {
    begin({ user: [], workspace: [], isTrusted: true });
    const { conversation } = session;
    conversation.send(call('a', 'npm test'));
    const question = await asked();
    const last = conversation.send('say queued').done;
    assert.ok(reject(question));
    conversation.queueActions.sendNext('say first reason');
    conversation.queueActions.sendNext('say second reason');
    await last;
    assert.deepEqual(prompts().slice(1), ['say first reason', 'say second reason', 'say queued']);
  });

  it('sends the reason despite a pause, but not after a stop', async () => {
    begin({ user: [], workspace: [], isTrusted: true });
    const { conversation } = session;
    conversation.send(call('a', 'npm test'));
    const question = await asked();
    conversation.send('say queued').done.catch(() => {});
    conversation.queue.pause('by-user');
    assert.ok(reject(question));
    conversation.queueActions.sendNext('say reason');
    await session.until(({ model, isBusy }) => model.state.turns.length === 2 && !isBusy);
    assert.deepEqual(prompts().slice(1), ['say reason']);
    conversation.queue.remove(conversation.queue.items[0]?.id ?? '');

    const stopped = conversation.send('wait').done;
    await session.until(({ isBusy, turns }) => isBusy && !turns.isPreparing);
    conversation.queueActions.sendNext('say too late');
    conversation.cancel();
    await stopped;
    const settled = new Deferred<void>();
    setImmediate(() => settled.resolve());
    await settled.promise;
    assert.equal(conversation.queue.paused, 'stopped');
    assert.deepEqual(pluck(conversation.queue.items, 'text', 'state'), [['say too late', 'queued']]);
  });
});
