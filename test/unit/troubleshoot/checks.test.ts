// The checks of “Troubleshoot” in simulated environments.
import { strict as assert } from 'node:assert';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import { ParleyError } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { Journal } from '../../../src/store/journal';
import type { Check, Finding } from '../../../src/troubleshoot/checks/check';
import { journalCheck } from '../../../src/troubleshoot/checks/journal';
import {
  diskCheck,
  editorCheck,
  gitCheck,
  packageToolsCheck,
  programCheck,
  searchPathCheck,
} from '../../../src/troubleshoot/checks/program';
import { protocolCheck, sessionCheck, signInCheck, trustCheck } from '../../../src/troubleshoot/checks/protocol';
import { proxyCheck } from '../../../src/troubleshoot/checks/proxy';
import { runChecks } from '../../../src/troubleshoot/runChecks';
import { pluck } from '../../support/pluck';
import { scratchFolder } from '../../support/scratch';

const never = new AbortController().signal;
const run = (check: Check, signal = never): Promise<Finding> => check.run(signal);
const agentOf = (entry: object): AgentDefinition => parseAgents({ a: entry }).agents[0] ?? assert.fail();
const AGENT = agentOf({ command: 'gemini', args: ['--acp'] });
const factsOf = ({ facts = [] }: Finding): Readonly<Record<string, string>> => Object.fromEntries(facts);

