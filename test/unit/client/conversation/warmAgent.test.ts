// Tests the agent that is started for the next session.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { silentLog } from '../../../../src/base/log';
import { Conversation } from '../../../../src/client/conversation/conversation';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { WarmAgent } from '../../../../src/client/conversation/warmAgent';
import { type McpOffer, NO_MCP_SERVERS } from '../../../../src/client/mcp/mcpOffer';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { goneFrom, kill } from '../../../support/processes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, testServices, testTerminals } from '../../../support/sessions/conversation';

describe('the prepared agent of the next session', function () {
  this.timeout(10_000);
  const terminals = testTerminals(silentLog);
  let warm: WarmAgent;
  let isOn = true;
  let limitMs: number | undefined;
  let late: (() => void) | undefined;
  let log: string;
  let folder: string;
  const open: Conversation[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
    log = join(folder, 'agent.ndjson');
    isOn = true;
    limitMs = 1000;
    late = undefined;
    warm = new WarmAgent({
      isOn: () => isOn,
      limitMs: () => limitMs,
      schedule: (run) => {
        late = run;
        return { dispose: () => (late = undefined) };
      },
    });
  });
  afterEach(async () => {
    await Promise.all([warm.end(), ...open.splice(0).map((one) => one.close())]);
    await removeScratch();
  });
  after(() => terminals.dispose());

  function make(begins?: Promise<void>, services: Partial<ConversationServices> = {}): Conversation {
    return new Conversation({
      key: `c${open.length}`,
      agent: plain(),
      cwd: folder,
      roots: [folder],
      services: { ...testServices(terminals, silentLog), ...services },
      ...(begins && { beforeOpen: begins }),
    });
  }

  const started = (): readonly number[] => readAgentLog(log).flatMap(({ ev, pid }) => (ev === 'start' ? [pid] : []));
  const methods = (): readonly string[] => calledMethods(readAgentLog(log));
  const plain = (): AgentDefinition => parseAgent(scriptedAgent('plain', log), 'plain');

  async function untilInitialized(): Promise<void> {
    while (!methods().includes('initialize')) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('waits initialized without a session, and opens one when it is used', async () => {
    warm.prepare(plain(), make);
    await untilInitialized();
    warm.prepare(plain(), make);
    assert.deepEqual(methods(), ['initialize']);
    const taken = warm.take(() => true);
    assert.ok(taken);
    open.push(taken);
    const { stopReason } = await taken.send('say hello').done;
    assert.equal(stopReason, 'end_turn');
    assert.equal(started().length, 1, 'one process from its start to its turn');
    assert.deepEqual(methods(), ['initialize', 'session/new', 'session/prompt']);
    assert.equal(
      warm.take(() => true),
      undefined,
      'nobody gets it twice',
    );
    assert.equal(late, undefined, 'what was taken does not end by itself');
  });

  it('asks for the MCP servers of the session only when it is used', async () => {
    let asked = 0;
    const mcpServers = async (): Promise<McpOffer> => {
      asked++;
      return NO_MCP_SERVERS;
    };
    warm.prepare(plain(), (begins) => make(begins, { mcpServers }));
    await untilInitialized();
    assert.equal(asked, 0);
    const taken = warm.take(() => true);
    open.push(taken as Conversation);
    await taken?.start();
    assert.equal(asked, 1);
  });

  it('ends after a while without use, or when another agent is prepared', async () => {
    warm.prepare(plain(), make);
    await untilInitialized();
    late?.();
    await goneFrom(started()[0] ?? 0);
    assert.equal(
      warm.take(() => true),
      undefined,
    );
    warm.prepare(plain(), make);
    while (started().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    warm.prepare({ ...plain(), id: 'other' }, make);
    await goneFrom(started()[1] ?? 0);
    await warm.end();
    await Promise.all(started().map(goneFrom));
  });

  it('isn’t used if it doesn’t match, has exited or is disabled', async () => {
    warm.prepare(plain(), make);
    await untilInitialized();
    assert.equal(
      warm.take(() => false),
      undefined,
    );
    kill(started()[0] ?? 0);
    await goneFrom(started()[0] ?? 0);
    const taken = warm.take(() => true);
    if (taken) {
      // The window does not know of the exit yet, so this is a failed start.
      open.push(taken);
      await taken.start();
      assert.equal(taken.connection.kind, 'failed');
    }
    isOn = false;
    warm.prepare(plain(), make);
    assert.equal(
      warm.take(() => true),
      undefined,
    );
    assert.equal(started().length, 1);
  });

  it('is not started in an untrusted workspace', async () => {
    warm.prepare(plain(), (begins) => make(begins, { isTrusted: () => false }));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(
      warm.take(() => true),
      undefined,
    );
    assert.deepEqual(started(), []);
  });
});
