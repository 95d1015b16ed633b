// A real process in a terminal of the client: permission, live output with colours, exit, release.
import { basename } from 'node:path';
import { at } from '../input';
import type { ToolFields, Turn } from '../turn';

/**
 * What the command runs: it prints and does nothing else. Double quotes only, so that it reads well
 * in the panel.
 */
const PROGRAM = [
  'const steps = ["resolve", "compile", "link", "test", "naïve café ✓"];',
  'let i = 0;',
  'const timer = setInterval(() => {',
  '  const colour = 31 + i;',
  '  console.log("\\u001b[" + colour + "m● \\u001b[1m" + steps[i] + "\\u001b[0m \\u001b[2m" + (i + 1) + "/" + steps.length + "\\u001b[0m");',
  '  if (++i === steps.length) { clearInterval(timer); console.log("\\u001b[32;1mdone\\u001b[0m, and nothing was changed"); }',
  '}, 300);',
].join('\n');

export async function terminal(turn: Turn): Promise<void> {
  if (!turn.session.can.terminals) {
    await turn.say('Your client did not offer me terminals, so there is nothing to run a command in.\n');
    return;
  }
  const command = process.execPath;
  const args = ['-e', PROGRAM];
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
    const created = await turn.call('terminal/create', {
      command,
      args,
      // In VS Code the program that runs this agent is Electron, which is a plain Node with this
      // variable.
      env: [{ name: 'ELECTRON_RUN_AS_NODE', value: '1' }],
      cwd: turn.session.cwd,
      outputByteLimit: 64 * 1024,
    });
    await follow(turn, String(at(created, 'terminalId')), tool.change);
  } catch (error) {
    turn.signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    await tool.change({ status: 'failed', rawOutput: { reason } });
    await turn.say(`Your client could not run it: ${reason}\n`);
  }
}

async function follow(turn: Turn, terminalId: string, change: (fields: ToolFields) => Promise<void>): Promise<void> {
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
