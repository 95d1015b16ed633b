// The conversation of one test with a scripted agent in a folder with a Git repository, and what
// its turns change there.
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation } from '../../../src/client/conversation/conversation';
import type { ConversationServices } from '../../../src/client/conversation/conversationOptions';
import type { ConversationPersistence, KeptConversation } from '../../../src/client/conversation/persistence';
import type { TimedEvent } from '../../../src/session/events/event';
import { scriptedAgent } from '../agents/definition';
import { removeFolder, scratchFolder } from '../scratch';
import type { AgentSession } from '../sessions/agentSession';
import { useAgentSession } from '../sessions/agentSession';
import type { TestConversationOptions } from '../sessions/conversation';
import { modelOf } from '../store/journals';
import { TestChangeServices } from './changeServices';

const MEMORY: ConversationPersistence = {
  claim: () => true,
  verify() {},
  together: (run) => run(),
  events() {},
  describe() {},
  draft() {},
  place() {},
  added() {},
  changed() {},
  state() {},
  order() {},
  removed() {},
  paused() {},
};

export interface ChangeSession {
  readonly session: AgentSession;
  readonly changes: TestChangeServices;
  git(...args: string[]): string;
  path(name: string): string;
  /** What a journal would have of the session now, to open it again. */
  kept(): KeptConversation;
  open(options?: Omit<TestConversationOptions, 'agent' | 'cwd'>): Conversation;
  started(): Promise<Conversation>;
  turn(text: string): Promise<string>;
  listed(turnId: string): Promise<string[]>;
}

/**
 * Registers the hooks. The folder has `a.txt` (one, two, three) and `b.txt`, committed.
 * @param processes how agents start; absent: in memory
 */
export function useChangeSession(processes: Pick<ConversationServices, 'startProcess'> = {}): ChangeSession {
  const session = useAgentSession();
  let changes: TestChangeServices;
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: session.folder, encoding: 'utf8' });

  let template: string;
  before(async () => {
    template = await mkdtemp(join(tmpdir(), 'parley-test-'));
    const gitThere = (...args: string[]): unknown => execFileSync('git', args, { cwd: template });
    gitThere('init', '-q');
    await writeFile(join(template, 'a.txt'), 'one\ntwo\nthree\n');
    await writeFile(join(template, 'b.txt'), 'b\n');
    gitThere('add', '.');
    gitThere('-c', 'user.name=T', '-c', 'user.email=t@t', 'commit', '-qm', 'first');
  });
  after(() => removeFolder(template));

  beforeEach(async () => {
    changes = new TestChangeServices(await scratchFolder());
    await cp(template, session.folder, { recursive: true, preserveTimestamps: true });
  });

  const events: TimedEvent[] = [];
  const persistence = {
    ...MEMORY,
    events: (more: readonly TimedEvent[]) => void events.push(...structuredClone(more)),
  };
  beforeEach(() => {
    events.length = 0;
  });

  const open: ChangeSession['open'] = (options = {}) => {
    const services = { changes, ...processes, ...options.services };
    const agent = scriptedAgent('plain', session.agentLog);
    return session.openAgent(agent, { persistence, ...options, services }).conversation;
  };
  return {
    session,
    get changes() {
      return changes;
    },
    git,
    kept: () => ({
      model: modelOf(events),
      queue: [],
      draft: { text: '', revision: 0 },
      attachments: [],
    }),
    path: (name) => join(session.folder, name),
    open,
    async started() {
      const conversation = open();
      await conversation.start();
      await conversation.changes.settled();
      return conversation;
    },
    async turn(text) {
      const { turnId } = await session.conversation.send(text).done;
      await session.conversation.changes.settled();
      return turnId;
    },
    listed: async (turnId) =>
      (await session.conversation.changes.changesOf(turnId)).map(({ path, oldPath, added, removed, before, after }) => {
        const kind = before ? (after ? '' : 'gone ') : 'new ';
        return `${kind}${oldPath === undefined ? '' : `${oldPath} → `}${path} +${added} −${removed}`;
      }),
  };
}
