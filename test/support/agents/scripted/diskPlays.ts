// Plays of an agent that changes files by itself, without its client: through its own tools and
// through commands. Paths are relative to the session's folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AgentTurn, Play } from './plays';

interface Target {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

function targetOf(turn: AgentTurn, rest: string): Target {
  const [, name = '', text = ''] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
  return { name, path: resolve(turn.wire.program.cwd, name), text: text.replaceAll('\\n', '\n') };
}

function put({ path, text }: Target): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function tell(turn: AgentTurn, { name, path, text }: Target, oldText: string | null): Promise<void> {
  const toolCallId = `edit-${name}`;
  const content = [{ type: 'diff', path, oldText, newText: text }];
  await turn.update({ sessionUpdate: 'tool_call', toolCallId, title: `Edit ${name}`, kind: 'edit', content });
  await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
}

export const diskPlays: Record<string, Play> = {
  own: async (turn, rest) => put(targetOf(turn, rest)),
  edit: async (turn, rest) => {
    const target = targetOf(turn, rest);
    let before: string | null = null;
    try {
      before = readFileSync(target.path, 'utf8');
    } catch {}
    put(target);
    await tell(turn, target, before);
  },
  /** `edit-formatted PATH TEXT`: as `edit`, and a formatter ends each line with a semicolon. */
  'edit-formatted': async (turn, rest) => {
    const target = targetOf(turn, rest);
    put({ ...target, text: target.text.replaceAll('\n', ';\n') });
    await tell(turn, target, null);
  },
  run: async (turn, rest) => {
    const toolCallId = `run-${rest}`;
    await turn.update({ sessionUpdate: 'tool_call', toolCallId, title: rest, kind: 'execute', status: 'in_progress' });
    const { cwd, env } = turn.wire.program;
    const [code] = await once(spawn(rest, { shell: true, stdio: 'ignore', cwd, env }), 'exit');
    if (code !== 0) throw new Error(`${rest} exited with code ${code}`);
    await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  },
  /** `own-later PATH TEXT`: writes a file after the turn has ended, and tells so. */
  'own-later': async (turn, rest) => {
    turn.afterwards.push(async () => {
      await turn.say('writing later');
      put(targetOf(turn, rest));
    });
  },
};
