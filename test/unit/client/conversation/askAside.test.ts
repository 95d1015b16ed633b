// A question to an agent beside the sessions of the user, with agents in memory.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { agentEnvironment } from '../../../../src/agents/agentEnvironment';
import { silentLog } from '../../../../src/base/log';
import { askAside } from '../../../../src/client/conversation/askAside';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { AgentFiles } from '../../../../src/client/requests/agentFiles';
import { Terminals } from '../../../../src/client/terminals/terminals';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { goneFrom } from '../../../support/processes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { diskFiles } from '../../../support/sessions/conversation';
import { startInMemory } from '../../../support/sessions/memoryAgents';

describe('a question beside the sessions', function () {
  this.timeout(20_000);
  let folder: string;
  let log: string;

  beforeEach(async () => {
    folder = await scratchFolder();
    log = join(await scratchFolder(), 'agent.log');
  });
  afterEach(removeScratch);

  const environment = async (): Promise<Record<string, string>> => agentEnvironment(process.env, undefined);
  const services: ConversationServices = {
    log: silentLog,
    clock: { now: Date.now },
    client: { name: 'parley-test', title: 'Parley', version: '0.0.0' },
    environment,
    startProcess: startInMemory,
    filesFor: (agentName) => new AgentFiles(diskFiles(), { agentName }),
    terminals: new Terminals({ log: silentLog, env: environment, isTrusted: () => true }),
    mcpServers: () => Promise.reject(new Error('no MCP servers are asked for')),
    isTrusted: () => true,
    startTimeoutMs: () => 10_000,
    afterCancel: () => 'pause',
  };
  function ask(script: AgentScript, signal = new AbortController().signal): Promise<string> {
    const [agent] = parseAgents({ plain: scriptedAgent(script, log) }).agents;
    assert.ok(agent);
    return askAside({ agent, cwd: folder, services }, 'What?', signal);
  }
  async function gone(): Promise<void> {
    const pids = new Set(readAgentLog(log).map(({ pid }) => pid));
    await Promise.all([...pids].map(goneFrom));
  }

  it('returns what the agent said last, and ends the agent', async () => {
    const scene = 'say Let me see\nthink Hm\nsay Add a file';
    assert.equal(await ask({ scenes: { 'What?': scene } }), 'Add a file');
    await gone();
  });

  it('offers nothing of this machine, and declines what the agent asks permission for', async () => {
    const scene = `permission\nwrite ${join(folder, 'a')} x\nsay Done`;
    assert.match(await ask({ scenes: { 'What?': scene } }), /Done$/);
    const seen = readAgentLog(log).flatMap(({ msg }) => (msg ? [JSON.stringify(msg)] : []));
    const initialize = seen.find((line) => line.includes('"initialize"')) ?? '';
    assert.doesNotMatch(initialize, /"(?:readTextFile|writeTextFile|terminal)":true/);
    assert.ok(seen.some((line) => /"outcome":"selected","optionId":"[^"]*(?:no|reject)/i.test(line)));
    assert.ok(seen.some((line) => line.includes('Method not found: fs/write_text_file')));
  });

  it('says so where the agent needs a sign-in, fails or says nothing', async () => {
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
