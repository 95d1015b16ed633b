// The scripted agent itself: what the other tests build on must misbehave exactly as it is told, and must catch a client that breaks a rule.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { misfitCall } from '../../agents/protocolSchema';
import { type Answer, choose, diskAnswers, RawClient, Refusal } from '../../agents/rawClient';
import { calledMethods, readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { presets } from '../../support/agents/script';

type Script = Parameters<typeof scriptedAgent>[0];

describe('scripted agent', () => {
  let cwd: string;
  let log: string;
  let client: RawClient;
  let sessionId: string;

  async function connect(script: Script, answers: Record<string, Answer> = {}): Promise<void> {
    client = new RawClient(scriptedAgent(script, log), cwd, answers);
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  }

  async function start(script: Script, answers: Record<string, Answer> = {}): Promise<void> {
    await connect(script, answers);
    ({ sessionId } = await client.request('session/new', { cwd, mcpServers: [] }));
  }

  function prompt(text: string) {
    return client.send('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  async function violated(reason: RegExp): Promise<void> {
    assert.equal((await client.ended).code, 9);
    assert.match(client.stderr, reason);
    assert.match(client.stderr, /^VIOLATION /m);
  }

  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'parley-scripted-'));
    log = join(cwd, 'agent.ndjson');
  });

  afterEach(async () => {
    await client.close(200);
    await rm(cwd, { recursive: true, force: true });
  });

  describe('catches a client that', () => {
    const broken: readonly [what: string, script: Script, reason: RegExp, act: () => Promise<unknown> | unknown][] = [
      [
        'sends a second prompt while one runs',
        'plain',
        /second session\/prompt/,
        () => [prompt('wait'), prompt('say two')],
      ],
      ['prompts before session/ready', 'ready-session', /before session\/ready/, () => prompt('say x')],
      [
        'sends session/ready twice',
        'ready-meta',
        /session\/ready twice/,
        () => [client.notify('session/ready', { sessionId }), client.notify('session/ready', { sessionId })],
      ],
      [
        'sends session/ready to an agent that did not ask for it',
        'ready-false',
        /not advertised/,
        () => client.notify('session/ready', { sessionId }),
      ],
      ['leaves out mcpServers', 'plain', /without mcpServers/, () => client.send('session/new', { cwd })],
      [
        'gives a relative folder',
        'plain',
        /with the cwd/,
        () => client.send('session/new', { cwd: 'src', mcpServers: [] }),
      ],
      ['answers what nobody asked', 'plain', /unknown id/, () => client.raw({ jsonrpc: '2.0', id: 77, result: {} })],
      ['sends a batch', 'plain', /batch/, () => client.raw([{ jsonrpc: '2.0', method: 'session/cancel' }])],
      ['writes a line that is no JSON', 'plain', /not JSON/, () => client.raw('hello\n')],
      ['cancels by a request', 'plain', /as a request/, () => client.send('session/cancel', { sessionId })],
      ["uses LSP's cancellation", 'plain', /cancelRequest/, () => client.notify('$/cancelRequest', { id: 1 })],
      [
        'asks for a status that was not offered',
        'plain',
        /session\/status/,
        () => client.send('session/status', { sessionId }),
      ],
      [
        'sends an image unasked',
        'plain',
        /"image" block/,
        () =>
          client.send('session/prompt', { sessionId, prompt: [{ type: 'image', data: '', mimeType: 'image/png' }] }),
      ],
    ];
    for (const [what, script, reason, act] of broken) {
      it(what, async () => {
        await start(script);
        client.ended.catch(() => undefined);
        const sent = await act();
        for (const one of Array.isArray(sent) ? sent : [sent]) one?.answer?.catch(() => undefined);
        await violated(reason);
      });
    }

    it('leaves a permission open after a cancel', async () => {
      let asked = (): void => {};
      const question = new Promise<void>((resolve) => {
        asked = resolve;
      });
      await start({ answerDeadlineMs: 50 }, { 'session/request_permission': () => new Promise(() => asked()) });
      const { answer } = prompt('permission');
      answer.catch(() => undefined);
      await question;
      client.notify('session/cancel', { sessionId });
      await violated(/not answered after session\/cancel/);
    });

    it('chooses what was not offered', async () => {
      await start('plain', {
        'session/request_permission': () => ({ outcome: { outcome: 'selected', optionId: 'made-up' } }),
      });
      prompt('permission').answer.catch(() => undefined);
      await violated(/"made-up", which was not offered/);
    });
  });

  it('tells the early updates before the session that they belong to', async () => {
    await start('early');
    const told = client.received.findIndex((message) => message.result?.sessionId === sessionId);
    const early = client.received.slice(0, told).filter((message) => message.params?.sessionId === sessionId);
    assert.equal(early.length, 35);
  });

  it('asks to sign in before a session', async () => {
    await connect('needs-sign-in');
    await assert.rejects(client.request('session/new', { cwd, mcpServers: [] }), /-32000/);
    await client.request('authenticate', { methodId: 'login' });
    await client.request('session/new', { cwd, mcpServers: [] });
  });

  it('puts noise around its messages', async () => {
    await start('noise-among');
    await prompt('say hello').answer;
    assert.equal(client.text(), 'hello');
    assert.ok(client.noise.some((line) => line.startsWith('[debug]')));
  });

  it('sends turn_complete where it was told', async () => {
    for (const [when, expected] of [
      ['before', ['turn_complete', 'response']],
      ['after', ['response', 'turn_complete']],
      ['twice', ['turn_complete', 'response', 'turn_complete']],
    ] as const) {
      await start({ turnComplete: { when } });
      const { id, answer } = prompt('say x');
      await answer;
      const count = expected.filter((one) => one === 'turn_complete').length;
      await client.until(() => client.updates('turn_complete').length === count);
      const order = client.received.flatMap((message) =>
        message.id === id
          ? ['response']
          : message.params?.update?.sessionUpdate === 'turn_complete'
            ? ['turn_complete']
            : [],
      );
      assert.deepEqual(order, expected);
      await client.close();
    }
  });

  it('reads and writes files and says what came of it', async () => {
    await start('plain', diskAnswers);
    await writeFile(join(cwd, 'seed.txt'), 'alpha\n');
    await prompt(`read ${join(cwd, 'seed.txt')}\nwrite ${join(cwd, 'new.txt')} some text`).answer;
    assert.match(client.text(), /read → {"content":"alpha\\n"}\nwrite → {}/);
    assert.equal(await readFile(join(cwd, 'new.txt'), 'utf8'), 'some text');
  });

  it('asks two permissions at once and takes answers in any order', async () => {
    let first: (() => void) | undefined;
    await start('plain', {
      'session/request_permission': async (params, id) => {
        if (params.toolCall.toolCallId === 'one') {
          await new Promise<void>((resolve) => {
            first = resolve;
          });
        } else first?.();
        return choose('allow')(params, id);
      },
    });
    await prompt('two-permissions').answer;
    assert.match(client.text(), /^second .*\nfirst /);
  });

  it('floods with as many updates as asked for, and marks the end', async () => {
    await start('plain');
    await prompt('flood 500 0 here').answer;
    assert.equal(client.updates('agent_message_chunk').length, 500);
    assert.match(client.text(), /END-OF-FLOOD-here$/);
    const before = client.received.length;
    await prompt('tools 50 0 there').answer;
    assert.equal(client.updates('tool_call', before).length, 50);
    assert.match(client.text('agent_message_chunk', before), /END-OF-FLOOD-there$/);
  });

  it('dies in mid-turn on its own or by a signal', async () => {
    await start('plain');
    await assert.rejects(prompt('die 3').answer);
    assert.equal((await client.ended).code, 3);
    assert.match(client.stderr, /terribly wrong/);
    await start('plain');
    await assert.rejects(prompt('die SIGKILL').answer);
    assert.equal((await client.ended).signal, 'SIGKILL');
  });

  it('knows all updates of the protocol, and some that it does not have', async () => {
    await start('plain');
    await prompt('all-updates').answer;
    assert.equal(new Set(client.updates().map((update) => update.sessionUpdate)).size, 14);
    assert.deepEqual(
      client.received.map(misfitCall).filter((wrong) => wrong !== undefined),
      [],
    );
    const before = client.received.length;
    await prompt('unknown-updates\nmalformed').answer;
    const wrong = client.received
      .slice(before)
      .filter((message) => message.method && misfitCall(message) !== undefined);
    assert.ok(wrong.length > 10);
  });

  it('sends one line of many megabytes', async () => {
    await start('plain');
    await prompt('huge 40').answer;
    assert.equal(client.text().length, 40 * 1024 * 1024);
  });

  it('closes its stdout and lives on', async () => {
    await start('plain');
    prompt('deaf').answer.catch(() => undefined);
    await client.stdoutClosed;
    process.kill(client.pid, 0);
    assert.deepEqual(await client.close(), { code: 0, signal: null }); // its stdin still ends it
  });

  it('withstands SIGTERM together with its child, until the group is killed', async () => {
    await start({ ...presets.stubborn, childHoldsStderr: true });
    const child = Number(readAgentLog(log).find(({ ev }) => ev === 'child')?.child);
    process.kill(child, 0);
    // The end is told when the last process with the other end of stderr is gone, so the child is gone too.
    // On a busy machine, an agent that is killed after 50 ms has not noted the signal before.
    assert.equal((await client.close(500)).signal, 'SIGKILL');
    assert.ok(readAgentLog(log).some(({ ev }) => ev === 'stdin-end'));
    assert.ok(readAgentLog(log).some(({ ev }) => ev === 'sigterm'));
  });

  it('withdraws its open permission when the turn is cancelled', async () => {
    let asked = (): void => {};
    const question = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let answer: ((outcome: unknown) => void) | undefined;
    await start(
      { onCancel: 'withdraw' },
      {
        'session/request_permission': () =>
          new Promise((resolve) => {
            answer = resolve;
            asked();
          }),
      },
    );
    const turn = prompt('permission');
    await question;
    client.notify('session/cancel', { sessionId });
    await client.until(({ method }) => method === '$/cancel_request');
    answer?.({ outcome: { outcome: 'cancelled' } });
    assert.equal((await turn.answer).result.stopReason, 'cancelled');
  });

  it('goes through whole lives of terminals', async () => {
    await start('plain', {
      'terminal/create': ({ command }) => {
        if (command !== process.execPath) throw new Refusal(-32603, 'no such program');
        return { terminalId: 'term-1' };
      },
      'terminal/wait_for_exit': () => ({ exitCode: 3 }),
      'terminal/output': () => ({ output: 'out', truncated: false }),
      'terminal/kill': () => ({}),
      'terminal/release': () => ({}),
    });
    await prompt('terminal\nterminal-kill\nterminal-limit\nterminal-release\nterminal-missing').answer;
    assert.deepEqual(
      client.received.map(misfitCall).filter((wrong) => wrong !== undefined),
      [],
    );
    const methods = new Set(client.received.flatMap(({ method }) => (method?.startsWith('terminal/') ? [method] : [])));
    assert.equal(methods.size, 5);
  });

  it('writes everything that it received to its log', async () => {
    await start('proposals');
    client.notify('session/ready', { sessionId });
    await prompt('say done').answer;
    assert.deepEqual(calledMethods(readAgentLog(log)), [
      'initialize',
      'session/new',
      'session/ready',
      'session/prompt',
    ]);
  });
});
