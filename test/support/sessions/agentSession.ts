// The conversation of one test with an agent of ours, its folder and its agent's log. An agent that
// saw a rule broken fails the test.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { parseAgents } from '../../../src/agents/agentDefinition';
import { snapshotOf } from '../../../src/client/view/snapshot';
import { readAgentLog } from '../agents/definition';
import { removeScratch, scratchFolder } from '../scratch';
import { type TestConversation, type TestConversationOptions, testConversation } from './conversation';

export interface AgentSession extends TestConversation {
  readonly folder: string;
  readonly agentLog: string;
  said(): string;
  openAgent(entry: unknown, options?: Omit<TestConversationOptions, 'agent' | 'cwd'>): TestConversation;
}

export function useAgentSession(): AgentSession {
  let session: TestConversation | undefined;
  let folder = '';
  let agentLog = '';

  beforeEach(async () => {
    folder = await scratchFolder();
    agentLog = join(await scratchFolder(), 'agent.ndjson');
  });

  afterEach(async () => {
    await session?.close();
    session = undefined;
    assert.deepEqual(
      readAgentLog(agentLog).filter(({ ev }) => ev === 'violation'),
      [],
    );
    await removeScratch();
  });

  const present = (): TestConversation => {
    if (session === undefined) throw new Error('the test has opened no conversation');
    return session;
  };
  return {
    get folder() {
      return folder;
    },
    get agentLog() {
      return agentLog;
    },
    get conversation() {
      return present().conversation;
    },
    until: (holds) => present().until(holds),
    close: () => present().close(),
    said: () =>
      snapshotOf(present().conversation)
        .entries.filter(({ kind }) => kind === 'agent')
        .map(({ text }) => text)
        .join('\n'),
    openAgent(entry, options = {}) {
      const [agent] = parseAgents({ tested: entry }).agents;
      assert.ok(agent);
      session = testConversation({ ...options, agent, cwd: folder });
      return session;
    },
  };
}
