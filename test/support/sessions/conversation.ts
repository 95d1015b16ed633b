// A conversation in plain Node: what the extension composes, with files on disk instead of VS
// Code's editor and the test agents in memory.
import { strict as assert } from 'node:assert';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import { agentEnvironment } from '../../../src/agents/agentEnvironment';
import { ParleyError } from '../../../src/base/errors';
import { type Log, silentLog } from '../../../src/base/log';
import type { SessionOpenStrategy } from '../../../src/client/connection/sessionOpenStrategy';
import { Conversation } from '../../../src/client/conversation/conversation';
import type { ConversationServices } from '../../../src/client/conversation/conversationOptions';
import type { ConversationPersistence, KeptConversation } from '../../../src/client/conversation/persistence';
import type { FilePort } from '../../../src/client/ports/ports';
import { AgentFiles } from '../../../src/client/requests/agentFiles';
import { Terminals } from '../../../src/client/terminals/terminals';
import { snapshotOf } from '../../../src/client/view/snapshot';
import { Changes } from '../../../src/session/model/changes';
import { WireAccount } from '../protocol/wireAccount';
import { startInMemory } from './memoryAgents';

export function diskFiles(): FilePort {
  return {
    readText(path) {
      return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        throw new ParleyError(
          error.code === 'ENOENT' ? 'file-not-found' : 'file-unreadable',
          `${path} cannot be read.`,
          { cause: error },
        );
      });
    },
    async writeText(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
  };
}

export interface TestConversationOptions {
  readonly agent: AgentDefinition;
  readonly cwd: string;
  /** Absent: only `cwd`. */
  readonly roots?: readonly string[];
  readonly opening?: SessionOpenStrategy;
  readonly files?: FilePort;
  readonly log?: Log;
  readonly services?: Partial<ConversationServices>;
  /** Ours of the session; absent: `test`. */
  readonly key?: string;
  readonly persistence?: ConversationPersistence;
  readonly kept?: KeptConversation;
  readonly isHeld?: boolean;
}

export interface TestConversation {
  readonly conversation: Conversation;
  until(holds: (conversation: Conversation) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** The agent of an entry in the settings. */
export function parseAgent(entry: unknown, id = 'scripted'): AgentDefinition {
  const [agent] = parseAgents({ [id]: entry }).agents;
  assert.ok(agent);
  return agent;
}

export const queuedTexts = ({ queue }: Pick<Conversation, 'queue'>): string[] => queue.items.map(({ text }) => text);

/** Text and state of each queued message, as programs see them. */
export const queueStates = (conversation: Conversation): (readonly [text: string, state: string])[] =>
  snapshotOf(conversation).queue.map(({ text, state }) => [text, state]);

export const stopReasons = ({ model }: Pick<Conversation, 'model'>): (string | undefined)[] =>
  model.state.turns.map(({ stopReason }) => stopReason);

export const agentText = (conversation: Conversation): string =>
  snapshotOf(conversation)
    .entries.filter(({ kind }) => kind === 'agent')
    .map(({ text }) => text)
    .join('');

/** What was said, as `kind: text`. */
export const spokenIn = (conversation: Conversation, kinds: readonly string[] = ['user', 'agent']): string[] =>
  snapshotOf(conversation).entries.flatMap(({ kind, text }) => (kinds.includes(kind) ? [`${kind}: ${text}`] : []));

const environment = async (): Promise<Record<string, string>> => agentEnvironment(process.env, undefined);

export function testServices(terminals: Terminals, log: Log, port = diskFiles()): ConversationServices {
  return {
    log,
    clock: { now: () => Date.now() },
    client: { name: 'parley-test', title: 'Parley', version: '0.0.0' },
    environment,
    startProcess: startInMemory,
    filesFor: (agentName, _result, given) => new AgentFiles(port, { agentName }, given),
    terminals,
    isTrusted: () => true,
    startTimeoutMs: () => 10_000,
    afterCancel: () => 'pause',
  };
}

export function testTerminals(log: Log): Terminals {
  return new Terminals({ log, env: environment, isTrusted: () => true });
}

export function testConversation(options: TestConversationOptions): TestConversation {
  const log = options.log ?? silentLog;
  const terminals = testTerminals(log);
  const account = new WireAccount();
  const conversation = new Conversation({
    key: options.key ?? 'test',
    ...(options.persistence && { persistence: options.persistence }),
    ...(options.kept && { kept: options.kept }),
    ...(options.isHeld && { isHeld: true }),
    agent: options.agent,
    cwd: options.cwd,
    roots: options.roots ?? [options.cwd],
    ...(options.opening && { opening: options.opening }),
    services: {
      ...testServices(terminals, log, options.files),
      ...options.services,
      onTraffic: (key, dir, line) => {
        // What goes to an HTTP agent is of another protocol.
        if (options.agent.type !== 'communication' && (dir === 'in' || dir === 'out')) account.note(dir, line);
        options.services?.onTraffic?.(key, dir, line);
      },
    },
  });
  const waiting = new Set<() => void>();
  const changes = new Changes(() => {
    changes.reset();
    for (const look of [...waiting]) look();
  });
  conversation.model.observe(changes);
  return {
    conversation,
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds(conversation)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async close() {
      await conversation.close();
      terminals.dispose();
      assert.deepEqual(account.problems.splice(0), [], 'what the client sent fits the official schema');
    },
  };
}
