// Tests single questions to agents in memory, over WebSocket and over HTTP.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { silentLog } from '../../../../src/base/log';
import { askAside } from '../../../../src/client/conversation/askAside';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { goneFrom } from '../../../support/processes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { serveAgent } from '../../../support/servers/remoteAgent';
import {
  agentOf,
  awaiting,
  echo,
  failing,
  type RunningServer,
  serve,
  stopServers,
} from '../../../support/servers/servedAgents';
import { parseAgent, testServices, testTerminals } from '../../../support/sessions/conversation';
import { define, Kept, remoteFor, TOKEN } from '../http/farAgents';

const services = {
  ...testServices(testTerminals(silentLog), silentLog),
  mcpServers: () => Promise.reject(new Error('no MCP servers are asked for')),
};

describe('a question outside of the sessions', function () {
  this.timeout(20_000);
  let folder: string;
  let log: string;

  beforeEach(async () => {
    folder = await scratchFolder();
    log = join(await scratchFolder(), 'agent.log');
  });
  afterEach(removeScratch);

  const ask = (script: AgentScript, signal = new AbortController().signal): Promise<string> =>
    askAside({ agent: parseAgent(scriptedAgent(script, log)), cwd: folder, services }, 'What?', signal);
  async function gone(): Promise<void> {
    const pids = new Set(readAgentLog(log).map(({ pid }) => pid));
    await Promise.all([...pids].map(goneFrom));
  }

  it('returns the last message, and ends the agent', async () => {
    const scene = 'say Let me see\nthink Hm\nsay Add a file';
    assert.equal(await ask({ scenes: { 'What?': scene } }), 'Add a file');
    await gone();
  });

  it('offers nothing of this machine and declines permission requests', async () => {
    const scene = `permission\nwrite ${join(folder, 'a')} x\nsay Done`;
    assert.match(await ask({ scenes: { 'What?': scene } }), /Done$/);
    const seen = readAgentLog(log).flatMap(({ msg }) => (msg ? [JSON.stringify(msg)] : []));
    const initialize = seen.find((line) => line.includes('"initialize"')) ?? '';
    assert.doesNotMatch(initialize, /"(?:readTextFile|writeTextFile|terminal)":true/);
    assert.ok(seen.some((line) => /"outcome":"selected","optionId":"[^"]*(?:no|reject)/i.test(line)));
    assert.ok(seen.some((line) => line.includes('Method not found: fs/write_text_file')));
  });

  it('reports a required sign-in, a failure or an empty answer', async () => {
    await assert.rejects(() => ask({ authMethods: [{ id: 'login', name: 'Log in' }] }), { code: 'sign-in-needed' });
    await assert.rejects(() => ask({ exitAtStart: 1 }), { code: /^(?!git).+/ });
    await assert.rejects(() => ask({ scenes: { 'What?': 'think Nothing' } }), { code: 'no-answer' });
    await gone();
  });

  it('ends the agent when it is cancelled', async () => {
    const abort = new AbortController();
    const asking = ask({ scenes: { 'What?': 'say I begin\nwait' } }, abort.signal);
    asking.catch(() => undefined);
    while (!calledMethods(readAgentLog(log)).includes('session/prompt')) await sleep(20);
    abort.abort();
    await assert.rejects(asking, { name: 'AbortError' });
    await gone();
  });
});

describe('a question to a remote agent outside of the sessions', function () {
  this.timeout(20_000);
  let kept: Kept;
  let server: RunningServer;
  const working = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const slow = agentOf('slow', async (_input, _out, _context, signal) => {
    working.resolve();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    ended.resolve();
    signal.throwIfAborted();
  });

  beforeEach(async () => {
    kept = new Kept();
    server = await serve([echo, awaiting, failing, slow]);
  });
  afterEach(async () => {
    await stopServers();
    await removeScratch();
  });

  async function ask(agent: AgentDefinition, signal = new AbortController().signal): Promise<string> {
    const far = {
      ...services,
      descriptors: kept,
      historyLinks: () => assert.fail('no history is linked'),
      remote: remoteFor(server),
      follow: { retryMs: [1, 1], pollMs: 1 },
    };
    return askAside({ agent, cwd: await scratchFolder(), services: far }, 'What?', signal);
  }
  const far = (name: string): AgentDefinition => define(server.baseUrl, name, { Authorization: TOKEN });

  it('returns the answer of an HTTP agent, and keeps no session', async () => {
    assert.equal(await ask(far('echo')), 'What?');
    assert.equal(kept.texts.size, 0);
  });

  it('rejects a question of the agent or half an answer', async () => {
    await assert.rejects(() => ask(far('awaiting')), { code: 'no-answer' });
    await assert.rejects(() => ask(far('failing')), /bad input/);
  });

  it('stops the run when it is cancelled', async () => {
    const abort = new AbortController();
    const asking = ask(far('slow'), abort.signal);
    asking.catch(() => undefined);
    await working.promise;
    abort.abort();
    await assert.rejects(asking, { name: 'AbortError' });
    await ended.promise;
  });

  it('returns the answer of a WebSocket agent, which can use nothing of this machine', async () => {
    const remote = await serveAgent();
    try {
      const agent = parseAgent({ name: 'Far', url: remote.ws, allow: { files: true, terminals: true } });
      assert.equal(await ask(agent), 'You said What?.');
      const initialize = remote.received.find(({ method }) => method === 'initialize');
      assert.doesNotMatch(JSON.stringify(initialize), /"(?:readTextFile|writeTextFile|terminal)":true/);
    } finally {
      await remote.close();
    }
  });
});
