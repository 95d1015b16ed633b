// Opening a session with an agent in memory: which requests are sent, and in which order.
import { strict as assert } from 'node:assert';
import { RpcConnection } from '../../../../src/acp/jsonrpc/rpcConnection';
import { UpdateRouter } from '../../../../src/acp/protocol/earlyUpdates';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { describeV1 } from '../../../../src/acp/v1/v1Description';
import { type AgentDefinition, parseAgents } from '../../../../src/agents/agentDefinition';
import { Emitter } from '../../../../src/base/event';
import { silentLog } from '../../../../src/base/log';
import { openSession } from '../../../../src/client/connection/openSession';
import type { SessionOpenStrategy } from '../../../../src/client/connection/sessionOpenStrategy';
import type { StartContext } from '../../../../src/client/connection/startAgent';
import { NO_MCP_SERVERS } from '../../../../src/client/mcp/mcpOffer';
import type { AgentLink } from '../../../../src/client/ports/agentLink';
import { Stages } from '../../../../src/client/transport/stages';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { MemoryTransport } from '../../../support/memoryTransport';

type Answers = Readonly<Record<string, unknown>>;

const AGENTS: Readonly<Record<string, unknown>> = {
  'a local agent': { command: 'agent' },
  'an agent behind https': { url: 'https://far.example/acp' },
  'an agent behind wss': { url: 'wss://far.example/acp' },
};

function agentOf(entry: unknown): AgentDefinition {
  const [agent] = parseAgents({ one: entry }).agents;
  assert.ok(agent);
  return agent;
}

/**
 * Opens a session.
 * @param answers of the agent by method; an {@link Error} is answered as error -32002
 * @returns the methods that the agent got, and the session id or the error's code
 */
async function opened(
  entry: unknown,
  session: object,
  opening: SessionOpenStrategy,
  answers: Answers,
): Promise<{ readonly methods: readonly string[]; readonly outcome: string }> {
  const transport = new MemoryTransport();
  const rpc = new RpcConnection({
    transport,
    log: silentLog,
    handlers: { onUpdates() {}, onRequest: () => Promise.reject(new Error('not asked')), onNotification() {} },
  });
  const methods: string[] = [];
  const write = transport.write.bind(transport);
  transport.write = async (line) => {
    await write(line);
    const { id, method } = JSON.parse(line) as { id?: number; method: string };
    methods.push(method);
    const answer = answers[method];
    if (id === undefined) return;
    const outcome = answer instanceof Error ? { error: { code: -32002, message: answer.message } } : { result: answer };
    transport.sayJson({ jsonrpc: '2.0', id, ...outcome });
  };
  const description = describeV1({ protocolVersion: 1, agentCapabilities: { sessionCapabilities: session } });
  assert.ok(description);
  const link: AgentLink = {
    ...{ rpc, description, dialect: new V1Agent(rpc), router: new UpdateRouter(() => {}), isAlive: true },
    onDidEnd: new Emitter<never>(() => {}).event,
    throwIfEnded() {},
    until: (run, signal) => run(signal),
    describe: () => Promise.reject(new Error('not asked')),
    close: async () => {},
    dispose: () => rpc.dispose(),
  };
  const model = new SessionModel();
  const context = {
    ...{ key: 'k', agent: agentOf(entry), cwd: '/work', additionalDirectories: [] },
    services: { log: silentLog, startTimeoutMs: () => 1000 },
    stages: new Stages(Date.now, () => {}),
    session: {
      transcript: model.state,
      apply: (event: SessionEvent) => void model.apply(event, 0),
      updates() {},
    },
    onNamed() {},
  } as unknown as StartContext;
  try {
    const wanted = { opening, mcp: Promise.resolve(NO_MCP_SERVERS) };
    const result = await openSession(context, link, wanted, new AbortController().signal);
    return { methods, outcome: result.kind === 'ready' ? result.sessionId : result.kind };
  } catch (error) {
    return { methods, outcome: String((error as { code?: unknown }).code) };
  } finally {
    link.dispose();
  }
}

describe('session/ready', () => {
  const answers: Answers = { 'session/new': { sessionId: 's' }, 'session/status': { status: 'live' } };
  const again: SessionOpenStrategy = { kind: 'reopen', sessionId: 's', transcript: 'keep' };

  for (const [name, entry] of Object.entries(AGENTS)) {
    it(`is sent once after session/new to ${name} that advertises it`, async () => {
      const { methods, outcome } = await opened(entry, { ready: {} }, { kind: 'new' }, answers);
      assert.deepEqual(methods, ['session/new', 'session/ready']);
      assert.equal(outcome, 's');
    });

    it(`is not sent to ${name} that does not advertise it`, async () => {
      const { methods } = await opened(entry, {}, { kind: 'new' }, answers);
      assert.deepEqual(methods, ['session/new']);
    });
  }

  it('is sent after session/status has confirmed the session', async () => {
    const { methods, outcome } = await opened(AGENTS['a local agent'], { ready: {}, status: {} }, again, answers);
    assert.deepEqual(methods, ['session/status', 'session/ready']);
    assert.equal(outcome, 's');
  });

  it('is not sent if session/status does not confirm the session', async () => {
    const refused = { 'session/status': new Error('unknown session') };
    const { methods, outcome } = await opened(AGENTS['a local agent'], { ready: {}, status: {} }, again, refused);
    assert.deepEqual(methods, ['session/status']);
    assert.equal(outcome, 'session-not-found');
  });
});
