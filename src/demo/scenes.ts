// The slash commands of the demo agent, and the scene of each.
import { introduce, long, plan, stream, thoughts, unknownCommand } from './scenes/answers';
import { edit, form, terminal } from './scenes/requests';
import {
  background,
  compact,
  count,
  crash,
  fail,
  forget,
  late,
  limits,
  ready,
  slow,
  steer,
  twoClients,
} from './scenes/turns';
import type { Scene } from './session';

interface Command {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
  readonly scene: Scene;
}

const SCENES: readonly Command[] = [
  { name: 'stream', description: 'Stream Markdown: headings, a table, lists, code', scene: stream },
  { name: 'thoughts', description: 'Think aloud before answering', scene: thoughts },
  { name: 'plan', description: 'Make a plan and work through it', scene: plan },
  {
    name: 'edit',
    description: 'Change a file, after showing you the diff and asking',
    hint: 'a line to add',
    scene: edit,
  },
  { name: 'form', description: 'Ask several things at once', scene: form },
  { name: 'terminal', description: 'Run a harmless command, after asking', scene: terminal },
  { name: 'long', description: 'A very long answer with many tool calls', scene: long },
  { name: 'slow', description: 'A turn of one minute; press Stop whenever you like', scene: slow },
  { name: 'limits', description: 'A rate limit that is nearly used up, and a suggested message', scene: limits },
  { name: 'compact', description: 'Replace the conversation by a summary of it', scene: compact },
  { name: 'count', description: 'Count in the state of a shared session', scene: count },
  { name: 'ready', description: 'What waited for session/ready', scene: ready },
  { name: 'late', description: 'Answer first, then work, then say that the turn is complete', scene: late },
  { name: 'steer', description: 'Take in a message that you send while I work', scene: steer },
  { name: 'background', description: 'Work on after the turn, and begin a turn by itself', scene: background },
  { name: 'forget', description: 'Forget the session, so that your client opens it again', scene: forget },
  { name: 'twoclients', description: 'Another client works in the same session', scene: twoClients },
  { name: 'error', description: 'Fail with an error', scene: fail },
  { name: 'crash', description: 'Exit in the middle of a turn', scene: crash },
  { name: 'help', description: 'What this demo can show', scene: (turn) => introduce(turn, commandTable()) },
];

export function commands(): object[] {
  return SCENES.map(({ name, description, hint }) => ({ name, description, input: hint ? { hint } : undefined }));
}

export function sceneOf(text: string): Scene {
  const name = /^\/([\w-]+)/.exec(text)?.[1];
  if (name === undefined) return (turn) => introduce(turn, commandTable());
  return SCENES.find((command) => command.name === name)?.scene ?? ((turn) => unknownCommand(turn, commandTable()));
}

function commandTable(): string {
  return [
    '| Type | and see |',
    '| --- | --- |',
    ...SCENES.map(({ name, description }) => `| \`/${name}\` | ${description} |`),
  ]
    .join('\n')
    .concat('\n');
}
