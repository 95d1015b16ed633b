// Agents that are killed again and again at random moments, while messages are typed all along:
// what arrived, and how long it took until the session could be used again.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import type { Conversation } from '../../../src/client/conversation/conversation';
import type { ProcessStarter } from '../../../src/client/transport/agentTransport';
import type { SessionState } from '../../../src/session/model/state';
import { FaultWindow, keepingAgent } from '../faults/faultWindow';
import { kill } from '../processes';
import { scratchFolder } from '../scratch';
import type { TestConversation } from '../sessions/conversation';
import { seeded } from '../store/random';

/** How long a kill waits for a command, in milliseconds. */
export const COMMAND_MS = 500;
/** Kills in one session; a longer one would mostly measure its log. */
const KILLS_IN_SESSION = 20;
const WAITING = 'Once upon a time';
const COMMAND_LINES = 20;
const command = `let n = 0; const t = setInterval(() => { console.log("line " + n); if (++n === ${COMMAND_LINES}) clearInterval(t); }, 10)`;
export const PLAYS = [
  'sleep 20',
  'think Let me see\nsleep 50',
  'chunks 200\nsleep 20',
  `say ${WAITING}\nwait`,
  'update {"sessionUpdate":"tool_call","toolCallId":"t","title":"Bash","status":"in_progress"}\nsleep 80',
  'permission',
  'two-permissions',
  'say I shall\nhalf-line',
  'die 3',
  `terminal ${command}`,
  `terminal ${command}`,
  `terminal ${command}`,
] as const;

export interface SoakResult {
  readonly kills: number;
  readonly inCommands: number;
  readonly typed: number;
  readonly received: number;
  readonly lost: number;
  readonly twice: number;
  /** Milliseconds from each death to a session that can be used again, sorted. */
  readonly recoveries: readonly number[];
}

export type SoakAgent = 'can load' | 'can resume' | 'can do neither';

/**
 * Kills an agent so often.
 * @param check is called with each session at its end
 * @param startProcess absent: the agents are in memory
 */
export async function soak(
  kind: SoakAgent,
  kills: number,
  seed: number,
  check: (window: FaultWindow) => void,
  startProcess?: ProcessStarter,
): Promise<SoakResult> {
  const sums = { typed: 0, received: 0, lost: 0, twice: 0 };
  const recoveries: number[] = [];
  const counts = { inCommands: 0 };
  const random = seeded(seed);
  for (let done = 0; done < kills; ) {
    const count = Math.min(KILLS_IN_SESSION, kills - done);
    const folder = await scratchFolder();
    const reopens = kind === 'can load' ? 'load' : kind === 'can resume' ? 'resume' : undefined;
    const agent = keepingAgent(folder, { turnComplete: true, ...(reopens && { reopens }) });
    const { window, typed } = await session(folder, agent, count, random, recoveries, counts, startProcess);
    const row = window.account(kind, typed);
    for (const key of ['typed', 'received', 'lost', 'twice'] as const) sums[key] += row[key];
    check(window);
    await window.close();
    done += count;
  }
  return { kills, ...counts, ...sums, recoveries: recoveries.sort((a, b) => a - b) };
}

async function session(
  folder: string,
  agent: AgentDefinition,
  kills: number,
  random: (below: number) => number,
  recoveries: number[],
  counts: { inCommands: number },
  startProcess: ProcessStarter | undefined,
): Promise<{ window: FaultWindow; typed: readonly string[] }> {
  // By this clock each agent lives for more than a minute, so that the pauses before a restart do
  // not grow.
  let offset = 0;
  const window = new FaultWindow({
    folder,
    agent,
    services: { clock: { now: () => Date.now() + offset }, ...(startProcess && { startProcess }) },
  });
  const typed: string[] = [];
  const type = (play?: string): void => {
    const tag = `m${typed.length}`;
    typed.push(tag);
    window.type(tag, play);
  };
  type();
  await window.session.until((c) => c.connection.kind === 'ready' && !c.isBusy);
  for (let kill = 0; kill < kills; kill++) {
    offset += 61_000;
    for (let more = 1 + random(3); more > 0; more--) type(more === 1 ? undefined : PLAYS[random(PLAYS.length)]);
    window.letGo();
    if (random(2) === 0) await commandRuns(window.session);
    await recovery(window, random(120), recoveries, counts);
    if (random(2) === 0) type();
    if (random(3) > 0) await goOn(window);
  }
  await goOn(window);
  return { window, typed };
}

