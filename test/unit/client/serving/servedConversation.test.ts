// Tests agent processes behind our Agent Communication Protocol server, with the protocol's npm
// client and with ours.

import assert from 'node:assert/strict';
import { servedName } from '../../../../src/client/serving/servedConversations';
import {
  type Message,
  type MessagePart,
  markdownPart,
  textPart,
  trajectoryOf,
} from '../../../../src/distributed/model/model';
import { readTexts, type ServedAgent, servedPast } from '../../../../src/distributed/server/servedAgent';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { scratchFolder } from '../../../support/scratch';
import { all, sdkClient } from '../../../support/servers/sdkClient';
import { agentOf, part, serve, userMessage } from '../../../support/servers/servedAgents';
import { closeResolvers, resolver } from '../../distributed/fetch/resolvers';
import { serve as farServer } from '../../distributed/loopback';
import { closeServed, got, newSession, prompts, request, said, scripted, sessions } from './servedScripted';

const signal = new AbortController().signal;

describe('a served agent', function () {
  this.timeout(30_000);

  afterEach(async () => {
    await closeServed();
    await closeResolvers();
  });

  it('sends Markdown as marked text/plain, streamed and as a whole', async () => {
    const { agent } = await scripted();
    const running = await serve([agent]);
    const events = await all(sdkClient(running).runStream('scripted', 'say **Hello** `you`'));
    const streamed = events.flatMap((event) => (event.type === 'message.part' ? [event.part] : []));
    const whole = events.flatMap((event) => (event.type === 'message.completed' ? event.message.parts : []));
    for (const parts of [streamed, whole]) {
      const plain = parts.filter(({ content_type: type }) => type === 'text/plain');
      assert.equal(plain.map(({ content }) => content).join(''), '**Hello** `you`');
    }
    const run = await running.client.runSync(request('say **Hello**'), signal);
    assert.deepEqual(
      run.output.flatMap(({ parts }) => parts),
      [markdownPart('**Hello**')],
    );
  });

  it('sends thoughts, steps and images', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    const tool = { toolCallId: 't1', title: 'Read it', kind: 'read', rawInput: { path: 'a' } };
    const lines = [
      'think First I ',
      'think look.',
      'say Looking. ',
      `update ${JSON.stringify({ sessionUpdate: 'tool_call', status: 'in_progress', ...tool })}`,
      `update ${JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', rawOutput: ['x'] })}`,
      `update ${JSON.stringify({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png', data: 'aGk=' } })}`,
      `update ${JSON.stringify({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png', data: 'aG8=' } })}`,
      'leave-open',
      'say Done.',
      'think At last.',
    ];
    const run = await client.runSync(request(lines.join('\n')), signal);
    assert.equal(run.status, 'completed');
    const parts = run.output.flatMap((message) => message.parts);
    sameData(
      parts.map((one) => trajectoryOf(one) ?? one.name ?? one.content),
      [
        { message: 'First I look.' },
        'Looking. ',
        { message: 'Read it', toolName: 'Read it', toolInput: { path: 'a' }, toolOutput: { value: ['x'] } },
        'image-1.png',
        'image-2.png',
        'Done.',
        { message: 'Left open', toolName: 'Left open', toolInput: {}, toolOutput: { status: 'cancelled' } },
        { message: 'At last.' },
      ],
    );
    assert.deepEqual(
      [parts[3]?.content, parts[3]?.content_encoding, parts[3]?.content_type],
      ['aGk=', 'base64', 'image/png'],
    );
  });

  it('reports a tool call that continues after its turn', async () => {
    const { agent } = await scripted({ versions: [2] });
    const { client } = await serve([agent]);
    const call = { sessionUpdate: 'tool_call_update', toolCallId: 'b', title: 'Build', status: 'in_progress' };
    const working = JSON.stringify({ state: 'running', background: [{ type: 'tool_call', toolCallId: 'b' }] });
    const steps = ['running', 'echo', 'receipt', `update ${JSON.stringify(call)}`, `state ${working}`, 'idle end_turn'];
    const run = await client.runSync(request(steps.join('\n')), signal);
    assert.deepEqual(
      run.output.flatMap(({ parts }) => parts.map((one) => trajectoryOf(one)?.toolOutput)),
      [{ status: 'in_progress' }],
    );
  });

  it('offers callers neither forms nor folders of this machine', async () => {
    const { agent, cwd } = await scripted();
    const { client } = await serve([agent]);
    const elsewhere = await scratchFolder();
    const run = await client.runSync(
      request(`elicit\nwrite ${elsewhere}/a.txt no\nwrite ${cwd}/b.txt yes\nread ${cwd}/b.txt`),
      signal,
    );
    assert.match(said(run), /elicited → \{"action":"decline"\}/);
    assert.match(said(run), /write → \{"code":-32003/);
    assert.match(said(run), /read → \{"content":"yes"\}/);
    const notes = run.output.flatMap(({ parts }) => parts).map((one) => trajectoryOf(one)?.message ?? '');
    assert.ok(
      notes.some((note) => /declined: Which database/.test(note)),
      notes.join(),
    );
  });

  it('fails the run if it can’t start or needs a sign-in', async () => {
    const dead = await scripted({ exitAtStart: 1, stderr: ['no model'] }, { name: 'dead' });
    const locked = await scripted({ authMethods: [{ id: 'login', name: 'Log in' }] }, { name: 'locked' });
    const { client } = await serve([dead.agent, locked.agent]);
    const failed = await client.runSync({ ...request('x'), agentName: 'dead' }, signal);
    assert.equal(failed.status, 'failed');
    assert.match(failed.error?.message ?? '', /scripted/);
    const refused = await client.runSync({ ...request('x'), agentName: 'locked' }, signal);
    assert.match(refused.error?.message ?? '', /needs a sign-in on the machine/);
    assert.deepEqual([dead.agent.size, locked.agent.size], [0, 0]);
  });

  it('reports a refused, truncated or failed turn', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    for (const [text, expected] of [
      ['stop refusal', /refuses/],
      ['stop max_tokens', /limit of its tokens/],
      ['stop cancelled', /by itself/],
      ['error -32603 out of order', /out of order/],
    ] as const) {
      const run = await client.runSync(request(`say part\n${text}`), signal);
      assert.equal(run.status, 'failed', text);
      assert.match(run.error?.message ?? '', expected);
      assert.equal(said(run), 'part', text);
    }
  });

  it('refuses an input without content, and says why', async () => {
    const { agent, log } = await scripted();
    const { client } = await serve([agent]);
    const run = await client.runSync(
      { agentName: 'scripted', input: [{ role: 'user', parts: [textPart(' ')] }] },
      signal,
    );
    assert.deepEqual([run.status, run.error?.code], ['failed', 'invalid_input']);
    assert.equal(prompts(log), 0);
  });

  it('receives the attachments of the input', async () => {
    const { agent, log } = await scripted({ capabilities: { promptCapabilities: { image: true } } });
    const { client } = await serve([agent]);
    const parts: MessagePart[] = [
      textPart('say ok'),
      part({ content_type: 'image/png', content: 'aGk=', content_encoding: 'base64' }),
      part({ name: 'notes.txt', content: 'my notes' }),
      part({ name: 'far', content_url: 'https://example.com/far.bin', content_type: 'application/octet-stream' }),
    ];
    await client.runSync({ agentName: 'scripted', input: [{ role: 'user', parts }] }, signal);
    assert.deepEqual(JSON.parse(got(log)[0] ?? ''), [
      { type: 'text', text: 'say ok' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'text', text: 'notes.txt:\nmy notes' },
      { type: 'resource_link', uri: 'https://example.com/far.bin', name: 'far', mimeType: 'application/octet-stream' },
    ]);
  });

  it("receives linked texts of its input, or why they can't be read", async () => {
    const far = await farServer((request, response) => {
      if (request.url === '/plan') response.end('shelves first');
      else if (request.url === '/long') response.end('x'.repeat(70_000));
      else response.writeHead(404).end();
    });
    const { agent, log } = await scripted();
    const of = resolver();
    const { client } = await serve([agent], { withTexts: (messages, until) => readTexts(of, messages, until) });
    const url = (path: string): MessagePart => part({ content_url: `${far.origin}${path}` });
    const input: Message[] = [
      userMessage('before'),
      { role: 'agent/other', parts: [url('/plan')] },
      { role: 'user', parts: [textPart('say ok\n# '), url('/plan'), textPart(' # '), url('/gone'), url('/long')] },
    ];
    await client.runSync({ agentName: 'scripted', input }, signal);
    const [text, past, ...links] = JSON.parse(got(log)[0] ?? '') as { type: string; text: string; uri?: string }[];
    assert.match(
      text?.text ?? '',
      /^say ok\n# shelves first # \[unavailable: 127\S+ no longer has it\.\]\[unavailable: .* too much data\.\]$/,
    );
    assert.match(past?.text ?? '', /\[agent\/other\]\nshelves first/);
    assert.deepEqual(pluck(links, 'uri'), [`${far.origin}/gone`, `${far.origin}/long`]);
  });

  it('is not sent its own messages again after their texts were read', async () => {
    const far = await farServer((request, response) =>
      response.end(request.url === '/plan' ? 'shelves first' : JSON.stringify(userMessage('from another'))),
    );
    const { agent, log } = await scripted();
    const of = resolver();
    const session = newSession();
    const running = await serve([agent], {
      withTexts: (messages, until) => readTexts(of, messages, until),
      history: (known, until) => servedPast(of, known, until),
    });
    const { client } = running;
    const parts = [textPart('say ok\n# '), part({ content_url: `${far.origin}/plan` })];
    await client.runSync({ ...request('', session), input: [{ role: 'user', parts }] }, signal);
    session.isBegun = true;
    const known = await client.session(session.id, signal);
    const history = [...known.history, `${far.origin}/other`];
    await client.runSync({ ...request('say two'), session: { id: session.id, history } }, signal);
    const second = got(log)[1] ?? '';
    assert.match(second, /from another/);
    assert.doesNotMatch(second, /shelves first/);
  });

  it('receives messages from elsewhere, but not its own again', async () => {
    const { agent, log } = await scripted();
    const other: ServedAgent = agentOf('other', async (_input, out) => out.part(textPart('I am the other')));
    const running = await serve([agent, other]);
    const { client } = running;
    const session = newSession();
    await client.runSync({ ...request('who', session), agentName: 'other' }, signal);
    await client.runSync(request('say mine', session), signal);
    await client.runSync({ ...request('and who', session), agentName: 'other' }, signal);
    await client.runSync(request('say last', session), signal);
    await client.runSync(request('say quiet', session), signal);
    assert.equal(sessions(log), 1);
    const [first = '', second = '', third = ''] = got(log);
    assert.match(first, /\[user\]\\nwho\\n\\n\[agent\/other\]\\nI am the other/);
    assert.match(second, /\[user\]\\nand who\\n\\n\[agent\/other\]\\nI am the other/);
    assert.doesNotMatch(second, /mine/);
    assert.doesNotMatch(third, /Transcript/);
    const stranger = await running.store.put(
      'sessions/x/00000000-0c1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0af.json',
      Buffer.from(JSON.stringify(userMessage('a different past'))),
      'application/json',
      signal,
    );
    const url = await running.store.urlFor(stranger.key, { expiresIn: 60 });
    const history = [url, 'http://127.0.0.1:9/gone.json'];
    await client.runSync(
      { agentName: 'scripted', input: [userMessage('say anew')], session: { id: session.id, history } },
      signal,
    );
    assert.equal(sessions(log), 2);
    assert.match(got(log)[3] ?? '', /a different past.*\[message 2 unavailable: unreachable\]/s);
  });

  it('receives unrecorded messages as history and the last message of the input as the prompt', async () => {
    const { agent, log } = await scripted();
    const { client } = await serve([agent]);
    const session = { id: newSession().id, history: [] };
    const input = [
      userMessage('say stopped'),
      { ...userMessage('I begin'), role: 'agent/other' },
      userMessage('say done'),
    ];
    const run = await client.runSync({ agentName: 'scripted', input, session }, signal);
    assert.equal(said(run), 'done');
    assert.match(got(log)[0] ?? '', /Transcript.*\[user\]\\nsay stopped\\n\\n\[agent\/other\]\\nI begin/s);
    const { history } = await client.session(session.id, signal);
    assert.equal(history.length, 4);
    const chained = [{ ...userMessage('say chained'), role: 'agent/other' }];
    await client.runSync({ agentName: 'scripted', input: chained, sessionId: session.id }, signal);
    assert.match(got(log)[1] ?? '', /\[agent\/other\]\\nsay chained/);
  });
});

describe('the name of a served agent', () => {
  it('fits the protocol and is unique', () => {
    const taken = new Set<string>();
    const named = ['Gemini CLI', 'gemini.cli', '--x__', '日本', 'a'.repeat(90)].map((id) => {
      const name = servedName(id, taken);
      taken.add(name);
      return name;
    });
    assert.deepEqual(named, ['gemini-cli', 'gemini-cli-2', 'x', 'agent', 'a'.repeat(60)]);
    assert.ok(named.every((name) => /^[a-z0-9]([-a-z0-9_]{0,61}[a-z0-9])?$/.test(name)));
  });
});
