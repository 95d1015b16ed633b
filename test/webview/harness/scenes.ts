// Scenes that together show nearly all texts of the panel, in a given language.
import type { ChangedFileView, ElicitationView, ItemView, TurnView } from '../../../src/panel/contract';
import type { PanelOptions } from './browser';
import { changedConversation, countOf, FILES, runningTurn } from './changeSamples';
import { claudeScenes } from './claudeSamples';
import { asksForm, asksPage } from './questionSamples';
import { conversation, message, permission, SESSION_FULL, tool } from './samples';
import type { Translate } from './texts';

const AT = Date.UTC(2026, 10, 21, 9, 0, 0);
const INCOMPLETE = 'Some files could not be compared.';
const STDERR = 'Error: connect ECONNREFUSED 127.0.0.1:4096\n    at TCPConnectWrap.afterConnect';

/** Options of a panel, and the selector to click before it is examined. */
export interface Scene extends PanelOptions {
  readonly opens?: string;
  /** Files of the lists to open, and the number of lists. */
  readonly lists?: { readonly files: readonly ChangedFileView[]; readonly count: number };
}

export function scenesIn(t: Translate): Readonly<Record<string, Scene>> {
  return {
    idle: {
      session: {
        phase: 'idle',
        status: t('Starts with your next message'),
        liveness: 'unknown',
        banner: t('This is a scripted demo, not a model.'),
      },
    },
    starting: {
      session: {
        phase: 'initializing',
        status: t('Connecting to {0}', 'Claude'),
        liveness: 'unknown',
        stages: [
          { name: 'resolve', state: 'done', startedAt: AT, endedAt: AT + 120 },
          { name: 'spawn', state: 'done', startedAt: AT, endedAt: AT + 2_400 },
          { name: 'initialize', state: 'running', startedAt: Date.now() - 2_000 },
        ],
      },
    },
    ready: {
      session: { status: t('Ready'), commands: SESSION_FULL.commands ?? [], modes: SESSION_FULL.modes ?? [] },
      opens: '.header [aria-haspopup=menu]',
    },
    permission: {
      session: {
        ...SESSION_FULL,
        status: t('Waiting for you'),
        queue: (SESSION_FULL.queue ?? []).map((message) => ({ ...message, reason: t('Waiting for your answer') })),
        permissions: [permission(conversation().length - 1)],
      },
      items: conversation(),
    },
    form: {
      session: { phase: 'requiresAction', status: t('Waiting for you'), elicitations: [asksForm] },
      opens: '.answers .primary',
    },
    pages: {
      session: {
        phase: 'requiresAction',
        status: t('Waiting for you'),
        elicitations: [asksPage, lookalike, { ...asksPage, id: 'ask3', opened: true }],
      },
    },
    failed: {
      session: {
        phase: 'failed',
        status: t("Couldn't start"),
        liveness: 'unknown',
        stages: [
          { name: 'resolve', state: 'done', startedAt: AT, endedAt: AT + 120 },
          { name: 'spawn', state: 'failed', startedAt: AT, endedAt: AT + 75_000 },
        ],
        error: {
          code: 'start-failed',
          message: 'ECONNREFUSED',
          stderr: STDERR,
          actions: [
            { id: 'restart', label: t('Try again'), primary: true },
            { id: 'selectAgent', label: t('Select another agent…') },
            { id: 'editAgent', label: t('Edit agent…') },
            { id: 'showLog', label: t('Show log') },
          ],
        },
      },
    },
    turns: {
      session: { status: t('Ready'), failedTurnId: 't8' },
      items: [
        { ...message('u1', 'user', `Long ${'words '.repeat(600)}`), turnId: 't1' },
        { ...message('a1', 'agent', 'An answer that lost its beginning.'), dropped: 120_000 } as ItemView,
        ...ends(),
        { kind: 'gap', id: 'g1', at: AT, text: 'resource 4', retryId: 'g1' },
        { kind: 'gap', id: 'g2', at: AT, text: 'resource 5', retryId: 'g2', unloaded: true },
      ],
    },
    tools: {
      session: { phase: 'running', status: t('Working: {0} for {1}', 'npm test', t('{0} min', 4)), turn: turn(9) },
      items: tools(),
      opens: '.entry.tool .row[aria-expanded=false]',
    },
    content: {
      session: { status: t('The agent no longer has this session'), liveness: 'not_found' },
      items: content(),
    },
    queue: {
      session: {
        phase: 'unresponsive',
        status: t("Isn't responding to Stop"),
        turn: turn(3),
        queuePaused: t('Paused after reload. Review queued messages, then send them.'),
        queue: [
          { id: 'q1', text: 'sent twice?', attachments: [], state: 'failed', reason: t('May already have been sent') },
          { id: 'q2', text: 'and one more', attachments: [attachment], state: 'paused' },
          { id: 'q3', text: 'held', attachments: [], state: 'accepted', reason: t('Accepted by agent') },
        ],
        attachments: [attachment],
        background: [
          { kind: 'terminal', id: 'b1', label: 'npm run watch', stop: 'terminal' },
          { kind: 'subagent', id: 'b2', label: 'A watcher' },
        ],
        usage: { used: 188_000, size: 200_000, cost: { amount: 0.42, currency: 'USD' } },
        limits: [{ kind: 'five_hour', state: 'warning', used: 0.93 }],
        error: {
          code: 'stop-ignored',
          message: t("{0} isn't responding to Stop.", 'Claude'),
          hint: t('Wait, or restart the agent. The conversation is kept.'),
          actions: [
            { id: 'restart', label: t('Restart agent'), primary: true },
            { id: 'showLog', label: t('Show log') },
          ],
        },
      },
      opens: '.queue-item:first-child .icon-button:first-child',
    },
    changes: {
      session: {
        status: t('Ready'),
        review: { ...countOf(FILES), incomplete: INCOMPLETE },
        changesWork: { kind: 'undo', done: 120, total: 2000 },
      },
      items: changedConversation(),
      opens: '.changes-toggle, .review [aria-expanded]',
      lists: { files: FILES, count: 2 },
    },
    'changes of a running turn': {
      session: {
        phase: 'running',
        status: t('Ready'),
        turn: runningTurn(FILES),
        review: countOf(FILES),
      },
      items: changedConversation().slice(0, -1),
      opens: '.changes-toggle',
      lists: { files: FILES, count: 1 },
    },
    ...claudeScenes(t),
  };
}

