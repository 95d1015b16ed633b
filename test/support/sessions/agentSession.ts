// The conversation of one test with an agent of ours, its folder and its agent's log. An agent that saw a rule broken fails the test.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { parseAgents } from '../../../src/agents/agentDefinition';
import { snapshotOf } from '../../../src/client/view/snapshot';
import { readAgentLog } from '../agents/definition';
import { removeScratch, scratchFolder } from '../scratch';
import { type TestConversation, type TestConversationOptions, testConversation } from './conversation';

/** The conversation that was opened last, and what the test needs of it. */
export interface AgentSession extends TestConversation {
  /** The agent's folder, empty at first. */
  readonly folder: string;
  /** Where the agent writes what it sees. */
  readonly agentLog: string;
  /** What the agent said, a line for each message. */
  said(): string;
  /** Begins a conversation. @param entry the agent as the settings hold it */
  openAgent(entry: unknown, options?: Omit<TestConversationOptions, 'agent' | 'cwd'>): TestConversation;
}

/** Registers the hooks. Call it inside a `describe`, and read the result inside of tests only. */
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
