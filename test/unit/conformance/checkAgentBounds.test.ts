// Check Conformance with broken agents: each gives a report within the limits, and nothing is left
// behind.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { type ConformanceReport, checkAgent } from '../../../src/conformance/checkAgent';
import { isBroken, jsonReport, markdownReport, recordWire, terminalReport } from '../../../src/conformance/report';
import type { CheckedAgent, CheckOptions } from '../../../src/conformance/run/checkOptions';
import type { AgentProgram } from '../../support/agents/program';
import { checkReference, WHOLE } from '../../support/agents/reference/checkReference';
import { startProgram } from '../../support/sessions/memoryAgents';

describe('Check Conformance, with an agent that does not work', () => {
  let folders: readonly string[];
  let started: CheckedAgent[];

  beforeEach(() => {
    folders = [];
    started = [];
  });

  async function check(
    run: (program: AgentProgram) => void,
    options: Partial<CheckOptions> = {},
    signal = new AbortController().signal,
  ): Promise<ConformanceReport> {
    return checkAgent(
      {
        client: { name: 'check', title: 'Check', version: '1' },
        versions: [1],
        limits: { initialize: 100, request: 100, whole: 5_000, maxChars: 200_000 },
        start: async (cwd, stop) => {
          folders = [...folders, cwd];
          const start = { command: 'agent', args: ['agent'], cwd, env: {}, log: silentLog, signal: stop };
          const agent = await startProgram((program) => {
            program.stdin.resume();
            run(program);
          }, start);
          started.push(agent);
          return agent;
        },
        ...options,
      },
      signal,
    );
  }

  function found(report: ConformanceReport, id: string): string {
    const verdicts = report.versions[0]?.verdicts ?? [];
    const one = verdicts.find((verdict) => verdict.id === id);
    return `${one?.verdict}: ${one?.found}`;
  }

  async function assertNothingLeft(): Promise<void> {
    for (const agent of started) await agent.exited;
    assert.deepEqual(
      folders.filter((folder) => existsSync(folder)),
      [],
    );
  }

  it('reports an agent that never answers', async () => {
    const report = await check(() => {});
    assert.match(found(report, 'initialize.answer'), /breaks: initialize had no answer in time/);
    assert.equal(found(report, 'close.answer'), 'not-shown: the agent was not initialized');
    await assertNothingLeft();
  });

  for (const [what, line] of [
    [
      'messages',
      `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { text: 'x'.repeat(20_000) } })}\n`,
    ],
    ['lines that are no messages', 'nothing\n'.repeat(1000)],
  ] as const)
    it(`stops an agent that floods with ${what}, and reports it`, async () => {
      const run = (program: AgentProgram): void => {
        const write = (): void => {
          if (program.hasExited) return;
          program.stdout.write(line);
          setImmediate(write);
        };
        write();
      };
      const report = await check(run, { limits: { initialize: 5_000, maxChars: 200_000 } });
      assert.match(report.versions[0]?.stopped ?? '', /sent more than 200000 characters/);
      if (what === 'messages') assert.ok((report.versions[0]?.lines.length ?? 0) < 1_000);
      else assert.match(found(report, 'wire.stdout'), /^breaks/);
      await assertNothingLeft();
    });

  it('stops at the limit for the whole check', async () => {
    const report = await check(() => {}, { limits: { initialize: 60_000, whole: 50 } });
    assert.match(report.versions[0]?.stopped ?? '', /took longer than 0.05 s/);
    await assertNothingLeft();
  });

  it('reports an agent that cannot be started', async () => {
    const report = await check(() => {}, {
      start: async () => {
        throw new ParleyError('agent-not-found', 'The program is missing');
      },
    });
    assert.match(report.versions[0]?.stopped ?? '', /could not be started: The program is missing/);
  });

  it('reports that an agent needs a sign-in, and how', async () => {
    const script = {
      ...WHOLE,
      signInFile: join(tmpdir(), 'no-such-file'),
      authMethods: [{ id: 'browser', name: 'Browser' }],
    };
    const { report } = await checkReference(script, 1);
    assert.match(report.versions[0]?.stopped ?? '', /needs a sign-in first \(browser\)/);
    assert.deepEqual(
      report.versions[0]?.verdicts.filter(({ verdict }) => verdict === 'breaks').map(({ id }) => id),
      [],
    );
  });

  it('stops the agent and removes its folder if the check is cancelled', async () => {
    const stop = new AbortController();
    const run = check(() => stop.abort(new Error('enough')), { limits: { initialize: 60_000 } }, stop.signal);
    await assert.rejects(run, /enough/);
    await assertNothingLeft();
  });

  it('lets an agent read and write only files in its own folder', async () => {
    const answers: Record<string, unknown>[] = [];
    const asks = [
      ['fs/write_text_file', { path: '/tmp/parley-check-outside', content: 'x' }],
      ['fs/read_text_file', { path: '/etc/passwd' }],
      ['terminal/create', { command: 'true' }],
    ] as const;
    await check((program) => {
      asks.forEach(
        ([method, params], id) =>
          void program.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
      );
      program.stdin.on('data', (data: Buffer) => {
        for (const text of data.toString().trim().split('\n')) {
          const message = JSON.parse(text) as Record<string, unknown>;
          if (message.method === undefined) answers.push(message);
        }
      });
    });
    assert.deepEqual(
      answers
        .sort((one, other) => Number(one.id) - Number(other.id))
        .map(({ error }) => (error as { code: number }).code),
      [-32002, -32002, -32601],
    );
    assert.ok(!(await readdir('/tmp')).includes('parley-check-outside'));
  });

  it('reports the error of a crash, not the end of its stack trace', async () => {
    const report = await check((program) => {
      program.warn(
        'agent.js:9\n    state.turn = 1;\n               ^\n\nTypeError: Cannot set properties of undefined\n    at turn (agent.js:9:5)\n    at main (agent.js:20:1)\n    at run (node:internal:1:1)\n\nNode.js v24.0.0',
      );
      program.exit(1);
    });
    assert.match(
      found(report, 'wire.alive'),
      /on stderr: agent\.js:9\nTypeError: Cannot set properties of undefined\n/,
    );
    assert.equal(isBroken(report), true);
    await assertNothingLeft();
  });

  it('reports that a too long message ended the connection', async () => {
    const report = await check((program) => void program.stdout.write(`"${'x'.repeat(9 * 1024 * 1024)}"\n`), {
      limits: { initialize: 5_000 },
    });
    assert.match(found(report, 'wire.alive'), /^breaks: the connection ended: /);
    await assertNothingLeft();
  });

  it('reports an incomplete check if the agent exits early', async () => {
    const { report } = await checkReference({ ...WHOLE, faults: ['exits'] }, 1);
    assert.equal(report.versions[0]?.stopped, 'the agent ended too early');
  });

  it('shows the lines of a rule in wire order', async () => {
    const { report } = await checkReference({ ...WHOLE, faults: ['early-update'] }, 1);
    const numbers = report.versions[0]?.verdicts.find(({ id }) => id === 'ready.new')?.lines.map(({ n }) => n) ?? [];
    assert.ok(numbers.length > 2);
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
    );
  });

  it('reports an agent that exits on a prompt for an unknown session', async () => {
    const report = await check((program) => {
      program.stdin.on('data', (data: Buffer) => {
        for (const text of data.toString().trim().split('\n')) {
          const { id, method, params } = JSON.parse(text) as {
            id?: number;
            method: string;
            params: { sessionId?: string };
          };
          if (id === undefined || program.hasExited) continue;
          if (method === 'session/prompt' && params.sessionId !== 's') return program.exit(1);
          const result = method === 'initialize' ? { protocolVersion: 1 } : { sessionId: 's', stopReason: 'end_turn' };
          program.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
        }
      });
    });
    assert.equal(found(report, 'prompt.unknown-session'), 'breaks: the agent ended before it answered session/prompt');
  });

  it('redacts secrets of the agent in all reports and the recording', async () => {
    const key = `sk-ant-api03-${'q'.repeat(93)}AA`;
    const report = await check((program) => {
      program.stdin.on('data', (data: Buffer) => {
        const { id } = JSON.parse(data.toString().split('\n')[0] ?? '') as { id: number };
        const result = { protocolVersion: key, agentInfo: { name: key, version: '1' } };
        program.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
        program.warn(key);
        program.exit(1);
      });
    });
    const named = { ...report, agent: `agent ${key}` };
    const lines = report.versions.flatMap((one) => one.lines);
    const texts = [
      terminalReport(named),
      jsonReport(named),
      markdownReport(named, []),
      await recordWire(lines, named.agent, '1'),
    ];
    for (const text of texts) assert.doesNotMatch(text, /qqqqqqqq/);
  });

  it('responds to an agent that reads a pipe in its folder', async function () {
    if (process.platform === 'win32') return this.skip();
    const answers: string[] = [];
    await check((program) => {
      const pipe = join(folders[0] ?? '', 'pipe');
      execFileSync('mkfifo', [pipe]);
      const read = { jsonrpc: '2.0', id: 1, method: 'fs/read_text_file', params: { path: pipe } };
      program.stdout.write(`${JSON.stringify(read)}\n`);
      program.stdin.on('data', (data: Buffer) => answers.push(data.toString()));
    });
    assert.match(answers.join(''), /"id":1,"error":\{"code":-32002/);
    await assertNothingLeft();
  });

  it('escapes text of the agent in reports', async () => {
    const { report } = await checkReference({ ...WHOLE, faults: ['odd-reason'] }, 1);
    const hostile: ConformanceReport = { ...report, agent: 'x`\n# [a](command:b) |\u001b[31m' };
    const markdown = markdownReport(hostile, [['Command', 'agent']]);
    assert.doesNotMatch(markdown, /^# \[a\]/m);
    assert.match(markdown, /\*\*breaks\*\*/);
    assert.match(markdown, /### prompt\\?.reason: breaks/);
    const table = terminalReport(hostile);
    assert.ok(!table.includes('\u001b'));
    assert.match(table, /prompt\.reason +breaks/);
    const json = JSON.parse(jsonReport(report)) as { versions: { verdicts: { id: string; lines: unknown[] }[] }[] };
    assert.ok((json.versions[0]?.verdicts.find(({ id }) => id === 'prompt.reason')?.lines.length ?? 0) > 0);
  });
});
