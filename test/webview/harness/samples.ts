// A sample conversation with every kind of entry, for screenshots and tests.
import type { BlockView, DiffView, ItemView, PermissionView, SessionView } from '../../../src/panel/contract';

const AT = Date.UTC(2026, 10, 21, 9, 0, 0);

export const DIFF: DiffView = {
  path: '/work/app/test/upload.test.ts',
  label: 'test/upload.test.ts',
  isNew: false,
  added: 2,
  removed: 1,
  hunks: [
    {
      oldStart: 41,
      newStart: 41,
      lines: [
        '   const server = start();',
        '-  await sleep(100);',
        "+  await once(server, 'listening');",
        '+  const { port } = server.address();',
        '   const reply = await upload(server, file);',
      ],
    },
  ],
};

type ToolItem = Extract<ItemView, { kind: 'tool' }>;

export function tool(id: string, patch: Partial<ToolItem>): ToolItem {
  return {
    kind: 'tool',
    id,
    turnId: 't1',
    at: AT,
    title: 'Tool',
    toolKind: 'other',
    status: 'completed',
    content: [],
    locations: [],
    hasRaw: false,
    ...patch,
  };
}

/**
 * @param said a text, or blocks of any kind
 * @param duration milliseconds between the first and the last chunk
 */
export function message(
  id: string,
  kind: 'user' | 'agent' | 'thought',
  said: string | readonly BlockView[],
  duration = 4000,
): ItemView {
  const content = typeof said === 'string' ? [{ type: 'text', text: said } as const] : said;
  return { kind, id, turnId: 't1', at: AT, content, duration };
}

export const MARKDOWN = `The test waits \`100 ms\` for the server instead of for its \`listening\` event, so a slow start makes it fail. I will wait for the event in [\`upload.test.ts\`](file:///work/app/test/upload.test.ts), see \`test/upload.test.ts:41\`.

## What I found

1. The server takes **up to 400 ms** to listen
   - on a cold start
   - with *coverage* switched on
2. The test gives it ~~forever~~ 100 ms

- [x] reproduce
- [ ] fix

| Round | Start | Result |
| --- | ----: | :----: |
| 1 | 84 ms | pass |
| 2 | 312 ms | **fail** |

\`\`\`ts
// Wait for the event, not for the clock.
export async function started(server: Server): Promise<number> {
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
\`\`\`

> A fixed wait is either too long or too short.

---

That is all.`;

export const SESSION_FULL: Partial<SessionView> = {
  title: 'Fix the flaky upload test',
  phase: 'requiresAction',
  status: 'needs you · turn 2',
  liveness: 'live',
  turnCount: 2,
  turn: { id: 't2', number: 2, origin: 'user', startedAt: AT, tools: 1, files: 0 },
  commands: [
    { name: 'review', description: 'Review the changes of this session', hint: 'what to look at' },
    { name: 'compact', description: 'Shorten the conversation' },
    { name: 'init', description: 'Write a file with what the agent should know of this project' },
  ],
  modes: [
    { id: 'ask', name: 'Ask', description: 'Asks before it changes anything' },
    { id: 'code', name: 'Code', description: 'Changes files without asking' },
  ],
  mode: 'ask',
  config: [
    {
      id: 'model',
      name: 'Model',
      type: 'select',
      value: 'opus',
      values: [
        { value: 'opus', name: 'Opus', description: 'For hard problems', group: 'Claude' },
        { value: 'haiku', name: 'Haiku', description: 'Fast', group: 'Claude' },
        { value: 'other', name: 'Something else', group: 'Others' },
      ],
    },
    { id: 'web', name: 'Web', description: 'May look things up', type: 'boolean', value: true },
  ],
  usage: { used: 68_000, size: 200_000, cost: { amount: 0.42, currency: 'USD' } },
  queue: [
    { id: 'q1', text: 'Then update the changelog.', attachments: [], state: 'queued', reason: 'waits for your answer' },
    { id: 'q2', text: 'And open a draft commit message.', attachments: [], state: 'queued', reason: '2nd' },
  ],
  attachments: [{ id: 'a1', kind: 'file', label: 'src/server.ts' }],
};

