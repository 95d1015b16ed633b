// Tests how served agents end: cancelled, crashed, unused or no longer served.
import assert from 'node:assert/strict';
import { AgentServerError } from '../../../../src/distributed/client/agentServerError';
import type { Message } from '../../../../src/distributed/model/model';
import type { ServedAgent } from '../../../../src/distributed/server/servedAgent';
import { calledMethods, readAgentLog } from '../../../support/agents/definition';
import { sdk, sdkClient } from '../../../support/servers/sdkClient';
import { serve, textIn, userMessage } from '../../../support/servers/servedAgents';
import {
  cancelAtFirstWord,
  closeServed,
  got,
  newSession,
  request,
  said,
  scripted,
  sessions,
  untilRun,
} from './servedScripted';

const signal = new AbortController().signal;

describe('a served agent', function () {
  this.timeout(30_000);

  afterEach(closeServed);

  it('can be stopped', async () => {
    const { agent, log } = await scripted();
    const { client } = await serve([agent]);
    const session = newSession();
    const { id, types } = await cancelAtFirstWord(client, request('say Begun.\nwait', session));
    assert.equal(types.at(-1), 'run.cancelled');
    assert.equal(said(await client.run(id, signal)), 'Begun.');
    assert.ok(calledMethods(readAgentLog(log)).includes('session/cancel'));
    // The next run has the same agent and session.
    assert.equal(said(await client.runSync(request('say Again', session), signal)), 'Again');
    assert.equal(sessions(log), 1);
  });

  it('is ended if it ignores a cancelled run', async () => {
    const { agent, log } = await scripted({ onCancel: 'ignore' });
    const { client } = await serve([agent]);
    const session = newSession();
    await cancelAtFirstWord(client, request('say x\nwait', session));
    assert.equal(said(await client.runSync(request('say Anew', session), signal)), 'Anew');
    assert.equal(sessions(log), 2);
  });

  it('reports a crash, and is restarted by the next run', async () => {
    const { agent, log } = await scripted({ capabilities: { promptCapabilities: { embeddedContext: true } } });
    const { client } = await serve([agent]);
    const session = newSession();
    const run = await client.runSync(request('die 3', session), signal);
    assert.equal(run.status, 'failed');
    assert.match(run.error?.message ?? '', /scripted.*3/);
    assert.equal(textIn(run.output[0] as Message), 'These are my last words');
    const again = await client.runSync(request('say Back', session), signal);
    assert.equal(said(again), 'Back');
    const [, second = ''] = got(log);
    assert.match(second, /Transcript of what was said in this session without you/);
    assert.match(second, /These are my last words/);
  });

  it('reports a prompt that was refused during its own work, and works again', async () => {
    const { agent, log } = await scripted({ versions: [2] });
    const { client } = await serve([agent]);
    const session = newSession();
    const own = 'running\necho\nreceipt\nidle end_turn\nrunning\nawait-prompt\ntake\nrefuse -32603\nidle end_turn';
    assert.equal((await client.runSync(request(own, session), signal)).status, 'completed');
    const refused = await client.runSync(request('Not now', session), signal);
    assert.deepEqual([refused.status, refused.error?.message], ['failed', 'refused']);
    const again = await client.runSync(request('running\necho\nreceipt\nsay Back\nidle end_turn', session), signal);
    assert.deepEqual([again.status, said(again)], ['completed', 'Back']);
    assert.equal(sessions(log), 1);
  });

  it('is limited in number, without ending busy ones', async () => {
    const { agent, made } = await scripted({}, { maxOpen: 1 });
    const { client } = await serve([agent]);
    await client.runSync(request('say one'), signal);
    const asked = await client.runSync(request('permission'), signal);
    assert.equal(made.length, 2);
    assert.equal(made[0]?.conversation.connection.kind, 'idle');
    const refused = await client.runSync(request('say three'), signal);
    assert.match(refused.error?.message ?? '', /as many sessions as it may/);
    assert.equal((await client.resumeSync(asked.run_id, userMessage('1'), signal)).status, 'completed');
    assert.equal(agent.size, 1);
  });

  it('is ended after a while without runs', async () => {
    const { agent, made } = await scripted({}, { idleMs: 0 });
    const { client } = await serve([agent]);
    await client.runSync(request('say one'), signal);
    await made[0]?.until(({ connection }) => connection.kind === 'idle');
    assert.equal(agent.size, 0);
  });

  it('fails its run and is removed when the user stops serving it', async () => {
    const { agent } = await scripted();
    const agents: ServedAgent[] = [agent];
    const running = await serve([], { agents: () => agents });
    const { client } = running;
    const asked = await client.runSync(request('permission'), signal);
    agents.pop();
    await agent.closeAll();
    const ended = await untilRun(running, asked.run_id, 'failed');
    assert.equal(ended.error?.code, 'server_error');
    await assert.rejects(
      client.runSync(request('say x'), signal),
      (error: unknown) => error instanceof AgentServerError && error.status === 404,
    );
    await assert.rejects(sdkClient(running).agent('scripted'), (error: unknown) => {
      return error instanceof sdk.ACPError && error.code === 'not_found';
    });
  });
});
