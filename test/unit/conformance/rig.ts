// A conversation with the reference agent: opens it, reads it, and fails where the agent found that the client broke a rule.
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
  readonly folder: string;
  readonly warnings: string[] = [];
  readonly #logs: string[] = [];
  readonly #sessions: TestConversation[] = [];

  readonly #version: 1 | 2;

  private constructor(folder: string, version: 1 | 2) {
    this.folder = folder;
    this.#version = version;
  }

  static async make(version: 1 | 2): Promise<Rig> {
    return new Rig(await scratchFolder(), version);
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

  get methods(): readonly string[] {
    return calledMethods(this.agentLog);
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
    return snapshotOf(this.session.conversation).entries;
  }

  get turns(): ReturnType<typeof snapshotOf>['turns'] {
    return snapshotOf(this.session.conversation).turns;
  }

  async send(text: string): Promise<string> {
    return (await this.session.conversation.send(text).done).stopReason;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.close();
    assert.deepEqual(this.#logs.flatMap(readViolations), []);
  }
}

export function eachRig(version: 1 | 2, take: (rig: Rig) => void): void {
  let rig: Rig;
  beforeEach(async () => {
    rig = await Rig.make(version);
    take(rig);
  });
  afterEach(async () => {
    await rig.close();
    await removeScratch();
  });
}
