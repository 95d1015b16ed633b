// Tests the session state of served agents: it is stored, moves with the session and is never
// overwritten unseen.
import assert from 'node:assert/strict';
import type { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import { mintId, type SessionDescriptor } from '../../../../src/distributed/model/model';
import { readAgentLog } from '../../../support/agents/definition';
import { agentOf, type RunningServer, serve, userMessage } from '../../../support/servers/servedAgents';
import {
  closeServed,
  demo,
  newSession,
  stateOffers as offers,
  request,
  said,
  scripted,
  storesState as store,
} from './servedScripted';

const signal = new AbortController().signal;

const stateAt = async ({ client }: Pick<RunningServer, 'client'>, id: string): Promise<string | undefined> => {
  const { state } = await client.session(id, signal);
  return state === undefined ? undefined : (await fetch(state)).text();
};

const told = (run: Awaited<ReturnType<CommunicationClient['run']>>): readonly unknown[] =>
  run.output.flatMap(({ parts }) => parts.flatMap(({ metadata }) => metadata?.message ?? []));

describe('the state of a served session', function () {
  this.timeout(30_000);

  afterEach(closeServed);

  it('is counted up by the demo agent on one server and then on another one', async () => {
    const [a, b] = [await serve([(await demo()).agent]), await serve([(await demo()).agent])];
    const id = mintId();
    const count = async ({ client }: RunningServer, session: SessionDescriptor): Promise<string> =>
      said(await client.runSync({ agentName: 'demo', input: [userMessage('/count')], session }, signal));
    assert.equal(await count(a, { id, history: [] }), 'Count: 1');
    assert.equal(await count(a, await a.client.session(id, signal)), 'Count: 2');
    assert.equal(await count(b, await a.client.session(id, signal)), 'Count: 3');
    assert.equal(await count(a, await b.client.session(id, signal)), 'Count: 4');
    assert.deepEqual([await stateAt(a, id), await stateAt(b, id)], ['4', '3']);
  });

  it('is sent with its bytes to an agent that lacks them, otherwise as an address only', async () => {
    const { agent, log } = await scripted();
    const running = await serve([agent]);
    const session = newSession();
    await running.client.runSync(request(store(null, 'first'), session), signal);
    assert.equal(await stateAt(running, session.id), 'first');
    await running.client.runSync(request('say more', session), signal);
    await running.client.runSync(request('die 3', session), signal);
    await running.client.runSync(request('say again', session), signal);
    const { state } = await running.client.session(session.id, signal);
    const [first, second, third, fourth] = offers(log);
    assert.deepEqual(first, { url: null });
    assert.deepEqual(Object.keys(second ?? {}), ['url']);
    assert.deepEqual(Object.keys(third ?? {}), ['url']);
    // A new process has no state.
    assert.equal(fourth?.content, Buffer.from('first').toString('base64'));
    assert.equal(new URL(String(fourth?.url)).pathname, new URL(state ?? '').pathname);
    const initialize = readAgentLog(log).find(({ msg }) => msg?.method === 'initialize')?.msg?.params;
    assert.match(JSON.stringify(initialize), /"parley\/state":\{"version":1,"maxBytes":4194304\}/);
  });

  it('can be stored twice in a turn, but not if it is based on a state that was not offered', async () => {
    const { agent, log } = await scripted();
    const running = await serve([agent]);
    const session = newSession();
    await running.client.runSync(request(`${store(null, 'one')}\n${store(null, 'two')}`, session), signal);
    assert.equal(await stateAt(running, session.id), 'two');
    await running.client.runSync(request(store('http://elsewhere.test/state', 'three'), session), signal);
    assert.equal(await stateAt(running, session.id), 'two');
    await running.client.runSync(request('say now', session), signal);
    assert.equal(offers(log)[2]?.conflict, true);
    assert.equal(offers(log).filter(({ conflict }) => conflict).length, 1);
  });

  it('is not replaced if another client stored one during the turn, which is reported to both', async () => {
    const { agent, log } = await scripted();
    const slow = agentOf('slow', async (_input, _out, context) => {
      const before = await context.state.read(signal);
      assert.ok(await context.state.store(Buffer.from('quick'), before?.url));
      assert.equal(await context.state.store(Buffer.from('late'), before?.url), undefined);
    });
    const running = await serve([agent, slow]);
    const session = newSession();
    await running.client.runSync(request(store(null, 'one'), session), signal);
    const run = await running.client.runSync({ ...request('x', session), agentName: 'slow' }, signal);
    assert.match(String(told(run)), /state that the agent wanted to store was not saved/);
    assert.equal(await stateAt(running, session.id), 'quick');
    await running.client.runSync(request('say now', session), signal);
    assert.equal(offers(log)[1]?.content, Buffer.from('quick').toString('base64'));
  });

  it("stays in the session if it can't be read, with the reason", async () => {
    const { agent, log } = await scripted();
    const running = await serve([agent]);
    const session = { id: mintId(), history: [], state: 'http://127.0.0.1:9/state' };
    await running.client.runSync({ agentName: 'scripted', input: [userMessage('say x')], session }, signal);
    assert.deepEqual(offers(log), [{ url: session.state, unavailable: 'unreachable' }]);
    assert.equal((await running.client.session(session.id, signal)).state, session.state);
  });

  it('is limited in size', async () => {
    const { agent } = await scripted();
    const running = await serve([agent]);
    const session = newSession();
    const run = await running.client.runSync(request(`${store(null, 'x'.repeat(5 << 20))}\nsay ok`, session), signal);
    assert.equal(said(run), 'ok');
    assert.equal((await running.client.session(session.id, signal)).state, undefined);
  });
});
