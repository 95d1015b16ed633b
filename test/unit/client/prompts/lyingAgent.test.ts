// Tests agents that answer late, twice or for others, contradict themselves, or die early. Nothing
// is lost or hangs.

import { strict as assert } from 'node:assert';
import { RPC_CODES, RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { Deferred } from '../../../../src/base/deferred';
import { silentLog } from '../../../../src/base/log';
import type { Preparation } from '../../../../src/client/prompts/promptSession';
import { TurnControl } from '../../../../src/client/prompts/turnControl';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { PromptQueue } from '../../../../src/session/queue/queue';
import { pluck } from '../../../support/pluck';
import { promptSession } from '../../../support/sessions/promptSession';

interface Sent {
  readonly method: string;
  readonly answer: Deferred<unknown>;
}

function turns(preparation: { precedes?: Preparation; reopen?: Preparation } = {}) {
  const sent: Sent[] = [];
  const events: SessionEvent[] = [];
  const dialect = new V1Agent({
    request: (method, _params, options) => {
      options?.onSent?.(sent.length);
      const answer = new Deferred<unknown>();
      sent.push({ method, answer });
      return answer.promise;
    },
    notify: async (method) => void sent.push({ method, answer: new Deferred() }),
  });
  const link = {
    dialect,
    description: { features: { prompt: {}, load: {} } },
    isAlive: true,
    rpc: { isClosed: false, whenHandled: (run: () => void) => run() },
  };
  const state: { session: unknown } = { session: { link, sessionId: 's' } };
  const queue = new PromptQueue(() => {});
  const control = new TurnControl({
    queue,
    services: { clock: { now: () => 1 }, log: silentLog, answerGraceMs: 1 } as never,
    model: new SessionModel(),
    recorder: {
      apply: (event) => void events.push(event),
      together: (run) => run(),
      commit() {},
      afterwards: (run) => run(),
    },
    session: promptSession(() => state.session, {
      precedes: () => preparation.precedes,
      reopen: () => preparation.reopen ?? (async () => 'session-lost'),
    }),
  });
  const add = (text: string) => {
    const item = queue.add(text, []);
    control.dispatcher.expect(item).catch(() => {});
    control.dispatcher.pump();
    return item;
  };
  const ends = () => events.flatMap((event) => (event.type === 'turn_ended' ? [event.stopReason] : []));
  return { control, queue, sent, events, state, add, ends };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const gone = () => new RpcError(RPC_CODES.resourceNotFound, 'Resource not found', { sessionId: 's' });

describe('an agent with wrong claims about its session', () => {
  for (const [name, refusal, prompts] of [
    ['by its id', gone(), 4],
    ['as what the TypeScript SDK calls a resource', new RpcError(-32002, 'Resource not found: s', { uri: 's' }), 4],
    ['without naming it', new RpcError(RPC_CODES.resourceNotFound, 'Resource not found'), 2],
  ] as const)
    it(`gets the prompt at most ${prompts} times if it always says ${name} that it is gone`, async () => {
      const { sent, add, ends, queue } = turns({ reopen: async () => undefined });
      add('one');
      add('two');
      for (let index = 0; index < sent.length; index++) {
        sent[index]?.answer.reject(refusal);
        await settled();
      }
      assert.equal(sent.length, prompts);
      assert.deepEqual(ends(), ['error']);
      assert.deepEqual([queue.items.map(({ text }) => text), queue.paused], [['two'], 'turn-failed']);
    });

  it('is believed if a resource of the prompt is missing', async () => {
    const { sent, add, ends } = turns({ reopen: async () => assert.fail('nothing is opened') });
    add('one');
    sent[0]?.answer.reject(new RpcError(RPC_CODES.resourceNotFound, 'No such file', { uri: 'file:///a' }));
    await settled();
    assert.deepEqual(ends(), ['error']);
  });

  it('leaves the message in doubt if it dies while reopening the session', async () => {
    const opening = new Deferred<undefined>();
    const { control, sent, state, add, ends } = turns({ reopen: () => opening.promise });
    add('one');
    sent[0]?.answer.reject(gone());
    await settled();
    state.session = undefined;
    control.exited('It exited.');
    opening.resolve(undefined);
    await settled();
    assert.equal(sent.length, 1, 'nothing is sent to an agent that is gone');
    assert.deepEqual(ends(), ['error']);
    assert.equal(control.isBusy, false);
  });

  it('leaves the message queued if it dies while it is asked', async () => {
    const asked = new Deferred<undefined>();
    const { control, queue, sent, state, add } = turns({ precedes: () => asked.promise });
    add('one');
    state.session = undefined;
    control.exited('It exited.');
    asked.resolve(undefined);
    await settled();
    assert.deepEqual(
      queue.items.map(({ state: one }) => one),
      ['queued'],
    );
    assert.deepEqual([sent.length, control.isBusy], [0, false]);
  });

  it('gets no prompt if it answers after Stop', async () => {
    const asked = new Deferred<undefined>();
    const { control, queue, sent, add } = turns({ precedes: () => asked.promise });
    const item = add('one');
    assert.equal(control.isBusy, true);
    assert.equal(control.cancelSend(), true);
    assert.equal(control.cancelSend(), false, 'once');
    queue.pause('stopped');
    asked.resolve(undefined);
    await settled();
    assert.deepEqual([sent.length, item.state, control.isBusy], [0, 'queued', false]);
  });
});

describe('Stop', () => {
  it('does nothing while only the response to a finished turn is missing', async () => {
    const { control, sent, add } = turns();
    add('one');
    control.driver.feed({ type: 'complete', barrier: { promptRequestId: '0', stopReason: 'end_turn' } });
    assert.deepEqual([control.isBusy, control.isRunning], [true, false]);
    control.cancel();
    assert.deepEqual(pluck(sent, 'method'), ['session/prompt']);
    await settled();
  });

  it('does nothing while only the idle state of a finished turn is missing', async () => {
    const { control, sent, add } = turns();
    add('one');
    control.state({ state: 'running' });
    sent[0]?.answer.resolve({ messageId: 'u1' });
    await settled();
    control.driver.feed({ type: 'complete', barrier: { promptRequestId: '0', stopReason: 'end_turn' } });
    assert.deepEqual([control.isBusy, control.isRunning], [true, false]);
    control.cancel();
    assert.deepEqual(pluck(sent, 'method'), ['session/prompt']);
    control.state({ state: 'running' });
    assert.equal(control.isRunning, true);
    control.dispose();
  });

  it('answers open questions with "cancelled" before the turn ends', async () => {
    const { control, events, add, ends } = turns();
    add('one');
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] as const;
    const question = { title: 'Write a.txt', options };
    const asked = control.requests.permissions.ask(question as never, false, new AbortController().signal);
    await settled();
    assert.ok(events.some(({ type }) => type === 'permission_asked'));
    control.cancel();
    assert.equal(events.at(-1)?.type, 'permission_closed');
    assert.deepEqual(await asked, { outcome: { outcome: 'cancelled' } });
    assert.deepEqual(ends(), []);
  });
});
