// Questions of an earlier window, repeated by the same agent or another one.

import assert from 'node:assert/strict';
import { ElicitationRequestHandler } from '../../../../src/client/requests/elicitationRequestHandler';
import { PermissionRequestHandler } from '../../../../src/client/requests/permissionRequestHandler';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pluck } from '../../../support/pluck';

describe('a question of an earlier window', () => {
  const { signal } = new AbortController();
  const asked = { title: 'Run', options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' as const }] };

  function restored(): {
    readonly handler: PermissionRequestHandler;
    readonly model: SessionModel;
    readonly id: string;
  } {
    const before = new SessionModel();
    void new PermissionRequestHandler((event) => before.apply(event, 0)).ask(asked, false, signal);
    const model = new SessionModel();
    const handler = new PermissionRequestHandler((event) => model.apply(event, 0));
    const questions = [...before.state.permissions.values()];
    handler.restore(questions);
    return { handler, model, id: questions[0]?.id ?? '' };
  }

  it('passes the user’s answer to the agent that repeats it', async () => {
    const { handler, id } = restored();
    assert.ok(handler.answer(id, 'y'));
    assert.deepEqual(await handler.ask(asked, false, signal), { outcome: { outcome: 'selected', optionId: 'y' } });
  });

  it('passes no answer to an agent that now asks for something else', async () => {
    const call = (command: string, name = 'Yes') => ({
      toolCallId: 'c',
      title: 'Run',
      patch: { kind: 'execute', rawInput: { command } },
      options: [{ optionId: 'y', name, kind: 'allow_once' as const }],
    });
    for (const [again, isSame] of [
      [call('ls'), true],
      [call('rm -rf ~'), false],
      [call('ls', 'No'), false],
      [{ ...call('ls'), command: { line: 'rm -rf ~' } }, false],
    ] as const) {
      const model = new SessionModel();
      const apply = (event: SessionEvent) => model.apply(event, 0);
      void new PermissionRequestHandler(apply).ask(call('ls'), false, signal);
      const handler = new PermissionRequestHandler(apply);
      const [question] = [...model.state.permissions.values()];
      assert.ok(question);
      handler.restore([question], model.state.entries);
      assert.ok(handler.answer(question.id, 'y'));
      let answer: unknown;
      void handler.ask(again, false, signal).then((given) => {
        answer = given;
      });
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(answer !== undefined, isSame, JSON.stringify(again));
    }
  });

  it('is asked again for the next agent, however it was answered before', () => {
    for (const answers of [false, true]) {
      const { handler, model, id } = restored();
      if (answers) handler.answer(id, 'y');
      handler.cancelAll('exit');
      void handler.ask(asked, false, signal);
      assert.deepEqual(pluck([...model.state.permissions.values()], 'title'), ['Run']);
    }
  });

  it('is asked again for the next agent if it is a form', () => {
    const events: SessionEvent[] = [];
    const handler = new ElicitationRequestHandler((event) => events.push(event));
    const body = { mode: 'form', form: { fields: [] } } as const;
    handler.restore([{ id: 'before', message: 'Why?', at: 0, ...body }]);
    handler.agentExited();
    void handler.ask({ scope: { sessionId: 's' }, message: 'Why?', body }, false, signal);
    assert.deepEqual(pluck(events, 'type'), ['elicitation_closed', 'elicitation_asked']);
  });
});

describe('the id of a question', () => {
  const { signal } = new AbortController();

  it('is unique across sessions and reloads for a permission request', () => {
    const ids = ['one session', 'another one'].map(() => {
      const events: SessionEvent[] = [];
      const handler = new PermissionRequestHandler((event) => events.push(event));
      void handler.ask({ title: 'Run', options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] }, false, signal);
      const [asked] = events;
      assert.ok(asked?.type === 'permission_asked');
      return { handler, id: asked.permissionId };
    });
    assert.notEqual(ids[0]?.id, ids[1]?.id);
    assert.equal(ids[0]?.handler.answer(ids[1]?.id ?? '', 'y'), false);
  });

  it('is unique across sessions and reloads for a form', () => {
    const ids = ['one session', 'another one'].map(() => {
      let id = '';
      const handler = new ElicitationRequestHandler((event) => {
        if (event.type === 'elicitation_asked') id = event.id;
      });
      const body = { mode: 'form', form: { fields: [] } } as const;
      void handler.ask({ scope: { sessionId: 's' }, message: 'Why?', body }, false, signal);
      return { handler, id };
    });
    assert.notEqual(ids[0]?.id, ids[1]?.id);
    assert.equal(ids[0]?.handler.refuse(ids[1]?.id ?? '', 'cancel'), false);
  });
});
