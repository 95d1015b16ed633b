// A window that a test kills: a conversation with a real agent and a real journal, and the fate of
// each message that was typed in it.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import { silentLog } from '../../../src/base/log';
import type { Conversation } from '../../../src/client/conversation/conversation';
import type { ConversationServices } from '../../../src/client/conversation/conversationOptions';
import type { SessionState } from '../../../src/session/model/state';
import { isEnded } from '../../../src/session/model/tools';
import { type Machine, thisMachine } from '../../../src/store/file/machine';
import { Journal, type JournalOptions } from '../../../src/store/journal';
import { JournalPersistence, readKept } from '../../../src/workbench/sessions/journalPersistence';
import { type AgentLogLine, readAgentLog, scriptedAgent } from '../agents/definition';
import type { AgentScript } from '../agents/script';
import { goneFrom, kill } from '../processes';
import { removeScratch, scratchFolder } from '../scratch';
import { type TestConversation, testConversation } from '../sessions/conversation';
import { stateOf } from '../store/journals';
import type { FaultRow } from './faultTable';

const KEY = 'fault-1';
let windows = 0;

export interface FaultWindows {
  readonly folder: string;
  start(options?: Partial<FaultWindowOptions>): FaultWindow;
  forget(window: FaultWindow): void;
}

export interface FaultWindowOptions {
  readonly folder: string;
  readonly agent: AgentDefinition;
  readonly services?: Partial<ConversationServices>;
  readonly journal?: Partial<JournalOptions>;
  readonly key?: string;
  /** Milliseconds by which the system has run longer than it has, as after a sleep. */
  readonly slept?: () => number;
}

export function agentLogIn(folder: string): string {
  return join(folder, 'agent.ndjson');
}

export interface KeepingScript extends Pick<AgentScript, 'onCancel' | 'countsIds' | 'opensAfterMs'> {
  readonly reopens?: 'load' | 'resume';
  readonly turnComplete?: boolean;
}

export function keepingAgent(folder: string, { reopens, turnComplete, ...more }: KeepingScript = {}): AgentDefinition {
  const script: AgentScript = {
    ...more,
    sessions: { store: join(folder, 'sessions'), load: reopens === 'load' },
    capabilities: { sessionCapabilities: reopens === 'resume' ? { resume: {} } : {} },
    ...(turnComplete && { turnComplete: { when: 'before' } }),
  };
  const [agent] = parseAgents({
    keeper: {
      name: 'Keeper',
      ...scriptedAgent(script, agentLogIn(folder)),
    },
  }).agents;
  assert.ok(agent);
  return agent;
}

export function machineOf(window: number, slept = () => 0): Machine {
  return {
    ...thisMachine,
    pid: process.pid * 1000 + window,
    ticks: () => thisMachine.ticks() + slept(),
    isAlive: (pid) => thisMachine.isAlive(Math.floor(pid / 1000)),
    // As macOS and Windows: what counts of a process that runs is its heartbeat.
    startOf: () => undefined,
  };
}

export class FaultWindow {
  readonly journal: Journal;
  readonly session: TestConversation;
  readonly isHeld: boolean;
  readonly key: string;
  readonly #folder: string;
  readonly #windowId: string;

