// Configured agents behind our server of the Agent Communication Protocol: real agent processes, asked by the protocol's own client from npm and by ours.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Client } from 'acp-sdk';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import type { Conversation } from '../../../src/client/conversation';
import {
  ServedConversations,
  type ServedConversationsOptions,
  servedName,
} from '../../../src/client/servedConversations';
import { AgentServerError } from '../../../src/distributed/agentServerError';
import type { CommunicationClient } from '../../../src/distributed/communicationClient';
import { type Message, type MessagePart, type Run, textPart, trajectoryOf } from '../../../src/distributed/model';
import type { ServedAgent } from '../../../src/distributed/servedAgent';
import { calledMethods, readAgentLog, scriptedAgent } from '../../support/agents/definition';
import type { AgentScript } from '../../support/agents/script';
import { type TestConversation, testConversation } from '../../support/conversation';
import { removeScratch, scratchFolder } from '../../support/scratch';
import {
  agentOf,
  fetchPast,
  part,
  type RunningServer,
  serve,
  stopServers,
  textIn,
  userMessage,
} from '../../support/servedAgents';

// Its ESM entry does not load.
const sdk = createRequire(`${process.cwd()}/package.json`)('acp-sdk') as typeof import('acp-sdk');
const signal = new AbortController().signal;

interface Served {
  readonly agent: ServedConversations;
  /** All conversations that were made, the closed ones too. */
  readonly made: readonly TestConversation[];
  readonly cwd: string;
  readonly log: string;
}

const served: Served[] = [];

async function scripted(script: AgentScript = {}, options: Partial<ServedConversationsOptions> = {}): Promise<Served> {
  const cwd = await scratchFolder();
  const log = join(await scratchFolder(), 'agent.ndjson');
  const [agent] = parseAgents({ scripted: scriptedAgent(script, log) }).agents;
  const made: TestConversation[] = [];
  const create = (): Conversation => {
    const one = testConversation({ agent: agent as AgentDefinition, cwd });
    made.push(one);
    return one.conversation;
  };
  const name = options.name ?? 'scripted';
  const one = {
    agent: new ServedConversations({ name, description: 'The scripted agent.', create, ...options }),
    made,
    cwd,
    log,
  };
  served.push(one);
  return one;
}

function sdkClient({ baseUrl, token }: RunningServer): Client {
  return new sdk.Client({
    baseUrl,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(url, { ...init, headers });
    },
  });
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const said = ({ output }: Pick<Run, 'output'>): string => output.map(textIn).join('');
const answerOf = (text: string) => ({
  type: 'message' as const,
  message: sdk.Message.parse({ parts: [{ content: text }] }),
});
const request = (text: string, sessionId?: string) => ({
  agentName: 'scripted',
  input: [userMessage(text)],
  ...(sessionId !== undefined && { sessionId }),
});
const prompts = (log: string): number =>
  calledMethods(readAgentLog(log)).filter((method) => method === 'session/prompt').length;
const sessions = (log: string): number =>
  calledMethods(readAgentLog(log)).filter((method) => method === 'session/new').length;
/** What the agent got as its prompts, as text. */
const got = (log: string): readonly string[] =>
  readAgentLog(log).flatMap(({ dir, msg }) =>
    dir === 'in' && msg?.method === 'session/prompt'
      ? [JSON.stringify((msg.params as { prompt: unknown }).prompt)]
      : [],
  );

