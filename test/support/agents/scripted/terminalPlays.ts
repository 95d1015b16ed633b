// The plays that use a client's terminals, as no agent in the wild does today: whole lives of
// processes, kills, limits, releases.
import { at } from '../../../../src/base/untrusted';
import type { AgentTurn, Play } from './plays';

/**
 * Starts a program of Node in the client's terminal.
 * @returns its id, or undefined if the client refused
 */
async function create(turn: AgentTurn, program: string, extra: object = {}): Promise<string | undefined> {
  const result = await turn.askAloud('create', 'terminal/create', {
    command: process.execPath,
    args: ['-e', program],
    env: [{ name: 'PARLEY_TEST', value: 'passed on' }],
    ...extra,
  });
  const id = at(result, 'terminalId');
  return typeof id === 'string' ? id : undefined;
}

async function embed(turn: AgentTurn, toolCallId: string, terminalId: string): Promise<void> {
  await turn.update({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: 'A command',
    kind: 'execute',
    status: 'in_progress',
    content: [{ type: 'terminal', terminalId }],
  });
}

async function end(turn: AgentTurn, toolCallId: string, terminalId: string): Promise<void> {
  await turn.askAloud('output', 'terminal/output', { terminalId });
  await turn.askAloud('release', 'terminal/release', { terminalId });
  await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
}

const lasting = 'console.log("started"); setInterval(() => {}, 60000)';

export const terminalPlays: Record<string, Play> = {
  terminal: async (turn, rest) => {
    const terminalId = await create(
      turn,
      rest || 'console.log("out " + process.env.PARLEY_TEST); console.error("err"); process.exitCode = 3',
    );
    if (terminalId === undefined) return;
    await embed(turn, 'terminal', terminalId);
    await turn.askAloud('exit', 'terminal/wait_for_exit', { terminalId });
    await end(turn, 'terminal', terminalId);
  },
  /** Waits for the end of a process that it kills; the id stays valid until it is released. */
  'terminal-kill': async (turn) => {
    const terminalId = await create(turn, lasting);
    if (terminalId === undefined) return;
    await embed(turn, 'kill', terminalId);
    const exit = turn.askAloud('exit', 'terminal/wait_for_exit', { terminalId });
    await turn.askAloud('kill', 'terminal/kill', { terminalId });
    await exit;
    await end(turn, 'kill', terminalId);
  },
  /** Output beyond its limit: the end is kept, cut between characters. */
  'terminal-limit': async (turn, rest) => {
    const program = 'process.stdout.write("é".repeat(5000) + "END")';
    const terminalId = await create(turn, program, { outputByteLimit: Number(rest || 100) });
    if (terminalId === undefined) return;
    await turn.askAloud('exit', 'terminal/wait_for_exit', { terminalId });
    await turn.askAloud('output', 'terminal/output', { terminalId });
    await turn.askAloud('release', 'terminal/release', { terminalId });
  },
  /** Releases a process that runs, which ends it, and uses the id once more. */
  'terminal-release': async (turn) => {
    const terminalId = await create(turn, lasting);
    if (terminalId === undefined) return;
    await embed(turn, 'released', terminalId);
    await turn.askAloud('release', 'terminal/release', { terminalId });
    await turn.askAloud('output', 'terminal/output', { terminalId });
  },
  /** A command that does not exist, and an id that was never given. */
  'terminal-missing': async (turn) => {
    await turn.askAloud('create', 'terminal/create', { command: 'there-is-no-such-program-7f3a' });
    await turn.askAloud('output', 'terminal/output', { terminalId: 'never-given' });
  },
  /** Leaves a process running at the end of the turn: the client ends it with the session. */
  'terminal-leave': async (turn) => {
    const terminalId = await create(
      turn,
      `require("fs").writeFileSync(1, String(process.pid) + "\\n"); setInterval(() => {}, 60000)`,
    );
    if (terminalId !== undefined) await embed(turn, 'left', terminalId);
  },
};