  constructor({ folder, agent, services, journal, key = KEY, slept }: FaultWindowOptions) {
    this.#folder = folder;
    this.key = key;
    const machine = machineOf(++windows, slept);
    this.#windowId = `window-${machine.pid}`;
    this.journal = Journal.open({
      folder: join(folder, 'journal'),
      log: silentLog,
      now: Date.now,
      machine,
      ...journal,
    });
    const known = this.journal.session(key) !== undefined;
    this.isHeld = known && this.journal.claim(key, this.#windowId).kind !== 'owned';
    const kept = known ? readKept(this.journal, key) : undefined;
    const facts = { key, agentId: agent.id, cwd: folder, roots: [folder] };
    this.session = testConversation({
      agent,
      cwd: folder,
      key,
      persistence: new JournalPersistence(
        { journal: this.journal, log: silentLog, windowId: this.#windowId, session: facts },
        known,
      ),
      services: { restarts: () => true, ...services },
      isHeld: this.isHeld,
      ...(kept && { kept }),
    });
    this.journal.onDidLoseSession(() => void this.conversation.becomeReadOnly());
  }

  get conversation(): Conversation {
    return this.session.conversation;
  }

  get log(): readonly AgentLogLine[] {
    return readAgentLog(agentLogIn(this.#folder));
  }

  get agentPid(): number {
    return this.log.findLast(({ ev }) => ev === 'start')?.pid ?? 0;
  }

  type(tag: string, play = ''): void {
    this.conversation.send(play === '' ? `say <${tag}>` : `${play}\nsay <${tag}>`).done.catch(() => {});
  }

  async killAgent(): Promise<void> {
    const pid = this.agentPid;
    kill(pid);
    await goneFrom(pid);
  }

  async untilLogged(holds: (line: AgentLogLine) => boolean): Promise<void> {
    while (!this.log.some(holds)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  letGo(): void {
    const { conversation } = this;
    const got = this.#received();
    const isGot = ({ text }: { readonly text: string }) => tagsIn(text).every((tag) => got.has(tag));
    for (const item of this.inDoubt.filter(isGot)) conversation.queueActions.remove(item.id);
    // One at a time: to send a message now stops the turn of the one before.
    const [again] = this.inDoubt;
    if (again && !conversation.isBusy) conversation.queueActions.sendNow(again.id);
    if (conversation.queue.paused !== undefined || conversation.connection.kind !== 'ready')
      conversation.queueActions.resume();
  }

  async goOn(): Promise<void> {
    do {
      this.letGo();
      await this.session.until((c) => c.connection.kind === 'ready' && !c.isBusy);
    } while (this.inDoubt.length > 0);
    await this.session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.queue.items.length === 0);
  }

  get inDoubt() {
    return this.conversation.queue.items.filter(({ doubtful }) => doubtful);
  }

  account(fault: string, typed: readonly string[], asked = 0): FaultRow {
    const received = this.#received();
    const waiting = new Set(this.conversation.queue.items.flatMap(({ text }) => tagsIn(text)));
    return {
      fault,
      typed: typed.length,
      received: typed.filter((tag) => received.has(tag)).length,
      lost: typed.filter((tag) => !received.has(tag) && !waiting.has(tag)).length,
      twice: typed.filter((tag) => (received.get(tag) ?? 0) > 1).length,
      asked,
    };
  }

  lose(): void {
    this.conversation.link?.dispose();
    this.journal.dispose();
  }

  async close(): Promise<void> {
    await this.session.close();
    this.journal.dispose();
  }

  #received(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { dir, msg } of this.log) {
      if (dir !== 'in' || msg?.method !== 'session/prompt') continue;
      const { prompt } = msg.params as { readonly prompt: readonly { readonly text?: string }[] };
      for (const tag of tagsIn(prompt[0]?.text ?? '')) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
    return counts;
  }
}

export function tagsIn(text: string): string[] {
  return [...text.matchAll(/<(\w+)>/g)].map(([, tag = '']) => tag);
}

export function assertKept({ journal, key, conversation }: FaultWindow, why = 'what is kept is what is shown'): void {
  const { events } = journal.events(key);
  assert.deepEqual(stateOf(events), structuredClone(conversation.model.state), why);
}

/**
 * What must hold of a transcript while nothing runs.
 * @param typed the messages in the order in which they were to be sent; absent: in any, as the user
 * may send one before those that wait
 */
export function assertWhole(state: Readonly<SessionState>, typed?: readonly string[]): void {
  assert.equal(state.turn, undefined, 'no turn runs');
  assert.equal(state.permissions.size, 0, 'no question is open');
  const ends = new Map<string, number>();
  for (const [index, entry] of state.entries.entries()) {
    assert.equal(entry.index, index);
    if (entry.kind === 'turn_end') ends.set(entry.turnId, (ends.get(entry.turnId) ?? 0) + 1);
    if (entry.kind === 'tool') assert.ok(isEnded(entry.status), `the call ${entry.toolCallId} is ${entry.status}`);
  }
  for (const turn of state.turns) {
    assert.equal(ends.get(turn.id), 1, `turn ${turn.id} has one end`);
    assert.ok(turn.stopReason !== undefined && turn.barrier !== undefined);
    if (turn.cancelRequested) assert.notEqual(turn.stopReason, 'end_turn', 'what was stopped is not shown as done');
    if (turn.barrier === 'exit') assert.notEqual(turn.stopReason, 'end_turn', 'what broke off is not shown as done');
  }
  const order = state.entries.flatMap((entry) =>
    entry.kind === 'user'
      ? tagsIn(entry.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
      : [],
  );
  if (typed) {
    assert.deepEqual(
      [...new Set(order)],
      typed.filter((tag) => order.includes(tag)),
      'the order is kept',
    );
  }
  const answers = state.entries.flatMap((entry) =>
    entry.kind === 'agent'
      ? tagsIn(entry.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
      : [],
  );
  assert.deepEqual(answers, [...new Set(answers)], 'no answer stands here twice');
}

/**
 * Windows over one folder, for the tests of a `describe`; closes those left open after each test.
 */
export function useFaultWindows(script: Parameters<typeof keepingAgent>[1] = {}): FaultWindows {
  let folder = '';
  const open: FaultWindow[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
  });

  afterEach(async () => {
    for (const window of open.splice(0)) await window.close();
    await removeScratch();
  });

  return {
    get folder() {
      return folder;
    },
    start(options = {}) {
      const window = new FaultWindow({ folder, agent: keepingAgent(folder, script), ...options });
      open.push(window);
      return window;
    },
    forget(window) {
      open.splice(open.indexOf(window), 1);
    },
  };
}