/** A session's state that tests wait for, asked of the server until it is so. */
async function untilRun(running: RunningServer, id: string, status: Run['status']): Promise<Run> {
  for (;;) {
    const run = await running.client.run(id, signal);
    if (run.status === status) return run;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function cancelAtFirstWord(
  client: CommunicationClient,
  asked: Parameters<CommunicationClient['runStream']>[0],
): Promise<{ id: string; types: readonly string[] }> {
  const types: string[] = [];
  let id = '';
  const stream = await client.runStream(asked, signal);
  assert.ok(stream.kind === 'stream');
  for await (const event of stream.events) {
    types.push(event.type);
    if (event.type === 'run.created') id = event.run.run_id;
    if (event.type === 'message.part') await client.cancel(id, signal);
  }
  return { id, types };
}

describe('an agent that is served', function () {
  this.timeout(30_000);

  afterEach(async () => {
    await stopServers();
    for (const { agent, made, log } of served.splice(0)) {
      await agent.closeAll();
      for (const one of made) await one.close();
      assert.deepEqual(
        readAgentLog(log).filter(({ ev }) => ev === 'violation'),
        [],
      );
    }
    await removeScratch();
  });

  it('is of no use to other clients unless they can ask it in all three modes', async () => {
    const { agent } = await scripted();
    const running = await serve([agent]);
    const client = sdkClient(running);
    assert.equal((await client.agent('scripted')).description, 'The scripted agent.');
    const run = await client.runSync('scripted', 'say Hello');
    assert.deepEqual([run.status, run.output.map(({ role }) => role)], ['completed', ['agent/scripted']]);
    assert.equal(run.output[0]?.parts[0]?.content, 'Hello');
    const events = await all(client.runStream('scripted', 'chunks 3'));
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'message.part' ? [event.part.content] : [])).join(''),
      'chunk-1 chunk-2 chunk-3 ',
    );
    assert.equal(events.at(-1)?.type, 'run.completed');
    const started = await client.runAsync('scripted', 'say Later');
    const done = await untilRun(running, started.run_id, 'completed');
    assert.equal(said(done), 'Later');
  });

  it('loses the agent’s thoughts, steps or pictures', async () => {
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
    ];
    const run = await client.runSync(request(lines.join('\n')), signal);
    assert.equal(run.status, 'completed');
    const parts = run.output.flatMap((message) => message.parts);
    assert.deepEqual(
      parts.map((one) => trajectoryOf(one) ?? one.name ?? one.content),
      [
        { message: 'First I look.' },
        'Looking. ',
        { message: 'Read it', toolName: 'Read it', toolInput: { path: 'a' }, toolOutput: { value: ['x'] } },
        'image-1.png',
        'image-2.png',
        'Done.',
        { message: 'Left open', toolName: 'Left open', toolInput: {}, toolOutput: { status: 'cancelled' } },
      ],
    );
    assert.deepEqual(
      [parts[3]?.content, parts[3]?.content_encoding, parts[3]?.content_type],
      ['aGk=', 'base64', 'image/png'],
    );
  });

  it('does without asking what its caller did not allow', async () => {
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
      assert.match(
        question?.content ?? '',
        /asks for permission: touch a-file\n> \{"command":"touch a-file"\}\n\n1\. Allow\n2\. /,
      );
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

  it('takes one word for two answers, or the words of the agent for its own', async () => {
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
    // The number of one is the id of the other.
    const run = await client.resumeSync(asked.run_id, userMessage('2'), signal);
    assert.match(said(run), /"outcome":"cancelled"/);
  });

  it('leaves a question open for ever that the agent has withdrawn', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    const run = await client.runAsync(request('withdraw\nsay Over.'), signal);
    const done = await untilRun({ client } as RunningServer, run.run_id, 'completed');
    assert.match(said(done), /withdrawn → .*Over\./s);
    await assert.rejects(client.resumeSync(run.run_id, userMessage('1'), signal), /does not wait for an answer/);
  });

  it('asks one question at a time, and forgets the second', async () => {
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

  it('opens forms and folders of this machine to whoever calls', async () => {
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

  it('cannot be stopped', async () => {
    const { agent, log } = await scripted();
    const { client } = await serve([agent]);
    const session = '7b1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0aa';
    const { id, types } = await cancelAtFirstWord(client, request('say Begun.\nwait', session));
    assert.equal(types.at(-1), 'run.cancelled');
    assert.equal(said(await client.run(id, signal)), 'Begun.');
    assert.ok(calledMethods(readAgentLog(log)).includes('session/cancel'));
    // The agent and its session are there for the next run.
    assert.equal(said(await client.runSync(request('say Again', session), signal)), 'Again');
    assert.equal(sessions(log), 1);
  });

  it('is stuck for good when it is stopped at the wrong moment of its start', async () => {
    const { agent } = await scripted();
    const { client } = await serve([agent]);
    const session = '7b1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0b0';
    for (const looks of [0, 1, 2, 4, 8, 16, 24, 32, 48]) {
      const run = await client.runAsync(request('wait', session), signal);
      for (let look = 0; look < looks; look++) await client.run(run.run_id, signal);
      await client.cancel(run.run_id, signal);
      await untilRun({ client } as RunningServer, run.run_id, 'cancelled');
    }
    assert.equal(said(await client.runSync(request('say Again', session), signal)), 'Again');
  });

  it('goes on with a question after its run was cancelled', async () => {
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

  it('keeps an agent that does not stop when it is told to', async () => {
    const { agent, log } = await scripted({ onCancel: 'ignore' });
    const { client } = await serve([agent]);
    const session = '7b1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0ab';
    await cancelAtFirstWord(client, request('say x\nwait', session));
    assert.equal(said(await client.runSync(request('say Anew', session), signal)), 'Anew');
    assert.equal(sessions(log), 2);
  });

  it('says nothing when its agent dies, or never works again', async () => {
    const { agent, log } = await scripted({ capabilities: { promptCapabilities: { embeddedContext: true } } });
    const { client } = await serve([agent]);
    const session = '7b1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0ac';
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

  it('waits for ever for an agent that cannot start, or that wants a sign-in', async () => {
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

  it('reports a turn as done that was refused, cut off or answered with an error', async () => {
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

  it('drops what is attached to the input', async () => {
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

  it('loses entries of a session, or splits it, when two runs come at once', async () => {
    const { agent, log } = await scripted();
    const { client } = await serve([agent]);
    const id = '7b1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0ad';
    const runs = await Promise.all(['say one', 'say two'].map((text) => client.runSync(request(text, id), signal)));
    assert.deepEqual(runs.map(said).sort(), ['one', 'two']);
    const { history } = await client.session(id, signal);
    const texts = (await fetchPast(history, signal)).map((entry) =>
      entry.kind === 'message' ? textIn(entry.message) : '',
    );
    assert.deepEqual([...texts].sort(), ['one', 'say one', 'say two', 'two']);
    assert.equal(sessions(log), 1);
    assert.deepEqual(
      got(log).filter((text) => text.includes('Transcript')),
      [],
      'the agent knows what it has said itself',
    );
  });

  it('does not know what was said elsewhere, or hears its own words again', async () => {
    const { agent, log } = await scripted();
    const other: ServedAgent = agentOf('other', async (_input, out) => out.part(textPart('I am the other')));
    const running = await serve([agent, other]);
    const { client } = running;
    const id = '7b1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0ae';
    await client.runSync({ ...request('who', id), agentName: 'other' }, signal);
    await client.runSync(request('say mine', id), signal);
    await client.runSync({ ...request('and who', id), agentName: 'other' }, signal);
    await client.runSync(request('say last', id), signal);
    await client.runSync(request('say quiet', id), signal);
    assert.equal(sessions(log), 1);
    const [first = '', second = '', third = ''] = got(log);
    assert.match(first, /\[user\]\\nwho\\n\\n\[agent\/other\]\\nI am the other/);
    assert.match(second, /\[user\]\\nand who\\n\\n\[agent\/other\]\\nI am the other/);
    assert.doesNotMatch(second, /mine/);
    assert.doesNotMatch(third, /Transcript/);
    // Another past under the same id is another session of the agent.
    const stranger = await running.store.put(
      'sessions/x/00000000-0c1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0af.json',
      Buffer.from(JSON.stringify(userMessage('a different past'))),
      'application/json',
      signal,
    );
    const url = await running.store.urlFor(stranger.key, { expiresIn: 60 });
    const history = [url, 'http://127.0.0.1:9/gone.json'];
    await client.runSync({ agentName: 'scripted', input: [userMessage('say anew')], session: { id, history } }, signal);
    assert.equal(sessions(log), 2);
    assert.match(got(log)[3] ?? '', /a different past.*\[message 2 unavailable: unreachable\]/s);
  });

  it('holds more agents than it may, or loses one that works', async () => {
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

  it('keeps an agent running that nobody asks any more', async () => {
    const { agent, made } = await scripted({}, { idleMs: 0 });
    const { client } = await serve([agent]);
    await client.runSync(request('say one'), signal);
    await made[0]?.until(({ connection }) => connection.kind === 'idle');
    assert.equal(agent.size, 0);
  });

  it('is there for strangers after the user has taken it back', async () => {
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

describe('a question of a served agent', () => {
  afterEach(async () => {
    await stopServers();
    await removeScratch();
  });

  it('keeps what follows from its caller when the agent takes it back', async () => {
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

describe('the name of a served agent', () => {
  it('is refused by the protocol, or given twice', () => {
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
