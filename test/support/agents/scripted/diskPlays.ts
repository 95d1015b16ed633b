// Plays of an agent that changes files by itself, without its client: through its own tools and through commands. Paths are relative to the session's folder.
import { execSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AgentTurn, Play } from './plays';

function put(path: string, text: string): void {
  mkdirSync(dirname(resolve(path)), { recursive: true });
  writeFileSync(path, text.replaceAll('\\n', '\n'));
}

/** A tool call that says what it changed. */
async function tell(turn: AgentTurn, path: string, oldText: string | null, newText: string): Promise<void> {
  const toolCallId = `edit-${path}`;
  const content = [{ type: 'diff', path: resolve(path), oldText, newText }];
  await turn.update({ sessionUpdate: 'tool_call', toolCallId, title: `Edit ${path}`, kind: 'edit', content });
  await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
}

export const diskPlays: Record<string, Play> = {
  /** `own PATH TEXT`: writes a file and says nothing about it. */
  own: async (_turn, rest) => {
    const [, path = '', text = ''] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
    put(path, text);
  },
  /** `edit PATH TEXT`: writes a file and says so in a tool call with a diff. */
  edit: async (turn, rest) => {
    const [, path = '', text = ''] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
    const shown = text.replaceAll('\\n', '\n');
    let before: string | null = null;
    try {
      before = readFileSync(path, 'utf8');
    } catch {}
    put(path, text);
    await tell(turn, path, before, shown);
  },
  /** `edit-formatted PATH TEXT`: as `edit`, and a formatter ends each line with a semicolon. */
  'edit-formatted': async (turn, rest) => {
    const [, path = '', text = ''] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
    const shown = text.replaceAll('\\n', '\n');
    put(path, shown.replaceAll('\n', ';\n'));
    await tell(turn, path, null, shown);
  },
  /** `run COMMAND`: runs a command with the shell of the system, as a finished tool call. */
  run: async (turn, rest) => {
    const toolCallId = `run-${rest}`;
    await turn.update({ sessionUpdate: 'tool_call', toolCallId, title: rest, kind: 'execute', status: 'in_progress' });
    execSync(rest, { stdio: 'ignore' });
    await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  },
  /** `own-later PATH TEXT`: writes a file after the turn has ended, and tells so. */
  'own-later': async (turn, rest) => {
    const [, path = '', text = ''] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
    turn.afterwards.push(async () => {
      await turn.say('writing later');
      put(path, text);
    });
  },
};