export function permission(index: number, patch: Partial<PermissionView> = {}): PermissionView {
  return {
    id: 'p1',
    toolCallId: 'c9',
    title: 'npm test -- download --repeat 20',
    index,
    options: [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'always', name: 'Always npm test', kind: 'allow_always' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
    ...patch,
  };
}

/** A conversation whose last item waits for an answer. */
export function conversation(): ItemView[] {
  return [
    {
      kind: 'user',
      id: 'u1',
      turnId: 't1',
      at: AT,
      duration: 0,
      content: [
        { type: 'text', text: 'The upload test fails one run in ten. Find out why and fix it.' },
        { type: 'resource_link', uri: 'file:///work/app/test/upload.test.ts#L40', name: 'upload.test.ts:40–72' },
      ],
    },
    message('th1', 'thought', 'The test sleeps. **Look** at the server first.\n\nThen the event.'),
    {
      kind: 'plan',
      id: 'pl1',
      turnId: 't1',
      at: AT,
      entries: [
        { content: 'Reproduce the failure', status: 'completed', priority: 'high' },
        { content: 'Wait for the event instead of the clock', status: 'in_progress', priority: 'high' },
        { content: 'Run the test twenty times', status: 'pending', priority: 'low' },
      ],
    },
    tool('c1', {
      title: 'Read test/upload.test.ts',
      toolKind: 'read',
      endedAt: AT + 100,
      locations: [{ path: '/work/app/test/upload.test.ts', label: 'test/upload.test.ts', line: 40 }],
      hasRaw: true,
    }),
    tool('c2', {
      title: '`npm test -- upload --repeat 20`',
      toolKind: 'execute',
      endedAt: AT + 21_000,
      content: [
        {
          type: 'terminal',
          terminal: {
            id: 'term1',
            command: 'npm test -- upload --repeat 20',
            output:
              '> app@1.0.0 test\r\n> mocha\r\n\r\n  upload\r\n    \u001b[32m✔\u001b[0m sends a file (18 runs)\r\n    \u001b[31m1) sends a file\u001b[0m\r\n\r\n  \u001b[32m19 passing\u001b[0m \u001b[90m(20s)\u001b[0m\r\n  \u001b[31m1 failing\u001b[0m\r\n',
            truncated: false,
            running: false,
            exitCode: 1,
            openable: true,
          },
        },
      ],
    }),
    message('a1', 'agent', MARKDOWN),
    tool('c3', {
      title: 'Edit test/upload.test.ts',
      toolKind: 'edit',
      endedAt: AT + 400,
      decision: { outcome: 'allowed' },
      content: [{ type: 'diff', diff: DIFF }],
      locations: [{ path: DIFF.path, label: DIFF.label }],
    }),
    tool('c4', { title: 'grep -rn "sleep(" test', toolKind: 'search', status: 'failed', endedAt: AT + 80 }),
    {
      kind: 'turn_end',
      id: 'te1',
      turnId: 't1',
      at: AT,
      turn: {
        id: 't1',
        number: 1,
        origin: 'user',
        startedAt: AT,
        endedAt: AT + 12_400,
        stopReason: 'end_turn',
        barrier: 'turn_complete',
        tools: 3,
        files: 1,
        tokens: 8_100,
      },
    },
    { ...message('a2', 'agent', 'Background check finished: 20 of 20 runs pass.'), late: true },
    {
      kind: 'notice',
      id: 'n1',
      at: AT,
      severity: 'info',
      title: 'Context was compacted',
      text: '68k tokens became 9k.',
    },
    {
      kind: 'error',
      id: 'e1',
      at: AT,
      code: 'rate-limit',
      text: 'The model refused the request: too many requests.',
      hint: 'Wait a minute and send the message again.',
      stderr: 'HTTP 429\nretry-after: 60',
    },
    { kind: 'gap', id: 'g1', at: AT, text: 'Something is missing here: 12 updates came before the session was known.' },
    message('u2', 'user', 'Now do the same for the download test.'),
    tool('c8', { title: 'Read test/download.test.ts', toolKind: 'read', endedAt: AT + 100, turnId: 't2' }),
    tool('c9', {
      title: '`npm test -- download --repeat 20`',
      toolKind: 'execute',
      status: 'pending',
      turnId: 't2',
      hasRaw: true,
      rawInput: '{\n  "command": "npm test -- download --repeat 20"\n}',
    }),
  ];
}
