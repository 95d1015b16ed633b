// A question to agents on other machines beside the sessions of the user: over WebSocket, and HTTP agents.
import { strict as assert } from 'node:assert';
import { type AgentDefinition, parseAgents } from '../../../../src/agents/agentDefinition';
import { agentEnvironment } from '../../../../src/agents/agentEnvironment';
import { silentLog } from '../../../../src/base/log';
import { askAside } from '../../../../src/client/conversation/askAside';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { AgentFiles } from '../../../../src/client/requests/agentFiles';
import { Terminals } from '../../../../src/client/terminals/terminals';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type RemoteAgentServer, serveAgent } from '../../../support/servers/remoteAgent';
import {
  agentOf,
  awaiting,
  echo,
  failing,
  type RunningServer,
  serve,
  stopServers,
} from '../../../support/servers/servedAgents';
import { diskFiles } from '../../../support/sessions/conversation';
import { define, Kept, remoteFor, TOKEN } from '../http/farAgents';

describe('a question beside the sessions to an agent elsewhere', function () {
  this.timeout(20_000);
  let kept: Kept;
  let remote: RemoteAgentServer | undefined;
  let server: RunningServer;
  let stopped: Promise<void>;

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
    stopped = ended.promise;
  });
  afterEach(async () => {
    await remote?.close();
    remote = undefined;
    await stopServers();
    await removeScratch();
  });

  const environment = async (): Promise<Record<string, string>> => agentEnvironment(process.env, undefined);
  async function ask(agent: AgentDefinition, signal = new AbortController().signal): Promise<string> {
    const services: ConversationServices = {
      log: silentLog,
      clock: { now: Date.now },
      client: { name: 'parley-test', title: 'Parley', version: '0.0.0' },
      environment,
      filesFor: (agentName) => new AgentFiles(diskFiles(), { agentName }),
      terminals: new Terminals({ log: silentLog, env: environment, isTrusted: () => true }),
      mcpServers: () => Promise.reject(new Error('no MCP servers are asked for')),
      isTrusted: () => true,
      startTimeoutMs: () => 10_000,
      afterCancel: () => 'pause',
      descriptors: kept,
      historyLinks: () => assert.fail('no history is linked'),
      remote: remoteFor(server),
      follow: { retryMs: [1, 1], pollMs: 1 },
    };
    return askAside({ agent, cwd: await scratchFolder(), services }, 'What?', signal);
  }
  const far = (name: string): AgentDefinition => define(server.baseUrl, name, { Authorization: TOKEN });

  it('returns what an HTTP agent said, and keeps no session', async () => {
    assert.equal(await ask(far('echo')), 'What?');
    assert.equal(kept.texts.size, 0);
  });

  it('takes neither a question of the agent nor half an answer for its answer', async () => {
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
    await stopped;
  });

  it('returns what an agent over WebSocket said, which may use nothing of this machine', async () => {
    remote = await serveAgent();
    const allow = { files: true, terminals: true };
    const [agent] = parseAgents({ far: { name: 'Far', url: remote.ws, allow } }).agents;
    assert.ok(agent);
    assert.equal(await ask(agent), 'You said What?.');
    const initialize = remote.received.find(({ method }) => method === 'initialize');
    assert.doesNotMatch(JSON.stringify(initialize), /"(?:readTextFile|writeTextFile|terminal)":true/);
  });
});
