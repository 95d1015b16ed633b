// Permission requests that rules answer before the user sees them.

import { strict as assert } from 'node:assert';
import type { PermissionAsk } from '../../../../src/acp/protocol/dialect';
import { Deferred } from '../../../../src/base/deferred';
import { type Judgement, PermissionRequestHandler } from '../../../../src/client/requests/permissionRequestHandler';
import { SessionModel } from '../../../../src/session/model/model';
import { scriptedAgent } from '../../../support/agents/definition';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('a permission request that a rule answers', () => {
  const never = new AbortController().signal;
  const option = (kind: string) => ({ optionId: kind, name: kind, kind });
  const asked = (...kinds: string[]): PermissionAsk => ({
    toolCallId: 'c',
    title: 'Run',
    options: kinds.map(option),
    patch: { kind: 'execute', title: 'Run' },
  });
  const allowed: Judgement = { action: 'allow', rule: 'execute: npm test' };
  const handled = (judgement: Judgement | Promise<Judgement>) => {
    const model = new SessionModel();
    const handler = new PermissionRequestHandler(
      (event) => model.apply(event, 0),
      async () => judgement,
    );
    return { model, handler };
  };

  it('gets the answer for this time only, and the transcript names the rule', async () => {
    const { model, handler } = handled(allowed);
    const answer = await handler.ask(asked('allow_always', 'allow_once', 'reject_once'), false, never);
    assert.deepEqual(answer, { outcome: { outcome: 'selected', optionId: 'allow_once' } });
    const [entry] = model.state.entries;
    assert.deepEqual(entry?.kind === 'tool' && entry.decision, {
      outcome: 'selected',
      by: 'rule',
      name: 'allow_once',
      kind: 'allow_once',
      rule: 'execute: npm test',
    });
    assert.equal(model.state.permissions.size, 0);
  });

  it('is shown if the agent has no answer for this time only', async () => {
    for (const [judgement, kind] of [
      [allowed, 'allow_always'],
      [{ action: 'reject', rule: 'x' }, 'reject_always'],
    ] as const) {
      const { model, handler } = handled(judgement);
      const answer = handler.ask(asked(kind), false, never);
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(model.state.permissions.size, 1);
      handler.cancelAll('turn');
      assert.deepEqual(await answer, { outcome: { outcome: 'cancelled' } });
    }
  });

  it('is cancelled if the turn stops while the rules are read', async () => {
    const judging = new Deferred<Judgement>();
    const { model, handler } = handled(judging.promise);
    const answer = handler.ask(asked('allow_once'), false, never);
    handler.cancelAll('turn');
    judging.resolve(allowed);
    assert.deepEqual(await answer, { outcome: { outcome: 'cancelled' } });
    assert.equal(model.state.permissions.size, 0);
  });

  it('is cancelled in a cancelled turn, whatever the rules say', async () => {
    const { handler } = handled(allowed);
    assert.deepEqual(await handler.ask(asked('allow_once'), true, never), { outcome: { outcome: 'cancelled' } });
  });
});

describe('a request whose change the user has edited', () => {
  let session: TestConversation;
  const used: string[] = [];

  beforeEach(async () => {
    const agent = parseAgent(scriptedAgent('plain'), 'scripted');
    session = testConversation({
      agent,
      cwd: await scratchFolder(),
      services: { useEdited: (...answer) => used.push(answer.join(' ')) > 0 && answer[2] === 'allow' },
    });
  });

  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  it('cannot be answered by an option for the edited version, only by others', async () => {
    const { conversation } = session;
    const turn = conversation.send('permission');
    await session.until((c) => c.model.state.permissions.size === 1);
    const [id = ''] = conversation.model.state.permissions.keys();
    assert.ok(conversation.answerPermission(id, 'allow'));
    assert.deepEqual(used.splice(0), [`test ${id} allow`]);
    assert.ok(conversation.model.state.permissions.has(id));
    assert.ok(conversation.answerPermission(id, 'reject'));
    assert.deepEqual(used, [`test ${id} reject`]);
    await turn.done;
  });
});
