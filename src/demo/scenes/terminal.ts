// A real process: permission, live output with colours, exit. In version 1 it runs in a terminal of
// the client, in version 2 the agent runs it and shows the output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { at } from '../input';
import type { ToolFields, Turn } from '../turn';

/**
 * What the command runs: it prints and does nothing else. Double quotes only, so that it reads well
 * in the panel.
 */
const programOf = (turn: Turn): string =>
  [
    'const steps = ["resolve", "compile", "link", "test", "naïve café ✓"];',
    'let i = 0;',
    'const timer = setInterval(() => {',
    '  const colour = 31 + i;',
    '  console.log("\\u001b[" + colour + "m● \\u001b[1m" + steps[i] + "\\u001b[0m \\u001b[2m" + (i + 1) + "/" + steps.length + "\\u001b[0m");',
    '  if (++i === steps.length) { clearInterval(timer); console.log("\\u001b[32;1mdone\\u001b[0m, and nothing was changed"); }',
    `}, ${10 * turn.session.settings.wordMs});`,
  ].join('\n');

/**
 * In VS Code the program that runs this agent is Electron, which is a plain Node with this
 * variable.
 */
const ENV = { ELECTRON_RUN_AS_NODE: '1' };

type Change = (fields: ToolFields) => Promise<void>;

export async function terminal(turn: Turn): Promise<void> {
  const isV2 = turn.session.version === 2;
  if (!isV2 && !turn.session.can.terminals) {
    await turn.say('Your client did not offer me terminals, so there is nothing to run a command in.\n');
    return;
  }
  const command = process.execPath;
  const args = ['-e', programOf(turn)];
  await turn.say('I would like to run a small program that prints a few coloured lines.\n');
  const fields: ToolFields = {
    title: `${basename(command)} -e "print five lines"`,
    kind: 'execute',
    rawInput: { command, args },
  };
  const tool = await turn.tool(fields);
  const decision = await turn.mayI(tool.id, fields);
  if (decision === 'no' || decision === 'dismissed') {
    await tool.change({ status: 'failed', rawOutput: { ran: false } });
    await turn.say('Understood: nothing was run.\n');
    return;
  }
  try {
    if (isV2) {
      await run(turn, command, args, tool.change);
      return;
    }
    const created = await turn.call('terminal/create', {
      command,
      args,
      env: Object.entries(ENV).map(([name, value]) => ({ name, value })),
      cwd: turn.session.cwd,
      outputByteLimit: 64 * 1024,
    });
    await follow(turn, String(at(created, 'terminalId')), tool.change);
  } catch (error) {
    turn.signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    await tool.change({ status: 'failed', rawOutput: { reason } });
    await turn.say(`The program could not be run: ${reason}\n`);
  }
}

/** Runs the program and shows its output as it comes. Cancelling the turn ends it. */
async function run(turn: Turn, command: string, args: readonly string[], change: Change): Promise<void> {
  const { cwd } = turn.session;
  const terminalId = turn.session.newId('terminal');
  const child = spawn(command, args, { cwd, env: { ...process.env, ...ENV }, signal: turn.signal });
  const exited = once(child, 'close');
  await turn.show({ sessionUpdate: 'terminal_update', terminalId, command: `${basename(command)} -e …`, cwd });
  await change({ status: 'in_progress', content: [{ type: 'terminal', terminalId }] });
  for await (const chunk of child.stdout)
    await turn.show({
      sessionUpdate: 'terminal_output_chunk',
      terminalId,
      data: Buffer.from(chunk as Uint8Array).toString('base64'),
    });
  const [exitCode] = (await exited) as [number | null];
  await turn.show({ sessionUpdate: 'terminal_update', terminalId, exitStatus: { exitCode } });
  await change({ status: exitCode === 0 ? 'completed' : 'failed', rawOutput: { exitCode } });
  await turn.say(`The program ended with exit code **${String(exitCode)}**. Its output stays above.\n`);
}

async function follow(turn: Turn, terminalId: string, change: Change): Promise<void> {
  try {
    await change({ status: 'in_progress', content: [{ type: 'terminal', terminalId }] });
    const exit = await turn.call('terminal/wait_for_exit', { terminalId });
    const output = await turn.call('terminal/output', { terminalId });
    const exitCode = at(exit, 'exitCode');
    await change({
      status: exitCode === 0 ? 'completed' : 'failed',
      rawOutput: { exitCode, output: at(output, 'output') },
    });
    await turn.say(
      `The program ended with exit code **${String(exitCode)}**. Its output stays above, although I have released the terminal.\n`,
    );
  } finally {
    // Also after a cancel, and then without the turn's signal and without waiting: releasing ends a
    // process that still runs.
    const { wire, id } = turn.session;
    const released = wire.request('terminal/release', { sessionId: id, terminalId }, new AbortController().signal);
    const settled = released.catch(() => undefined);
    if (!turn.signal.aborted) await settled;
  }
}