describe('the checks', () => {
  it('report that nothing starts in an untrusted workspace, and start nothing there', async () => {
    assert.deepEqual(
      [(await run(trustCheck(false))).outcome, (await run(trustCheck(false))).action],
      ['problem', 'manageTrust'],
    );
    assert.equal((await run(trustCheck(true))).outcome, 'ok');
    const refuses = async (): Promise<never> => assert.fail('it was started');
    const options = { isTrusted: false, limitMs: 1_000 };
    assert.equal((await run(protocolCheck({ ...options, start: refuses }))).outcome, 'unchecked');
    assert.equal((await run(gitCheck({ isTrusted: false, isWanted: true, version: refuses }))).outcome, 'unchecked');
    const tools = packageToolsCheck({ agent: AGENT, isTrusted: false, node: refuses, uv: refuses });
    assert.equal((await run(tools)).outcome, 'unchecked');
    const path = searchPathCheck({ isTrusted: false, isWindows: false, windowPath: '/bin', ask: refuses });
    assert.equal((await run(path)).outcome, 'unchecked');
  });

  it("report what the agent says about the chat's session", async () => {
    assert.equal((await run(sessionCheck(undefined))).outcome, 'unchecked');
    const outcomes: Record<string, string> = {};
    for (const answer of ['live', 'saved', 'not_found', 'unsupported', 'failed', 'unresponsive'] as const)
      outcomes[answer] = (await run(sessionCheck(async () => answer))).outcome;
    assert.deepEqual(outcomes, {
      live: 'ok',
      saved: 'ok',
      not_found: 'warning',
      unsupported: 'unchecked',
      failed: 'warning',
      unresponsive: 'problem',
    });
    const lost = await run(sessionCheck(async () => 'not_found'));
    assert.equal(lost.found, 'The agent no longer has this session.');
  });

  it('report where the program of an agent is, and what to do if it is missing', async () => {
    const found = await run(
      programCheck({ agent: AGENT, resolve: async () => '/opt/bin/gemini', versionOf: async () => '1.2.3' }),
    );
    assert.equal(found.outcome, 'ok');
    assert.deepEqual(factsOf(found), {
      Command: 'gemini',
      Path: '/opt/bin/gemini',
      Arguments: '--acp',
      Version: '1.2.3',
    });
    const missing = await run(
      programCheck({
        agent: AGENT,
        resolve: async () => {
          throw new ParleyError('agent-not-found', 'The command was not found.', { hint: 'Install it.' });
        },
        versionOf: async () => undefined,
      }),
    );
    assert.deepEqual(
      [missing.outcome, missing.found, missing.advice, missing.action],
      ['problem', 'The command was not found.', 'Install it.', 'addAgent'],
    );
    const remote = agentOf({ url: 'https://user:password@agent.example/acp?key=1' });
    const address = await run(programCheck({ agent: remote, resolve: assert.fail, versionOf: assert.fail }));
    assert.equal(factsOf(address).Address, 'https://agent.example/acp');
  });

  it('distinguish a login shell that adds folders from one that is slow or fails', async () => {
    const check = (answer: object | undefined) =>
      run(
        searchPathCheck({
          isTrusted: true,
          isWindows: false,
          windowPath: '/bin:/usr/bin',
          ask: async () => answer && { shell: '/bin/zsh', ms: 100, ...answer },
        }),
      );
    const more = await check({ path: '/home/me/.nvm:/bin' });
    assert.match(more.found, /has 1 folders in PATH that VS Code lacks/);
    assert.equal(factsOf(more)['Only in the shell'], '/home/me/.nvm');
    assert.equal((await check({ path: '/bin' })).outcome, 'ok');
    assert.match((await check({ path: '/bin', ms: 4_000 })).found, /took 4\.0 s/);
    const failed = await check({ problem: 'it ended with code 1' });
    assert.deepEqual([failed.outcome, failed.action], ['warning', 'editAgent']);
    assert.match(failed.found, /it ended with code 1/);
    assert.equal((await check(undefined)).outcome, 'warning');
    const windows = searchPathCheck({ isTrusted: true, isWindows: true, windowPath: '', ask: assert.fail });
    assert.equal((await run(windows)).outcome, 'ok');
  });

  it('report missing Node.js and uv only if an agent needs them', async () => {
    const missing = async (): Promise<never> => {
      throw new ParleyError('missing', '');
    };
    const check = (agent: AgentDefinition, node: () => Promise<string>, uv: () => Promise<string>) =>
      run(packageToolsCheck({ agent, isTrusted: true, node, uv }));
    const there = async (): Promise<string> => '24.0.0';
    const npx = await check(agentOf({ command: 'npx', args: ['agent'] }), missing, there);
    assert.deepEqual([npx.outcome, npx.action], ['problem', 'getNode']);
    const uvx = await check(agentOf({ command: '/opt/uvx.exe' }), there, missing);
    assert.deepEqual([uvx.outcome, uvx.action], ['problem', 'getUv']);
    assert.equal((await check(AGENT, missing, missing)).outcome, 'ok');
    assert.equal((await check(AGENT, there, there)).outcome, 'ok');
  });

  it('try proxies, and report agents that do not get the proxy of VS Code', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const proxy = `http://name:password@127.0.0.1:${port}`;
    const check = (setting: string, env: Record<string, string> = {}) =>
      run(proxyCheck({ setting, support: 'override', env: async () => env }));
    const texts: string[] = [];
    const outcome = async (finding: Promise<Finding>): Promise<string> => {
      texts.push(JSON.stringify(await finding));
      return (await finding).outcome;
    };
    assert.equal(await outcome(check('')), 'ok');
    assert.equal(await outcome(check(proxy)), 'warning');
    assert.equal(await outcome(check(proxy, { https_proxy: proxy })), 'ok');
    assert.equal(await outcome(check('', { HTTPS_PROXY: `127.0.0.1:${port}`, NO_PROXY: 'localhost' })), 'ok');
    await new Promise((resolve) => server.close(resolve));
    assert.equal(await outcome(check(proxy)), 'problem');
    assert.equal(await outcome(check('http://')), 'problem');
    assert.doesNotMatch(texts.join(), /password/);
  });

  it('report whether the session waits for a sign-in', async () => {
    const required = await run(signInCheck({ kind: 'required', methods: ['Browser', 'Key'] }));
    assert.deepEqual([required.outcome, required.action], ['problem', 'signIn']);
    assert.equal((await run(signInCheck({ kind: 'ready' }))).outcome, 'ok');
    assert.equal((await run(signInCheck({ kind: 'unknown' }))).outcome, 'unchecked');
  });

  it("report the agent's response to its start, or why there is none", async () => {
    const features = { prompt: { image: true, audio: false, embeddedContext: true }, load: {}, fork: {} };
    const answered = await run(
      protocolCheck({
        isTrusted: true,
        limitMs: 1_000,
        start: async () => ({ protocol: 1, name: 'g', title: 'Gemini', version: '9', features, authMethods: [] }),
      }),
    );
    assert.equal(answered.outcome, 'ok');
    assert.equal(factsOf(answered).Agent, 'Gemini 9');
    assert.equal(factsOf(answered).Capabilities, 'fork, load, prompt.embeddedContext, prompt.image');
    const failed = await run(
      protocolCheck({
        isTrusted: true,
        limitMs: 1_000,
        start: async () => {
          throw new ParleyError('agent-exited', 'Gemini exited with code 1.', { hint: 'See it.', stderr: 'boom' });
        },
      }),
    );
    assert.deepEqual([failed.outcome, failed.advice, factsOf(failed)['Error output']], ['problem', 'See it.', 'boom']);
    const http = await run(
      protocolCheck({
        isTrusted: true,
        limitMs: 1_000,
        start: async () => ({ protocol: 'communication', features, authMethods: [] }),
      }),
    );
    assert.match(http.found, /^The server of the agent answered/);
  });

  it('report free disk space, and the size of stored data', async () => {
    const folder = await scratchFolder();
    await mkdir(join(folder, 'deep/er'), { recursive: true });
    await writeFile(join(folder, 'deep/er/file'), 'x'.repeat(3 * 1024 * 1024));
    const check = (freeBytes: number) => run(diskCheck({ folder, freeBytes: async () => freeBytes }));
    const MB = 1024 * 1024;
    const fine = await check(5 * 1024 * MB);
    assert.deepEqual([fine.outcome, factsOf(fine)['Used by Parley']], ['ok', '3 MB']);
    assert.deepEqual([(await check(500 * MB)).outcome, (await check(10 * MB)).outcome], ['warning', 'problem']);
    assert.equal(
      (await run(diskCheck({ folder: join(folder, 'none'), freeBytes: async () => 2 ** 40 }))).outcome,
      'ok',
    );
  });

  it('report whether stored sessions are intact, even while in use', async () => {
    const folder = await scratchFolder();
    const check = (problem?: string) => run(journalCheck({ folder, problem, now: Date.now }));
    assert.match((await check()).found, /No sessions/);
    const journal = Journal.open({ folder, log: silentLog, now: Date.now });
    try {
      const sound = await check();
      assert.equal(sound.outcome, 'ok', sound.found);
      assert.equal(factsOf(sound).Sessions, '0');
    } finally {
      journal.dispose();
    }
    await writeFile(
      join(folder, 'parley.db'),
      'this is no database, and it is long enough to be read as one'.repeat(100),
    );
    assert.deepEqual([(await check()).outcome, (await check()).action], ['problem', 'showLog']);
    assert.equal((await check('The disk is full.')).found, 'The disk is full.');
  });

  it('look for Git only if it is needed', async () => {
    const version = async (): Promise<string> => 'git version 2.47.1';
    assert.equal(
      factsOf(await run(gitCheck({ isTrusted: true, isWanted: true, version }))).Version,
      'git version 2.47.1',
    );
    const missing = async (): Promise<never> => {
      throw new ParleyError('git-missing', '');
    };
    assert.equal((await run(gitCheck({ isTrusted: true, isWanted: true, version: missing }))).outcome, 'warning');
    assert.equal((await run(gitCheck({ isTrusted: true, isWanted: false, version: missing }))).outcome, 'ok');
  });

  it('compare the version of VS Code, and report where agents run', async () => {
    const check = (version: string, remote?: string) =>
      run(editorCheck({ version, needs: '^1.106.0', remote, isWeb: false, node: '22.0.0' }));
    assert.equal((await check('1.105.9')).outcome, 'problem');
    assert.equal((await check('1.106.0')).outcome, 'ok');
    assert.equal((await check('2.0.0-insider')).outcome, 'ok');
    assert.match((await check('1.120.0', 'ssh-remote')).found, /remote computer \(ssh-remote\)/);
  });
});

