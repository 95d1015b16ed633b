// Tests requests of agents, including those with unknown names.

import { strict as assert } from 'node:assert';
import { setImmediate } from 'node:timers/promises';
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
    it(`are answered with “method not found” for ${method}`, async () => {
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
      it(`show the questions ${where} as a form and return the answers`, async () => {
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

    it('are declined if the user declines, and cancelled if the user dismisses them', async () => {
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

    it('are shown as a permission if they contain no questions, or none that can be shown', async () => {
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

  describe('of Grok', () => {
    const events: SessionEvent[] = [];
    const requests = new UserRequests(
      (event) => void events.push(event),
      () => false,
    );
    const asking = {
      ...context,
      turns: { requests, isCancelled: false },
      connector: { sessionId: 's', agentSide: { link: { router: { requested() {} } } } },
    } as unknown as AskedConversation;
    const ask = (method: string, params: object): Promise<unknown> => {
      events.length = 0;
      return answerRequest(
        asking,
        method,
        { sessionId: 's', toolCallId: 'c', ...params },
        new AbortController().signal,
        1,
      );
    };
    const questions = [
      { question: 'Which colours?', multiSelect: true, options: [{ label: 'Red' }, { label: 'Blue' }] },
      { question: 'Which size?', multiSelect: false, options: [{ label: 'Small' }, { label: 'Large' }] },
      { question: 'What name?', options: [] },
    ];

    it('show questions as a form, with answers as lists by the text of the question', async () => {
      const answer = ask('_x.ai/ask_user_question', { questions, mode: 'plan' });
      const [asked] = events;
      assert.ok(asked?.type === 'elicitation_asked' && asked.mode === 'form');
      assert.equal(asked.toolCallId, 'c');
      assert.deepEqual(pluck(asked.form.fields, 'title', 'type', 'required'), [
        ['Which colours?', 'choices', false],
        ['Another answer', 'text', false],
        ['Which size?', 'choice', false],
        ['Another answer', 'text', false],
        ['What name?', 'text', false],
      ]);
      const content = { q0: ['Red', 'Blue'], 'q0 other': 'Green', 'q1 other': 'Huge' };
      await requests.elicitations.submit(asked.id, content);
      assert.deepEqual(await answer, {
        outcome: 'accepted',
        answers: { 'Which colours?': ['Red', 'Blue', 'Green'], 'Which size?': ['Huge'] },
      });
    });

    it('return no answers if the user declines or dismisses the questions', async () => {
      for (const action of ['decline', 'cancel'] as const) {
        const answer = ask('_x.ai/ask_user_question', { questions });
        const [asked] = events;
        assert.ok(asked?.type === 'elicitation_asked');
        requests.elicitations.refuse(asked.id, action);
        assert.deepEqual(await answer, { outcome: 'cancelled' });
      }
    });

    it('show a plan as a permission, with the chosen option as the answer', async () => {
      for (const [chosen, outcome] of [
        ['approved', 'approved'],
        ['abandoned', 'abandoned'],
        [null, 'cancelled'],
      ] as const) {
        const answer = ask('_x.ai/exit_plan_mode', { planContent: '# Plan' });
        await setImmediate();
        const permission = events.find(({ type }) => type === 'permission_asked');
        assert.ok(permission?.type === 'permission_asked' && permission.toolCallId === 'c');
        const call = events.find(({ type }) => type === 'tool_call');
        assert.deepEqual(call?.type === 'tool_call' && call.patch.content, [
          { type: 'content', block: { type: 'text', text: '# Plan' } },
        ]);
        requests.permissions.answer(permission.permissionId, chosen);
        assert.deepEqual(await answer, { outcome });
      }
    });

    it('are refused if they contain no question', async () => {
      for (const method of ['_x.ai/ask_user_question', '_x.ai/exit_plan_mode'])
        await assert.rejects(ask(method, { toolCallId: undefined }), { code: -32602 });
    });
  });
});
