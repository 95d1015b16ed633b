// Runs of our server end once, are recorded with their output, and use bounded memory.
import assert from 'node:assert/strict';
import { MAX_MESSAGE_BYTES, markdownPart, readMessage, textPart } from '../../../../src/distributed/model/model';
import {
  agentOf,
  awaiting,
  echo,
  endless,
  type RunningServer,
  serve,
  userMessage,
} from '../../../support/servers/servedAgents';
import { eachServer } from '../model/serverUnderTest';

const signal = new AbortController().signal;

describe('the agent server', () => {
  let running: RunningServer;
  eachServer((server) => {
    running = server;
  });

  it('finishes and records a run whose client has disconnected', async () => {
    const gate: { open?: () => void } = {};
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    const patient = agentOf('patient', async (input, out) => {
      await opened;
      out.message(input[0]?.parts ?? []);
    });
    const server = await serve([patient]);
    const leave = new AbortController();
    const stream = await server.client.runStream({ agentName: 'patient', input: [userMessage('x')] }, leave.signal);
    assert.ok(stream.kind === 'stream' && stream.runId !== undefined);
    leave.abort();
    gate.open?.();
    for (;;) {
      const { status, session_id: sessionId = '' } = await server.client.run(stream.runId, signal);
      if (status !== 'completed') continue;
      assert.equal((await server.client.session(sessionId, signal)).history.length, 2);
      break;
    }
  });

  it('keeps the output of a cancelled or failed turn in the run and the session', async () => {
    const { client } = running;
    const started = await client.runStream({ agentName: 'endless', input: [userMessage('x')] }, signal);
    assert.ok(started.kind === 'stream' && started.runId !== undefined);
    for await (const event of started.events)
      if (event.type === 'message.part') await client.cancel(started.runId, signal);
    const run = await client.run(started.runId, signal);
    assert.equal(run.status, 'cancelled');
    assert.deepEqual(
      run.output.map((message) => [message.parts[0]?.content, message.completed_at]),
      [['a ', undefined]],
    );
    assert.equal((await client.session(run.session_id ?? '', signal)).history.length, 2);
    const failed = await client.runSync({ agentName: 'failing', input: [userMessage('x')] }, signal);
    assert.deepEqual([failed.status, failed.error?.code], ['failed', 'invalid_input']);
    assert.equal((await client.session(failed.session_id ?? '', signal)).history.length, 2);
  });

  it('records the output of a run when the editor closes', async () => {
    const { client, server, store } = running;
    const { run_id: runId } = await client.runAsync({ agentName: 'endless', input: [userMessage('x')] }, signal);
    while ((await client.run(runId, signal)).output.length === 0);
    await server.stop();
    assert.equal((await store.list('sessions/', signal)).length, 2);
    assert.equal(server.baseUrl, undefined);
  });

  it('stops a run that ignores its cancellation, and the one queued after it', async () => {
    const deaf = agentOf('deaf', () => new Promise(() => {}));
    const { client } = await serve([deaf], { limits: { graceMs: 1 } });
    const first = await client.runAsync({ agentName: 'deaf', input: [] }, signal);
    const sessionId = first.session_id ?? '';
    const second = await client.runStream({ agentName: 'deaf', input: [], sessionId }, signal);
    assert.ok(second.kind === 'stream' && second.runId !== undefined);
    await client.cancel(second.runId, signal);
    await client.cancel(first.run_id, signal);
    const types: string[] = [];
    for await (const event of second.events) types.push(event.type);
    assert.deepEqual(types, ['run.created', 'run.cancelled']);
    assert.equal((await client.run(first.run_id, signal)).status, 'cancelled');
  });

  it('bounds the number, age and memory of runs', async () => {
    let now = Date.now();
    const server = await serve([echo, endless, awaiting], {
      now: () => now,
      limits: { active: 2, kept: 3, awaitMs: 1000 },
    });
    const { client } = server;
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push((await client.runSync({ agentName: 'echo', input: [] }, signal)).run_id);
    await assert.rejects(client.run(ids[0] ?? '', signal), { code: 'agent-server-not-found' });
    await client.run(ids[4] ?? '', signal);
    const endlessRun = await client.runAsync({ agentName: 'endless', input: [] }, signal);
    const question = await client.runSync({ agentName: 'awaiting', input: [] }, signal);
    await assert.rejects(client.runSync({ agentName: 'echo', input: [] }, signal), {
      code: 'agent-server-busy',
      hint: 'Try again in 5 seconds.',
    });
    await client.cancel(endlessRun.run_id, signal);
    const sessionId = question.session_id ?? '';
    await assert.rejects(client.runSync({ agentName: 'echo', input: [], sessionId }, signal), {
      code: 'agent-server-conflict',
    });
    now += 2000;
    assert.notEqual((await client.run(question.run_id, signal)).status, 'awaiting');
    now += 2 * 60 * 60_000;
    await assert.rejects(client.run(ids[4] ?? '', signal), { code: 'agent-server-not-found' });
  });

  it('fails a run with endless output', async () => {
    const flood = agentOf('flood', async (_input, out) => {
      const content = 'x'.repeat(1024 * 1024);
      for (;;) out.part({ content_type: 'text/plain', content_encoding: 'plain', content });
    });
    const { client } = await serve([flood]);
    const { status, error, output } = await client.runSync({ agentName: 'flood', input: [] }, signal);
    assert.equal(status, 'failed');
    assert.match(error?.message ?? '', /more than a run may hold/);
    // Each message is small enough to be read back.
    assert.ok(output.length > 3);
    for (const message of output) assert.ok(JSON.stringify(message).length <= MAX_MESSAGE_BYTES);
  });

  it('hides internal errors from clients', async () => {
    const broken = agentOf('broken', async () => {
      throw new Error('secret path /home/someone');
    });
    const { client } = await serve([broken]);
    const run = await client.runSync({ agentName: 'broken', input: [] }, signal);
    assert.deepEqual([run.error?.code, run.error?.message], ['server_error', 'An unexpected error occurred']);
  });

  it('merges only texts of one type, and keeps unknown fields', async () => {
    const mixed = agentOf('mixed', async (_input, out) => {
      for (let at = 0; at < 300; at++) out.part(textPart('a'));
      for (let at = 0; at < 300; at++) out.part(markdownPart('b'));
      out.part({ ...textPart('c'), theirs: { x: 1 } });
      out.part({ ...textPart('d'), theirs: { x: 1 } });
    });
    const { client } = await serve([mixed]);
    const run = await client.runSync({ agentName: 'mixed', input: [] }, signal);
    assert.deepEqual(run.output[0]?.parts, [
      textPart('a'.repeat(300)),
      markdownPart('b'.repeat(300)),
      { ...textPart('c'), theirs: { x: 1 } },
      { ...textPart('d'), theirs: { x: 1 } },
    ]);
  });

  it('records messages of others with unknown fields', async () => {
    const { client } = running;
    const input = {
      role: 'user',
      parts: [{ ...textPart('hello'), theirs: { deep: [1] } }],
      their_trace: 'abc',
    };
    const { session_id: sessionId = '' } = await client.runSync({ agentName: 'echo', input: [input] }, signal);
    const { history } = await client.session(sessionId, signal);
    const kept = readMessage(await (await fetch(history[0] ?? '')).json());
    assert.deepEqual(kept, input);
    const answer = readMessage(await (await fetch(history[1] ?? '')).json());
    assert.deepEqual(answer.parts, input.parts);
  });
});
