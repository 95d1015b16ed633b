// A real edit: the diff first, then the question, then the write: in version 1 through the client
// and so through the editor, in version 2 by the agent itself.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at } from '../input';
import type { ToolFields, Turn } from '../turn';

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

/**
 * The text of a file; undefined where it does not exist. A client may answer with an error for
 * that, or with an empty text.
 */
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
