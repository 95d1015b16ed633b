// Requests of an agent by their names: what has no answer here is refused, whatever it is called.

import { strict as assert } from 'node:assert';
import { RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { type AskedConversation, answerRequest } from '../../../../src/client/conversation/agentRequests';
import { UserRequests } from '../../../../src/client/requests/userRequests';
import type { SessionEvent } from '../../../../src/session/events/event';
import { pluck } from '../../../support/pluck';

describe('requests of an agent', () => {
  const context = {
    key: 'key',
    roots: ['/secret/root'],
    connector: { sessionId: 's', agentSide: {} },
  } as unknown as AskedConversation;

  for (const method of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'no/such']) {
    it(`are answered “method not found” where they are called ${method}`, async () => {
      await assert.rejects(
        answerRequest(context, method, { sessionId: 's' }, new AbortController().signal, 1),
        (error: unknown) => error instanceof RpcError && error.code === -32601,
      );
    });
  }

  describe('with questions of qwen-code', () => {
    const events: SessionEvent[] = [];
    const apply = (event: SessionEvent): void => void events.push(event);
    const requests = new UserRequests(apply, () => false);
    const { permissions, elicitations } = requests;
    const dialect = new V1Agent({ request: async () => ({}), notify: async () => {} });
    const asking = {
      ...context,
      turns: { requests, isCancelled: false },
      connector: { sessionId: 's', agentSide: { dialect, link: { router: { requested() {} } } } },
    } as unknown as AskedConversation;

    beforeEach(() => {
      events.length = 0;
    });

    const options = [
      { optionId: 'proceed_once', name: 'Submit', kind: 'allow_once' },
      { optionId: 'cancel', name: 'Cancel', kind: 'reject_once' },
    ];
    const questions = [
      {
        question: 'Which colour?',
        header: 'Colour',
        options: [{ label: 'red' }, { label: 'blue', description: 'calm' }],
      },
      { question: 'Which parts?', multiSelect: true, options: [{ label: 'text' }, { label: 'code' }] },
      { question: 'What name?', options: [] },
    ];
    const ask = (_meta: object, rawInput: object = {}): Promise<unknown> => {
      const toolCall = { toolCallId: 'c', title: 'Ask user 3 questions', _meta, rawInput };
      const params = { sessionId: 's', options, toolCall };
      return answerRequest(asking, 'session/request_permission', params, new AbortController().signal, 1);
    };
    const form = (): Extract<SessionEvent, { type: 'elicitation_asked' }> => {
      const asked = events.find(({ type }) => type === 'elicitation_asked');
      assert.ok(asked?.type === 'elicitation_asked');
      return asked;
    };

    for (const [where, meta, rawInput] of [
      ['beside the call', { qwenInteractionKind: 'user_question', qwenQuestions: questions }, {}],
      ['in its input', { qwenInteractionKind: 'user_question', qwenQuestions: [] }, { questions }],
    ] as const) {
      it(`show the questions ${where} as a form, and give the answers to the agent`, async () => {
        const answer = ask(meta, rawInput);
        const asked = form();
        assert.equal(asked.toolCallId, 'c');
        assert.ok(asked.mode === 'form');
        assert.deepEqual(pluck(asked.form.fields, 'title', 'type', 'required'), [
          ['Which colour?', 'choice', true],
          ['Which parts?', 'choices', true],
          ['What name?', 'text', true],
        ]);
        assert.ok(events.some(({ type }) => type === 'tool_call'));
        assert.notEqual((await elicitations.submit(asked.id, { 0: 'blue' }))?.size, 0);
        await elicitations.submit(asked.id, { 0: 'blue', 1: ['text', 'code'], 2: 'Ann' });
        assert.deepEqual(await answer, {
          outcome: { outcome: 'selected', optionId: 'proceed_once' },
          answers: { 0: 'blue', 1: 'text, code', 2: 'Ann' },
        });
      });
    }

    it('say no where the user does, and nothing where the user dismisses them', async () => {
      for (const [action, outcome] of [
        ['decline', { outcome: 'selected', optionId: 'cancel' }],
        ['cancel', { outcome: 'cancelled' }],
      ] as const) {
        events.length = 0;
        const answer = ask({ qwenInteractionKind: 'user_question', qwenQuestions: questions });
        elicitations.refuse(form().id, action);
        assert.deepEqual(await answer, { outcome });
      }
    });

    it('ask for a permission where they are no questions, or none that can be shown', async () => {
      const odd = [[], 'text', [{ question: 'x', options: [{}] }], Array.from({ length: 101 }, () => ({}))];
      for (const qwenQuestions of odd) {
        events.length = 0;
        const answer = ask({ qwenInteractionKind: 'user_question', qwenQuestions });
        const asked = events.find(({ type }) => type === 'permission_asked');
        assert.ok(asked?.type === 'permission_asked', JSON.stringify(qwenQuestions).slice(0, 50));
        permissions.answer(asked.permissionId, 'cancel');
        assert.deepEqual(await answer, { outcome: { outcome: 'selected', optionId: 'cancel' } });
      }
    });
  });
});
