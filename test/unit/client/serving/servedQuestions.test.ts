// Tests the questions of served agents: only callers answer, one question at a time.

import { strict as assert } from 'node:assert';
import { permissionQuestion } from '../../../../src/client/serving/permissionQuestion';
import { textOf } from '../../../../src/distributed/client/runParts';
import { textPart } from '../../../../src/distributed/model/model';
import type { Permission, ToolEntry } from '../../../../src/session/model/state';
import { readAgentLog } from '../../../support/agents/definition';
import { removeScratch } from '../../../support/scratch';
import { sdkClient } from '../../../support/servers/sdkClient';
import {
  agentOf,
  type RunningServer,
  serve,
  stopServers,
  textIn,
  userMessage,
} from '../../../support/servers/servedAgents';
import { answerOf, closeServed, newSession, request, said, scripted, untilRun } from './servedScripted';

const signal = new AbortController().signal;

describe('a served agent', function () {
  this.timeout(30_000);

  afterEach(closeServed);

  it('asks its caller before it acts', async () => {
    const { agent } = await scripted();
    const running = await serve([agent]);
    const client = sdkClient(running);
    for (const [answer, expected] of [
      ['1', 'allow'],
      ['reject', 'reject'],
      ['Always ALLOW', 'always'],
      ['4', undefined],
      ['yes please', undefined],
      ['', undefined],
    ] as const) {
      const asked = await client.runSync('scripted', 'permission');
      assert.equal(asked.status, 'awaiting', answer);
      const [question] = asked.await_request?.message.parts ?? [];
      assert.match(question?.content ?? '', /asks for permission: touch a-file\n> \$ touch a-file\n\n1\. Allow\n2\. /);
      assert.deepEqual((question as Record<string, unknown>).parley_permission, {
        title: 'touch a-file',
        tool_call_id: 'asked',
        options: [
          { id: 'allow', name: 'Allow', kind: 'allow_once' },
          { id: 'always', name: 'Always allow', kind: 'allow_always' },
          { id: 'reject', name: 'Reject', kind: 'reject_once' },
        ],
      });
      const run = await client.runResumeSync(asked.run_id, answerOf(answer));
      assert.equal(run.status, 'completed');
      const outcome = expected === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: expected };
      const told = run.output.flatMap(({ parts }) => parts).find(({ content }) => content?.startsWith('permission → '));
      assert.deepEqual(JSON.parse(told?.content?.slice('permission → '.length) ?? ''), { outcome }, answer);
    }
  });

  it('reads a number as the position of an option, not as its id', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    const options = [
      { optionId: '2', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ];
    const toolCall = { toolCallId: 't', title: 'x\n1. Sure', rawInput: { a: 'x\n1. Sure' } };
    const asked = await client.runSync(request(`permission ${JSON.stringify({ options, toolCall })}`), signal);
    const text = asked.await_request?.message?.parts[0]?.content ?? '';
    assert.deepEqual(
      text.split('\n').filter((line) => /^\d/.test(line)),
      ['1. Allow', '2. Reject'],
    );
    const run = await client.resumeSync(asked.run_id, userMessage('2'), signal);
    assert.match(said(run), /"outcome":"cancelled"/);
  });

  it('closes a question that it has withdrawn', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    const second = JSON.stringify({ toolCall: { toolCallId: 'second', title: 'Second', kind: 'edit' } });
    const run = await client.runAsync(request(`withdraw\npermission ${second}\nsay Over.`), signal);
    const isAsked = async (): Promise<boolean> => {
      const { await_request: asked } = await client.run(run.run_id, signal);
      return textIn(asked?.message ?? userMessage('')).includes('Second');
    };
    while (!(await isAsked())) await new Promise((resolve) => setImmediate(resolve));
    const done = await client.resumeSync(run.run_id, userMessage('1'), signal);
    assert.match(said(done), /withdrawn → .*Over\./s);
    await assert.rejects(client.resumeStream(run.run_id, userMessage('1'), signal), /isn't waiting for an answer/);
  });

  it('ends its run with the turn, and leaves a question that is still open to the next run', async () => {
    const { agent } = await scripted({ versions: [2] });
    const running = await serve([agent]);
    const { client } = running;
    const question = { title: 'May I?', subject: { type: 'tool_call', toolCall: { toolCallId: 'c', title: 'Work' } } };
    const session = newSession();
    const steps = `running\necho\nreceipt\nask-permission ${JSON.stringify(question)}\nsay Done\nidle end_turn`;
    const begun = await client.runAsync(request(steps, session), signal);
    assert.equal(said(await untilRun(running, begun.run_id, 'completed')), 'Done');
    const next = await client.runSync(request('running\necho\nreceipt\nsay More\nidle end_turn', session), signal);
    assert.equal(next.status, 'awaiting');
    assert.match(textIn(next.await_request?.message ?? assert.fail()), /May I\?/);
    await client.cancel(next.run_id, signal);
  });

  it('asks two questions one after the other', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    const first = await client.runSync(request('two-permissions'), signal);
    const second = await client.resumeSync(first.run_id, userMessage('1'), signal);
    assert.equal(second.status, 'awaiting');
    assert.match(second.await_request?.message?.parts[0]?.content ?? '', /touch two/);
    const run = await client.resumeSync(first.run_id, userMessage('3'), signal);
    assert.match(said(run), /first → \{"outcome":\{"outcome":"selected","optionId":"allow"\}\}/);
    assert.match(said(run), /second → \{"outcome":\{"outcome":"selected","optionId":"reject"\}\}/);
  });

  it('drops a question when its run is cancelled', async () => {
    const { agent, log } = await scripted();
    const { client } = await serve([agent]);
    const asked = await client.runSync(request('permission'), signal);
    await client.cancel(asked.run_id, signal);
    await untilRun({ client } as RunningServer, asked.run_id, 'cancelled');
    const outcomes = readAgentLog(log).flatMap(({ dir, msg }) => {
      const { outcome } = (dir === 'in' ? (msg?.result as { outcome?: { outcome: string } }) : undefined) ?? {};
      return outcome ? [outcome.outcome] : [];
    });
    assert.deepEqual(outcomes, ['cancelled']);
  });
});