describe('running checks', () => {
  const check = (id: string, run: Check['run'], limitMs = 60_000): Check => ({ id, title: id, limitMs, run });
  const ok: Finding = { outcome: 'ok', found: 'fine' };

  it('runs checks side by side and returns the results in order', async () => {
    const order: string[] = [];
    const { promise, resolve } = Promise.withResolvers<Finding>();
    const told = ({ id }: { readonly id: string }): void => {
      order.push(id);
      resolve(ok);
    };
    const results = await runChecks([check('first', () => promise), check('second', async () => ok)], never, told);
    assert.deepEqual(
      [order, results.map(({ id }) => id)],
      [
        ['second', 'first'],
        ['first', 'second'],
      ],
    );
  });

  it('ends a check that hangs, and continues after one that fails', async () => {
    let aborted = false;
    const results = await runChecks(
      [
        check(
          'hangs',
          (signal) =>
            new Promise(() => {
              signal.addEventListener('abort', () => {
                aborted = true;
              });
            }),
          1,
        ),
        check('fails', async () => {
          throw new Error('broken');
        }),
        check('works', async () => ok),
      ],
      never,
    );
    assert.deepEqual(pluck(results, 'outcome'), ['unchecked', 'unchecked', 'ok']);
    assert.match(results[1]?.found ?? '', /broken/);
    assert.ok(aborted, 'it was told to end');
  });

  it('ends all running checks when cancelled', async () => {
    const stop = new AbortController();
    const running = runChecks(
      [check('done', async () => ok), check('hangs', () => new Promise(() => {}))],
      stop.signal,
      () => stop.abort(),
    );
    assert.deepEqual(pluck(await running, 'outcome'), ['ok', 'unchecked']);
    const [late] = await runChecks([check('late', () => assert.fail())], stop.signal);
    assert.equal(late?.outcome, 'unchecked');
  });
});