const attachment = { id: 'a1', kind: 'file', label: 'src/server.ts' } as const;

const lookalike: ElicitationView = {
  ...asksPage,
  id: 'ask4',
  mode: 'url',
  url: 'https://xn--ccounts-4ve.example.com/',
};

function turn(number: number, patch: Partial<TurnView> = {}): TurnView {
  return { id: `t${number}`, number, origin: 'user', startedAt: AT, tools: 0, files: 0, ...patch };
}

function ends(): ItemView[] {
  const whole = {
    waitedMs: 33_000,
    endedAt: AT + 3_780_000,
    barrier: 'turn_complete',
    tools: 3,
    files: 1,
    tokens: 8_100,
    tokenParts: { input: 1000, output: 300, cachedRead: 5, cachedWrite: 6, thought: 200 },
  } as const;
  const turns = [
    turn(1, { ...whole, stopReason: 'end_turn' }),
    turn(2, { endedAt: AT + 100, stopReason: 'end_turn', isEmpty: true, barrier: 'response' }),
    turn(3, { endedAt: AT + 12_400, stopReason: 'cancelled', barrier: 'state', tools: 1, files: 2 }),
    turn(4, { endedAt: AT + 125_000, stopReason: 'refusal', barrier: 'timeout' }),
    turn(5, { stopReason: 'max_tokens', barrier: 'exit' }),
    turn(6, { stopReason: 'max_turn_requests' }),
    turn(7, { stopReason: 'error', interrupted: true }),
    turn(8, { stopReason: 'error' }),
    turn(9),
  ];
  return turns.map((turn) => ({ kind: 'turn_end', id: `end${turn.number}`, turnId: turn.id, at: AT, turn: turn }));
}

