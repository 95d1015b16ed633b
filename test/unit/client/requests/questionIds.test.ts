// The ids of questions: an answer finds its own question, in whatever session and after whatever reload.
import assert from 'node:assert/strict';
import { ElicitationRequestHandler } from '../../../../src/client/requests/elicitationRequestHandler';
import { PermissionRequestHandler } from '../../../../src/client/requests/permissionRequestHandler';
import type { SessionEvent } from '../../../../src/session/events/event';

describe('the id of a question', () => {
  const { signal } = new AbortController();

  it('of permission is another one in each session and after each reload', () => {
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

  it('of a form is another one in each session and after each reload', () => {
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
