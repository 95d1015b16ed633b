// The demo agent as a separate process: what new users see first must never break.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { misfit, misfitCall } from '../../agents/protocolSchema';
import { type Answer, choose, diskAnswers, RawClient } from '../../agents/rawClient';

const program = join(process.cwd(), 'out/support/demo/agent.js');
const everything = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  session: { configOptions: { boolean: {} } },
  elicitation: { form: {} },
};

const PROPOSALS = ['ready', 'late', 'steer', 'background', 'forget', 'twoclients'];

describe('demo agent', () => {
  let cwd: string;
  let client: RawClient;
  let sessionId: string;

  async function start(answers: Record<string, Answer> = {}, clientCapabilities: object = everything): Promise<void> {
    client = new RawClient({ command: process.execPath, args: [program], env: {} }, cwd, answers);
    await client.request('initialize', { protocolVersion: 1, clientCapabilities });
    ({ sessionId } = await client.request('session/new', { cwd, mcpServers: [] }));
    client.notify('session/ready', { sessionId });
    await hurry();
  }

  const hurry = () => client.request('session/set_config_option', { sessionId, configId: 'pace', value: 'instant' });

  function prompt(text: string) {
    return client.send('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  async function play(text: string): Promise<string> {
    const { error, result } = await prompt(text).answer;
    assert.equal(error, undefined);
    return result.stopReason;
  }

  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'parley demo '));
  });

  afterEach(async () => {
    await client?.close();
    await rm(cwd, { recursive: true, force: true });
  });

  it('advertises only the capabilities it has: ready, status and turn_complete, but not load', async () => {
    await start();
    const { agentCapabilities, protocolVersion } = client.received[0]?.result ?? {};
    assert.equal(protocolVersion, 1);
    assert.equal(agentCapabilities.loadSession, false);
    assert.deepEqual(agentCapabilities.session, { ready: true });
    assert.deepEqual(agentCapabilities.sessionCapabilities, {
      ...{ close: {}, resume: {}, status: {}, turnComplete: {} },
      ...{ fork: {}, delete: {}, options: {}, systemPrompt: {} },
    });
    const unknown = await client.send('session/load', { sessionId, cwd, mcpServers: [] }).answer;
    assert.equal(unknown.error.code, -32601);
  });

  it('lists its options before a session exists, and starts one with the requested values', async () => {
    await start();
    const valuesOf = ({ configOptions }: { configOptions: { id: string; currentValue: unknown }[] }) =>
      Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue]));
    const { pace } = valuesOf(await client.request('session/options', { cwd }));
    assert.equal(pace, 'natural');
    const configOptions = [
      { configId: 'pace', value: 'brisk' },
      { configId: 'mode', value: 'gone' },
    ];
    const opened = valuesOf(await client.request('session/new', { cwd, mcpServers: [], configOptions }));
    assert.deepEqual([opened.pace, opened.mode], ['brisk', 'ask']);
  });

  it('sends nothing about a session before session/ready, then its commands', async () => {
    client = new RawClient({ command: process.execPath, args: [program], env: {} }, cwd);
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    ({ sessionId } = await client.request('session/new', { cwd, mcpServers: [] }));
    assert.deepEqual(await client.request('session/status', { sessionId }), { status: 'live' });
    assert.equal(client.updates().length, 0);
    client.notify('session/ready', { sessionId });
    const { availableCommands } = await client.untilUpdate('available_commands_update');
    assert.deepEqual(
      availableCommands.map((one: { name: string }) => one.name),
      [
        'stream',
        'thoughts',
        'plan',
        'edit',
        'form',
        'terminal',
        'long',
        'slow',
        'limits',
        'compact',
        'count',
        ...PROPOSALS,
        'error',
        'crash',
        'help',
      ],
    );
    assert.deepEqual(await client.request('session/status', { sessionId: 'other' }), { status: 'not_found' });
  });

  it('suggests a message only to clients that show suggestions', async () => {
    const session = { promptSuggestions: {} };
    for (const can of [{ ...everything, session }, everything]) {
      await start({}, can);
      await play('/limits');
      const names = client.updates().map(({ sessionUpdate }) => sessionUpdate);
      assert.equal(names.includes('prompt_suggestions_update'), can.session === session);
      await client.close();
    }
  });

  it('compacts the conversation, and notifies clients that support it', async () => {
    for (const can of [{ ...everything, session: { compaction: {} } }, everything]) {
      await start({}, can);
      await play('/compact');
      const updates = client.updates();
      const states = updates.filter(({ sessionUpdate }) => sessionUpdate === 'compaction_update');
      assert.deepEqual(
        states.map(({ status }) => status),
        can === everything ? [] : ['in_progress', 'completed'],
      );
      assert.ok(updates.some(({ sessionUpdate, used }) => sessionUpdate === 'usage_update' && used === 1200));
      await client.close();
    }
  });

  it('explains that it is a script without a model, whatever the prompt', async () => {
    await start();
    assert.equal(await play('Refactor my code please'), 'end_turn');
    assert.match(client.text(), /script that ships with Parley, not a model/);
    assert.match(client.text(), /`\/edit`/);
    assert.equal((await client.untilUpdate('session_info_update')).title, 'Demo: Refactor my code please');
    assert.ok((await client.untilUpdate('usage_update')).used > 0);
  });

  it('ends each turn with turn_complete, naming the prompt by its id as text', async () => {
    await start();
    const { id, answer } = prompt('/thoughts');
    await answer;
    const last = client.received.at(-2);
    assert.deepEqual(last?.params.update, {
      sessionUpdate: 'turn_complete',
      promptRequestId: String(id),
      stopReason: 'end_turn',
    });
    assert.ok(client.updates('agent_thought_chunk').length > 10);
  });

  it('streams several kilobytes of Markdown with a table, lists and code', async () => {
    await start();
    await play('/stream');
    const text = client.text();
    assert.ok(text.length > 2500);
    for (const part of [/^\| :---/m, /^1\. /m, /^```ts$/m, /^> /m, /- \[x\]/]) assert.match(text, part);
    assert.ok(client.updates('agent_message_chunk').length > 200);
  });

  it('shows the diff before asking, and writes through the client only after approval', async () => {
    const order: string[] = [];
    await start({
      ...diskAnswers,
      'session/request_permission': (params, id) => {
        order.push(`permission ${params.toolCall.content[0].type}`);
        return choose('allow')(params, id);
      },
      'fs/write_text_file': (params, id) => {
        order.push('write');
        return diskAnswers['fs/write_text_file']?.(params, id);
      },
    });
    await play('/edit first');
    await play('/edit second');
    assert.deepEqual(order, ['permission diff', 'write', 'permission diff', 'write']);
    assert.match(await readFile(join(cwd, 'parley-demo.md'), 'utf8'), /- first\n- second\n$/);
    assert.equal(client.updates('tool_call_update').at(-1).status, 'completed');
    assert.equal(client.updates('tool_call').at(-1).locations[0].path, join(cwd, 'parley-demo.md'));
  });

  for (const outcome of [{ outcome: 'selected', optionId: 'no' }, { outcome: 'cancelled' }])
    it(`leaves the file unchanged if the response is ${JSON.stringify(outcome)}`, async () => {
      await start({ ...diskAnswers, 'session/request_permission': () => ({ outcome }) });
      assert.equal(await play('/edit'), 'end_turn');
      await assert.rejects(readFile(join(cwd, 'parley-demo.md')));
      assert.equal(client.updates('tool_call_update').at(-1).status, 'failed');
    });

  it('stops asking after "always", and reports that mode', async () => {
    let asked = 0;
    await start({
      ...diskAnswers,
      'session/request_permission': () => {
        asked++;
        return { outcome: { outcome: 'selected', optionId: 'always' } };
      },
    });
    await play('/edit');
    await play('/edit');
    assert.equal(asked, 1);
    assert.equal((await client.untilUpdate('current_mode_update')).currentModeId, 'auto');
  });

  it('asks with a form, and repeats the answer', async () => {
    await start({
      'elicitation/create': ({ requestedSchema }) => {
        assert.deepEqual(requestedSchema.required, ['name', 'kind']);
        return { action: 'accept', content: { name: 'orders', kind: 'service', tests: true } };
      },
    });
    await play('/form');
    assert.match(client.text(), /A service called `orders`, with tests/);
  });

  it('resumes a session of an earlier process', async () => {
    await start();
    const { modes } = await client.request('session/resume', { sessionId: 'demo-of-yesterday', cwd, mcpServers: [] });
    assert.equal(typeof modes.currentModeId, 'string');
    sessionId = 'demo-of-yesterday';
    await hurry();
    assert.equal(await play('/plan'), 'end_turn');
  });

  it('explains what is missing if the client has no files, terminals and forms', async () => {
    await start({}, {});
    await play('/form');
    await play('/edit');
    await play('/terminal');
    assert.match(client.text(), /did not offer me its file system/);
    assert.match(client.text(), /did not offer me terminals/);
    assert.match(client.text(), /did not offer me forms/);
    assert.equal(
      client.received[1]?.result.configOptions.some((one: { type: string }) => one.type === 'boolean'),
      false,
    );
  });

  it('runs a command in a terminal of the client and releases it', async () => {
    const released: string[] = [];
    await start({
      'session/request_permission': choose('allow'),
      'terminal/create': ({ command, args }) => {
        assert.match(spawnSync(command, args, { encoding: 'utf8' }).stdout, /done/);
        return { terminalId: 'term-1' };
      },
      'terminal/wait_for_exit': () => ({ exitCode: 0 }),
      'terminal/output': () => ({ output: 'done', truncated: false }),
      'terminal/release': ({ terminalId }) => {
        released.push(terminalId);
        return {};
      },
    });
    await play('/terminal');
    const [first] = client.updates('tool_call_update');
    const last = client.updates('tool_call_update').at(-1);
    assert.deepEqual([last.status, last.rawOutput], ['completed', { exitCode: 0, output: 'done' }]);
    assert.deepEqual([released, first.content], [['term-1'], [{ type: 'terminal', terminalId: 'term-1' }]]);
  });

  it('stops a slow turn on session/cancel', async () => {
    await start();
    const { answer } = prompt('/slow');
    await client.untilUpdate('agent_message_chunk');
    client.notify('session/cancel', { sessionId });
    assert.equal((await answer).result.stopReason, 'cancelled');
    assert.equal(await play('/help'), 'end_turn');
  });

  it('withdraws its permission request when the turn is cancelled', async () => {
    let asked: (id: number | string) => void = () => {};
    const question = new Promise<number | string>((resolve) => {
      asked = resolve;
    });
    await start({ ...diskAnswers, 'session/request_permission': (_, id) => new Promise(() => asked(id)) });
    const { id, answer } = prompt('/edit');
    const requestId = await question;
    client.notify('$/cancel_request', { requestId: id });
    assert.equal((await answer).result.stopReason, 'cancelled');
    assert.ok(client.received.some((one) => one.method === '$/cancel_request' && one.params.requestId === requestId));
  });

  it('responds to /error with an error and keeps running', async () => {
    await start();
    const { error } = await prompt('/error').answer;
    assert.equal(error.code, -32603);
    assert.equal(await play('/help'), 'end_turn');
  });

  it('writes its reason to stderr when it crashes during a turn', async () => {
    await start();
    await assert.rejects(prompt('/crash').answer, /you asked me to crash/);
    assert.deepEqual(await client.ended, { code: 1, signal: null });
  });

  it('sends only messages that the protocol defines', async () => {
    await start({
      ...diskAnswers,
      'session/request_permission': choose('allow'),
      'terminal/create': () => ({ terminalId: 'term-1' }),
      'terminal/wait_for_exit': () => ({ exitCode: 0, signal: null }),
      'terminal/output': () => ({ output: 'done', truncated: false }),
      'terminal/release': () => ({}),
    });
    await client.request('session/set_mode', { sessionId, modeId: 'ask' });
    for (const text of ['hi', '/nothing', '/thoughts', '/plan', '/edit', '/terminal', '/stream', '/limits', '/compact'])
      await play(text);
    assert.deepEqual(
      client.received.map(misfitCall).filter((wrong) => wrong !== undefined),
      [],
    );
    assert.equal(misfit('InitializeResponse', client.received[0]?.result), undefined);
    assert.equal(misfit('NewSessionResponse', client.received[1]?.result), undefined);
    assert.ok(client.received.some(({ method }) => method === 'terminal/create'));
  });

  it('exits when its stdin is closed', async () => {
    await start();
    assert.deepEqual(await client.close(), { code: 0, signal: null });
  });
});