function tools(): ItemView[] {
  const kinds = ['read', 'edit', 'delete', 'move', 'search', 'think', 'fetch', 'switch_mode', 'subagent', 'other'];
  const states = ['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'paused'] as const;
  const decisions = [
    { outcome: 'allowed' },
    { outcome: 'rejected' },
    { outcome: 'dismissed' },
    { outcome: 'withdrawn' },
    { outcome: 'selected', name: 'Once more' },
  ] as const;
  const diff = { path: '/w/a.ts', label: 'a.ts', isNew: false, added: 0, removed: 0, hunks: [] };
  const many = Array.from({ length: 70 }, (_, line) => `+line ${line}`);
  const terminal = { id: 'x', command: 'npm test', output: '', truncated: false, running: false, openable: true };
  return [
    ...kinds.map((toolKind, index) =>
      tool(`k${index}`, {
        title: `thing ${index}`,
        toolKind,
        status: states[index % states.length] ?? 'completed',
        ...(decisions[index] && { decision: decisions[index] }),
        ...(index === 1 && { stop: { kind: 'tool' as const, id: 'k1' } }),
        hasRaw: index === 0,
        ...(index === 3 && { rawInput: '{"a":1}', rawOutput: '{"b":2}' }),
        locations: Array.from({ length: index === 4 ? 43 : 0 }, (_, at) => ({ path: `/w/${at}`, label: `file ${at}` })),
      }),
    ),
    tool('d1', {
      title: 'a.ts',
      toolKind: 'edit',
      content: [
        { type: 'diff', diff: { ...diff, isNew: true, added: 70, hunks: [{ oldStart: 1, newStart: 1, lines: many }] } },
        { type: 'diff', diff: { ...diff, path: '/w/b.ts', label: 'b.ts', truncated: { hunk: 1, lines: 900 } } },
        { type: 'diff', diff: { ...diff, path: '/w/c.ts', label: 'c.ts', tooMany: true } },
        { type: 'diff', diff: { ...diff, path: '/w/d.ts', label: 'd.ts', writtenDifferently: true } },
      ],
    }),
    tool('t1', {
      title: 'npm test',
      toolKind: 'execute',
      endedAt: AT + 21_000,
      content: [
        { type: 'terminal', terminal: { ...terminal, truncated: true, output: 'much', exitCode: 1 } },
        { type: 'terminal', terminal: { ...terminal, id: 'y', signal: 'SIGTERM' } },
        { type: 'content', block: { type: 'text', text: 'cut here' }, cut: true },
        { type: 'raw', kind: 'hologram', json: '{"x":1}' },
      ],
    }),
  ];
}

function content(): ItemView[] {
  return [
    message('u1', 'user', [
      { type: 'text', text: 'look at these' },
      { type: 'image', data: 'x', mimeType: 'text/html' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'text/plain' },
    ]),
    message('th1', 'thought', 'what is this', 4000),
    message('a1', 'agent', [
      { type: 'text', text: '- [x] one\n- [ ] two\n\n```ts\nconst a = 1;\n```' },
      { type: 'tooLarge', kind: 'image', bytes: 13_000_000 },
      { type: 'tooLarge', kind: 'audio', bytes: 13_000_000 },
      { type: 'unknown', kind: 'hologram', json: '{}' },
      { type: 'unknown', kind: 'text', json: 'secret thoughts', forAgent: true },
      { type: 'resource', uri: 'file:///w/notes.md', text: 'notes' },
      { type: 'resource', uri: 'artifact:table.csv', bytes: 2048 },
    ]),
    {
      kind: 'plan',
      id: 'p1',
      at: AT,
      removed: true,
      entries: (['pending', 'in_progress', 'completed', 'cancelled'] as const).map((status, index) => ({
        content: `Step ${index}`,
        status,
        priority: 'high' as const,
      })),
    },
    { kind: 'plan', id: 'p2', at: AT, entries: [], uri: 'file:///w/plan.md' },
    {
      kind: 'notice',
      id: 'n1',
      at: AT,
      severity: 'info',
      title: 'compacted',
      text: 'a text',
      detail: 'long',
      json: '1',
    },
  ];
}
