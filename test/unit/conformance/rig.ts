// A conversation with the reference agent, which fails if the agent detects a broken rule.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import type { Log } from '../../../src/base/log';
import type { ConversationServices } from '../../../src/client/conversation/conversationOptions';
import { type SnapshotEntry, snapshotOf } from '../../../src/client/view/snapshot';
import { calledMethods, readAgentLog } from '../../support/agents/definition';
import { readViolations, referenceAgent } from '../../support/agents/reference/referenceDefinition';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';
import { removeScratch, scratchFolder } from '../../support/scratch';
import {
  type TestConversation,
  type TestConversationOptions,
  testConversation,
} from '../../support/sessions/conversation';

export class Rig {
  folder = '';
  warnings: string[] = [];
  readonly #version: 1 | 2;
  #logs: string[] = [];
  #sessions: TestConversation[] = [];

  private constructor(version: 1 | 2) {
    this.#version = version;
  }

  /** A rig that is reset for each test of the suite, and closed after it. */
  static each(version: 1 | 2): Rig {
    const rig = new Rig(version);
    beforeEach(async () => {
      rig.folder = await scratchFolder();
      rig.warnings = [];
      rig.#logs = [];
      rig.#sessions = [];
    });
    afterEach(async () => {
      await rig.close();
      await removeScratch();
    });
    return rig;
  }

  open(
    script: ReferenceScript,
    services: Partial<ConversationServices> = {},
    more: Partial<TestConversationOptions> = {},
  ): TestConversation {
    const agentLog = join(this.folder, `agent-${this.#logs.length}.ndjson`);
    this.#logs.push(agentLog);
    const note = (line: string): void => void this.warnings.push(line);
    const log: Log = { trace() {}, debug() {}, info: note, warn: note, error: note };
    const entry = { ...referenceAgent(script, agentLog), protocol: this.#version };
    const [agent] = parseAgents({ reference: entry }).agents;
    const opened = testConversation({ agent: agent as AgentDefinition, cwd: this.folder, log, services, ...more });
    this.#sessions.push(opened);
    return opened;
  }

  get session(): TestConversation {
    const last = this.#sessions.at(-1);
    assert.ok(last);
    return last;
  }

  get conversation(): TestConversation['conversation'] {
    return this.session.conversation;
  }

  get methods(): readonly string[] {
    return calledMethods(this.agentLog);
  }

  /** Without requests for the title, which only lists make. */
  get sessionMethods(): readonly string[] {
    return this.methods.filter((method) => method !== 'session/list');
  }

  get agentLog(): ReturnType<typeof readAgentLog> {
    return readAgentLog(this.#logs.at(-1) ?? '');
  }

  said(kind: SnapshotEntry['kind'] = 'agent'): string {
    return this.entries
      .filter((entry) => entry.kind === kind)
      .map(({ text }) => text)
      .join('\n');
  }

  get entries(): readonly SnapshotEntry[] {
    return snapshotOf(this.conversation).entries;
  }

  get turns(): ReturnType<typeof snapshotOf>['turns'] {
    return snapshotOf(this.conversation).turns;
  }

  async send(text: string): Promise<string> {
    return (await this.conversation.send(text).done).stopReason;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.close();
    assert.deepEqual(this.#logs.flatMap(readViolations), []);
  }
}
