// The tools of the editor on this repository, with VS Code's own TypeScript: how long an agent waits for each, from its call to the answer, and how much it then has to read.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOOL_CALLER } from '../support/agents/toolCaller';
import { Chat } from '../support/vscode/chat';
import { openWindow } from '../support/vscode/openWindow';
import { repository, vsixPath } from '../support/vscode/repository';
import { typescriptFolder } from '../support/vscode/serverTree';
import { startServer } from '../support/vscode/startServer';
import { median, type Row, rounded } from './figures';

/** A symbol that half of the house uses. */
const SYMBOL = { symbol: 'ParleyError', path: 'src/base/errors.ts' };
const FILE = { path: 'src/client/conversation/conversation.ts' };
/** The first ones start the language server; those after it are counted apart. */
const CALLS: readonly (readonly [name: string, given: object])[] = [
  ['get_diagnostics', FILE],
  ['go_to_definition', { ...FILE, symbol: 'Conversation', line_text: 'export class Conversation' }],
  ['find_references', SYMBOL],
  ['find_implementations', { symbol: 'Disposable', path: 'src/base/disposable.ts' }],
  ['call_hierarchy', { symbol: 'messageOf', path: 'src/base/errors.ts' }],
  ['hover', SYMBOL],
  ['document_symbols', FILE],
  ['workspace_symbols', { query: 'Conversation' }],
  ['open_editors', {}],
  ['get_selection', {}],
  ['get_unsaved', {}],
];
const TIMES = 6;
/** Characters of a token of source text, for the bounds of the answers. */
const CHARACTERS_PER_TOKEN = 4;
const TURN_MS = 120_000;

interface Timed {
  readonly took: readonly number[];
  readonly characters: number;
  readonly begin: string;
}

/** Times are in milliseconds, of the middle of five calls after the first. */
export async function measureEditorTools(say: (line: string) => void): Promise<readonly Row[]> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'parley-editor-tools-')));
  const agent = join(scratch, 'agent.cjs');
  writeFileSync(agent, TOOL_CALLER);
  const folder = copyOfRepository(join(scratch, 'parley'));
  const settings = {
    'parley.agents': { caller: { name: 'Caller', command: process.execPath, args: [agent] } },
    'parley.defaultAgent': 'caller',
    'typescript.tsdk': await typescriptFolder(),
  };
  const server = await startServer({ settings, say, folder, extensions: [vsixPath], allBuiltIns: true });
  try {
    const window = await openWindow(server, { say });
    const chat = await Chat.open(window.page);
    const answer = async (text: string): Promise<string> => {
      await chat.send(text);
      const end = await chat.turnEnd(TURN_MS);
      if (end !== 'end_turn') throw new Error(`${text} ended with ${end}`);
      return (await chat.entries('agent').last().locator('pre').innerText()).trim();
    };
    const rows: Row[] = [];
    const row = (name: string, value: number, unit: string, target?: number): Row => ({
      name: `editor tools on this repository: ${name}`,
      value: rounded(value),
      unit,
      ...(target !== undefined && { target }),
      better: 'lower',
    });
    rows.push(row('list of the tools', Number(await answer('size')) / CHARACTERS_PER_TOKEN, 'tokens', 2000));
    for (const [name, given] of CALLS) {
      const { took, characters, begin } = JSON.parse(
        await answer(JSON.stringify({ name, arguments: given, times: TIMES })),
      ) as Timed;
      const [first = Number.NaN, ...others] = took;
      say(`${name}: first ${rounded(first)} ms; ${JSON.stringify(begin)}`);
      rows.push(row(`${name}, first`, first, 'ms'), row(`${name}, again`, median(others), 'ms'));
      rows.push(row(`${name}, answer`, characters / CHARACTERS_PER_TOKEN, 'tokens', 4000));
    }
    await window.close();
    return rows;
  } finally {
    await server.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The last commit, with the packages of the working tree. */
function copyOfRepository(folder: string): string {
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: repository, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['x'], { cwd: folder, input: archive });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
