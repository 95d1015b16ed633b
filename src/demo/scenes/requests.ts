// Scenes that request something from the client or the user.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { at } from '../../base/untrusted';
import type { ToolFields, Turn } from '../session';

const FILE_NAME = 'parley-demo.md';
const FIRST_TEXT = '# Written by the demo agent\n\nYou allowed this file. Delete it whenever you like.\n';

export async function edit(turn: Turn): Promise<void> {
  const { can, cwd, version } = turn.session;
  if (version === 1 && !can.writeFiles) {
    await turn.say(
      'Your client did not offer me its file system (`fs.writeTextFile`), so I have nothing to write with. A pity.\n',
    );
    return;
  }
  const path = join(cwd, FILE_NAME);
  const oldText = await readText(turn, path);
  const newText = `${oldText === undefined ? FIRST_TEXT : withNewline(oldText)}- ${lineOf(turn)}\n`;
  await turn.say(
    `I would like to ${oldText === undefined ? 'create' : 'add a line to'} \`${FILE_NAME}\`. Nothing is written before you agree.\n`,
  );

  const line = newText.split('\n').length - 1;
  const fields: ToolFields = {
    title: `Write ${FILE_NAME}`,
    kind: 'edit',
    locations: [{ path, line }],
    content: [{ type: 'diff', path, oldText: oldText ?? null, newText }],
    rawInput: { path, content: newText },
  };
  const tool = await turn.tool(fields);
  const decision = await turn.mayI(tool.id, fields);
  if (decision === 'no' || decision === 'dismissed') {
    await tool.change({ status: 'failed', rawOutput: { written: false, reason: decision } });
    await turn.say('Understood: the file stays as it is.\n');
    return;
  }
  await tool.change({ status: 'in_progress' });
  try {
    if (version === 2) await writeFile(path, newText);
    else await turn.call('fs/write_text_file', { path, content: newText });
  } catch (error) {
    turn.signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    await tool.change({ status: 'failed', rawOutput: { written: false, reason } });
    await turn.say(`The file could not be written: ${reason}\n`);
    return;
  }
  await tool.change({ status: 'completed', rawOutput: { written: true, characters: newText.length } });
  const always =
    decision === 'always' ? ' You said *always*, so I switched the mode to **Auto** and will not ask again.' : '';
  await turn.say(`Done: \`${FILE_NAME}\` has one more line. Click the location to see it.${always}\n`);
}

/** Returns the text of a file; undefined if it does not exist. */
async function readText(turn: Turn, path: string): Promise<string | undefined> {
  const { can, version } = turn.session;
  if (version === 1 && !can.readFiles) return undefined;
  try {
    const content =
      version === 2 ? await readFile(path, 'utf8') : at(await turn.call('fs/read_text_file', { path }), 'content');
    return typeof content === 'string' && content !== '' ? content : undefined;
  } catch {
    turn.signal.throwIfAborted();
    return undefined;
  }
}

function lineOf(turn: Turn): string {
  const wanted = turn.prompt.text.replace(/^\/edit\s*/, '').split('\n', 1)[0];
  return wanted || `A line, added ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`;
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

const requestedSchema = {
  type: 'object',
  title: 'A new project',
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'Lower case, without spaces',
      minLength: 2,
      pattern: '^[a-z-]+$',
    },
    kind: {
      type: 'string',
      title: 'What shall it be?',
      oneOf: [
        { const: 'library', title: 'A library' },
        { const: 'service', title: 'A service' },
      ],
      default: 'library',
    },
    tests: { type: 'boolean', title: 'With tests', default: true },
  },
  required: ['name', 'kind'],
} as const;

export async function form(turn: Turn): Promise<void> {
  if (!turn.session.can.forms) {
    await turn.say(
      'Your client did not offer me forms (`elicitation.form`), so I would have to ask one thing after the other.\n',
    );
    return;
  }
  await turn.say('Three questions at once, and none of them is answered before you press **Submit**.\n');
  const answer = await turn.call('elicitation/create', {
    mode: 'form',
    message: 'What shall I make? (I make nothing: this is the demo.)',
    requestedSchema,
  });
  if (at(answer, 'action') !== 'accept') {
    await turn.say(`You chose *${String(at(answer, 'action'))}*, so I know nothing and do nothing.\n`);
    return;
  }
  const name = String(at(answer, 'content', 'name'));
  const kind = String(at(answer, 'content', 'kind'));
  const tests = at(answer, 'content', 'tests') === true ? 'with' : 'without';
  await turn.say(`A ${kind} called \`${name}\`, ${tests} tests. That is what I was told, word for word.\n`);
}

/** The terminal's program, which only prints. Double quotes only, for readability. */
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

/** In VS Code the agent runs in Electron, which acts as plain Node with this variable. */
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
    // Runs even when cancelled, so without signal and await. Releasing kills the process.
    const { wire, id } = turn.session;
    const released = wire.request('terminal/release', { sessionId: id, terminalId }, new AbortController().signal);
    const settled = released.catch(() => undefined);
    if (!turn.signal.aborted) await settled;
  }
}
