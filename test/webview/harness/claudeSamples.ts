// A session with Claude's agent: four pickers, many commands with long descriptions, long paths.
import type { ItemView, SessionView } from '../../../src/panel/contract';
import type { PanelOptions } from './browser';
import { DIFF, message, permission, tool } from './samples';
import type { Translate } from './texts';

/** From a narrow side bar to a whole editor, px. */
export const WIDTHS = [260, 300, 380, 480, 640, 780, 1040] as const;

const AT = Date.UTC(2026, 10, 21, 9, 0, 0);
const MINUTE = 60_000;
const DESCRIPTION = 'Checks each change of the branch against the rules of the project, and says what to mend. ';
const FILE = 'packages/upload-service/src/server/transports/resumable/deferredUploadSession.ts';
const COMMAND = 'npm run test --workspace packages/upload-service -- --grep "resumable uploads" --repeat 20';

const COMMANDS = ['review-security', 'pr-comments', 'init', 'compact'].flatMap((name) =>
  Array.from({ length: 10 }, (_, index) => ({
    name: index === 0 ? name : `${name}-${index}`,
    description: DESCRIPTION.repeat(2 + index),
  })),
);

function select(id: string, category: string, name: string, ...names: readonly string[]) {
  const values = names.map((value) => ({ value, name: value, description: DESCRIPTION }));
  return { id, category, name, type: 'select' as const, value: names[0]!, values };
}

/** In the agent's order, which differs from the panel's. */
const CONFIG: SessionView['config'] = [
  select('fast', 'speed', 'Speed', 'Standard', 'Fast'),
  select('model', 'model', 'Model', 'Default (recommended)', 'Opus 4.8', 'Haiku 4.6'),
  select('effort', 'thought_level', 'Effort', 'Default', 'Low', 'High'),
  select('mode', 'mode', 'Mode', 'Accept edits', 'Default', 'Plan mode', 'Bypass permissions'),
];

/** The session idle, in a turn, and waiting for an answer. */
export function claudeScenes(t: Translate): Readonly<Record<string, PanelOptions>> {
  const session: Partial<SessionView> = {
    agentName: 'Claude Code',
    title: 'Fix the flaky test of resumable uploads in the upload service',
    commands: COMMANDS,
    config: CONFIG,
    usage: { used: 68_000, size: 200_000, cost: { amount: 0.42, currency: 'USD' } },
    turnCount: 2,
    status: t('Ready'),
  };
  const turn = { id: 't2', number: 2, origin: 'user', startedAt: AT, tools: 4, files: 1 } as const;
  const status = t('Working: {0} for {1}', COMMAND, t('{0} min', 4));
  const atWork = { ...session, phase: 'running', status, turn } as const;
  const asks: Partial<SessionView> = {
    ...atWork,
    phase: 'requiresAction',
    status: t('Waiting for you'),
    permissions: [permission(6, { toolCallId: 'w6', title: COMMAND })],
    queue: [{ id: 'q1', text: 'Then update the changelog and the page.', attachments: [], state: 'queued' }],
  };
  const items = claudeCalls();
  return {
    'Claude, idle': { session, items },
    'Claude at work': { session: atWork, items },
    'Claude asks': { session: asks, items },
  };
}

function claudeCalls(): ItemView[] {
  const diff = { ...DIFF, path: `/work/app/${FILE}`, label: FILE, added: 128, removed: 64 };
  const terminal = { id: 'term1', command: COMMAND, truncated: false, running: false, openable: true } as const;
  const output = Array.from({ length: 40 }, (_, line) => `  ✔ resumable upload ${line}`).join('\n');
  return [
    message('w0', 'user', 'The upload test fails one run in ten. Find out why and fix it.'),
    tool('w1', { title: `Read ${FILE}`, toolKind: 'read', endedAt: AT + 100 }),
    tool('w2', {
      title: `Edit ${FILE}`,
      toolKind: 'edit',
      endedAt: AT + 71_200,
      waitedMs: 70_500,
      decision: { outcome: 'allowed' },
      content: [{ type: 'diff', diff }],
    }),
    tool('w3', {
      title: `\`${COMMAND}\``,
      toolKind: 'execute',
      status: 'failed',
      endedAt: AT + 2 * MINUTE,
      waitedMs: 12_000,
      decision: { outcome: 'allowed', rule: 'npm run test' },
      content: [{ type: 'terminal', terminal: { ...terminal, output, exitCode: 1 } }],
    }),
    tool('w4', { title: `Delete ${FILE}`, toolKind: 'delete', status: 'failed', decision: { outcome: 'rejected' } }),
    message('w5', 'agent', `The session is made twice, see \`${FILE}:41\`.\n\n\`\`\`ts\n${CODE}\n\`\`\``),
    tool('w6', { title: `\`${COMMAND}\``, toolKind: 'execute', status: 'in_progress' }),
  ];
}

const CODE = `export async function startDeferredUpload(server: Server, options: Readonly<UploadOptions>): Promise<number> {
  await once(server, 'listening');
  return 1;
}`;