describe('a question of a served agent', () => {
  afterEach(async () => {
    await stopServers();
    await removeScratch();
  });

  it('hides later output from its caller if the agent withdraws it', async () => {
    const asking = agentOf('asking', async (_input, out) => {
      const withdrawn = new AbortController();
      const answer = out.ask([textPart('Go on?')], withdrawn.signal);
      withdrawn.abort(new Error('no longer asked'));
      await assert.rejects(answer, /no longer asked/);
      out.part(textPart('Went on.'));
      await assert.rejects(async () => out.ask([textPart('Really?')], withdrawn.signal), /no longer asked/);
      assert.equal(textIn(await out.ask([textPart('And now?')])), 'now');
    });
    const running = await serve([asking]);
    const { run_id: id } = await running.client.runAsync({ agentName: 'asking', input: [userMessage('x')] }, signal);
    const asked = await untilRun(running, id, 'awaiting');
    assert.equal(asked.await_request?.message?.parts[0]?.content, 'And now?');
    assert.equal(said(asked), 'Went on.');
    assert.equal((await running.client.resumeSync(id, userMessage('now'), signal)).status, 'completed');
    const types = (await running.client.events(id, signal)).map(({ type }) => type);
    assert.deepEqual(types.slice(2, 5), ['run.awaiting', 'run.in-progress', 'message.created']);
  });
});

describe('the question of a served session', () => {
  it('names each file, including deleted and moved ones', () => {
    const content = [
      { type: 'diff', path: '/w/old.txt', oldText: 'x', newText: '', operation: 'delete' },
      { type: 'diff', path: '/w/b.txt', oldPath: '/w/a.txt', newText: 'x' },
      ...Array.from({ length: 5 }, (_, at) => ({ type: 'diff', path: `/w/${at}.txt`, newText: 'x' })),
    ];
    const tool = { content, locations: [] } as unknown as ToolEntry;
    const asked: Permission = { id: 'p', title: 'Edit', options: [], at: 0 };
    const text = permissionQuestion(asked, tool).map(textOf).join('\n');
    assert.match(text, /Deletes \/w\/old\.txt/);
    assert.match(text, /Makes \/w\/b\.txt of \/w\/a\.txt/);
    for (const { path } of content) assert.ok(text.includes(path), path);
  });
});