async function recovery(
  { session, conversation, agentPid }: FaultWindow,
  afterMs: number,
  times: number[],
  counts: { inCommands: number },
): Promise<void> {
  let diedAt: number | undefined;
  const died = session.until((c) => {
    if (c.connection.kind === 'ready') return false;
    diedAt ??= performance.now();
    return true;
  });
  await Promise.race([died, new Promise((resolve) => setTimeout(resolve, afterMs))]);
  if (conversation.connection.kind === 'ready') {
    diedAt = performance.now();
    if (runsCommand(conversation)) counts.inCommands++;
    killIfAlive(agentPid);
  }
  await died;
  await session.until((c) => c.connection.kind === 'ready');
  times.push(performance.now() - (diedAt ?? 0));
}

function runsCommand({ model }: Conversation): boolean {
  return [...model.state.terminals.values()].some(({ exit, released }) => !exit && !released);
}

async function commandRuns({ until }: TestConversation): Promise<void> {
  await Promise.race([until(runsCommand), new Promise((resolve) => setTimeout(resolve, COMMAND_MS))]);
}

export function assertCommands({ terminals }: Readonly<SessionState>): void {
  const whole = Array.from({ length: COMMAND_LINES }, (_, n) => `line ${n}`).join('\n');
  for (const { id, exit, output } of terminals.values())
    if (exit?.exitCode === 0) assert.equal(output.trim(), whole, `the output of ${id}`);
}

export function killIfAlive(pid: number): void {
  try {
    kill(pid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export async function goOn(window: FaultWindow): Promise<void> {
  const { conversation, session } = window;
  const isQuiet = (): boolean =>
    conversation.connection.kind === 'ready' && !conversation.isBusy && conversation.queue.items.length === 0;
  let stopped: string | undefined;
  while (!isQuiet()) {
    const { permissions, turn, entries } = conversation.model.state;
    for (const id of permissions.keys()) conversation.answerPermission(id, 'allow');
    const waits = entries.some(
      (entry) => entry.kind === 'agent' && entry.turnId === turn?.id && JSON.stringify(entry.content).includes(WAITING),
    );
    if (turn && waits && turn.id !== stopped) conversation.cancel();
    if (waits) stopped = turn?.id;
    const isAsked = conversation.queue.paused !== undefined || (!conversation.isBusy && window.inDoubt.length > 0);
    if (isAsked && conversation.connection.kind !== 'recovering') window.letGo();
    if (!isQuiet()) await nextChange(session);
  }
}

function nextChange({ until }: TestConversation): Promise<void> {
  let isNow = true;
  return until(() => {
    const hasChanged = !isNow;
    isNow = false;
    return hasChanged;
  });
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Kills the demo agent so often in the middle of its answer.
 * @returns milliseconds from each death to a session that can be used again, sorted
 */
export async function demoRecoveries(kills: number): Promise<readonly number[]> {
  const folder = await scratchFolder();
  const pidFile = join(folder, 'pid');
  const tellsPid = 'echo $$ > "$0"; exec "$1" "$2"';
  const args = ['-c', tellsPid, pidFile, process.execPath, join(process.cwd(), 'out/support/demo/agent.js')];
  const [agent] = parseAgents({ demo: { command: '/bin/sh', args } }).agents;
  if (!agent) throw new Error('the demo agent has no definition');
  let offset = 0;
  const window = new FaultWindow({ folder, agent, services: { clock: { now: () => Date.now() + offset } } });
  const { conversation, session } = window;
  const recoveries: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    offset += 61_000;
    const turns = conversation.model.state.turns.length;
    conversation.send('hello').done.catch(() => {});
    await session.until((c) => c.model.state.turns.length > turns && c.model.state.turn?.firstOutputAt !== undefined);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    const diedAt = performance.now();
    const died = session.until((c) => c.connection.kind !== 'ready');
    process.kill(pid, 'SIGKILL');
    await died;
    await session.until((c) => c.connection.kind === 'ready');
    recoveries.push(performance.now() - diedAt);
  }
  await window.close();
  return recoveries.sort((a, b) => a - b);
}
