// Context keys: a command is in the palette only while it can do something.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { NO_COMMENTS, NO_REVIEW, NO_WORKTREES } from '../../../../src/workbench/changes/reviewKeys';
import {
  ContextKeyPublisher,
  contextKeysOf,
  type KeySource,
  NO_SESSION,
} from '../../../../src/workbench/chat/contextKeys';
import { NO_TERMINAL_COMMANDS } from '../../../../src/workbench/chat/lastCommands';
import { NO_ANSWERS } from '../../../../src/workbench/config/rememberedAnswers';
import { NO_ATTENTION } from '../../../../src/workbench/overview/activeSessions';

const WORKTREES = '/storage/worktrees';

function conversation(parts: object = {}): KeySource {
  return {
    agent: { type: 'process' },
    connection: { kind: 'ready' },
    cwd: '/work',
    isWorking: false,
    sessionId: 's1',
    queue: { items: [], paused: undefined },
    queueActions: { steerable: undefined },
    model: { state: { modes: [], config: [], permissions: new Map(), elicitations: new Map() } },
    ops: { can: () => false },
    ...parts,
  } as unknown as KeySource;
}

describe('context keys', () => {
  it('offer nothing about a session while there is none', () => {
    assert.deepEqual(contextKeysOf(undefined, undefined, WORKTREES), NO_SESSION);
  });

  it('offer a sign-in while the agent waits for one', () => {
    const keys = (kind: string) => contextKeysOf(conversation({ connection: { kind } }), undefined, WORKTREES);
    assert.equal(keys('ready').canSignIn, false);
    assert.equal(keys('authRequired').canSignIn, true);
  });

  it('follow what the agent offers', () => {
    const rich = conversation({
      model: {
        state: {
          modes: [],
          config: [{ category: 'mode' }, { category: 'model' }],
          permissions: new Map([['p', {}]]),
          elicitations: new Map(),
        },
      },
      ops: { can: (action: string) => ['fork', 'logout', 'status'].includes(action) },
    });
    const keys = contextKeysOf(rich, { type: 's3' }, WORKTREES);
    assert.deepEqual(
      { ...keys },
      {
        ...NO_SESSION,
        hasSession: true,
        hasQuestion: true,
        hasModes: true,
        hasModels: true,
        hasOptions: true,
        canFork: true,
        canCheckStatus: true,
        canSignOut: true,
        usesBucket: true,
      },
    );
  });

  it('offer the status of a session that is open with an agent that can tell it', () => {
    const can = (action: string): boolean => action === 'status';
    const keys = (sessionId: string | undefined, ops: object): boolean =>
      contextKeysOf(conversation({ sessionId, ops }), undefined, WORKTREES).canCheckStatus;
    assert.deepEqual(
      [keys('s1', { can }), keys('s1', { can: () => false }), keys(undefined, { can })],
      [true, false, false],
    );
  });

  it('keep each command that the palette hides in a menu', () => {
    const { menus } = JSON.parse(readFileSync('package.json', 'utf8')).contributes as {
      menus: Record<string, { command: string; when?: string }[]>;
    };
    const { commandPalette = [], ...others } = menus;
    const elsewhere = new Set(Object.values(others).flatMap((items) => items.map(({ command }) => command)));
    const hidden = commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command);
    assert.deepEqual(
      hidden.filter((command) => !elsewhere.has(command)),
      [],
    );
  });

  it('show Stop during a start and a turn, and the queue commands by what the queue does', () => {
    assert.equal(
      contextKeysOf(conversation({ connection: { kind: 'starting' } }), undefined, WORKTREES).isRunning,
      true,
    );
    assert.equal(contextKeysOf(conversation({ isWorking: true }), undefined, WORKTREES).isRunning, true);
    const queued = contextKeysOf(conversation({ queue: { items: [{}], paused: 'by you' } }), undefined, WORKTREES);
    assert.deepEqual([queued.isQueued, queued.isQueuePaused, queued.canSteer], [true, true, false]);
    const queueActions = { steerable: {} };
    assert.equal(contextKeysOf(conversation({ queueActions }), undefined, WORKTREES).canSteer, true);
  });

  it('offer the commands of worktrees only in one', () => {
    const inWorktree = (cwd: string): boolean => contextKeysOf(conversation({ cwd }), undefined, WORKTREES).inWorktree;
    assert.deepEqual([inWorktree('/work'), inWorktree('/storage/worktrees/a-x/sub')], [false, true]);
  });

  it('are published once per change of value', () => {
    const published: string[] = [];
    const publisher = new ContextKeyPublisher({
      setContext: (name, value) => void published.push(`${name}=${value}`),
      folder: () => WORKTREES,
    });
    publisher.update(conversation(), undefined);
    publisher.update(conversation(), undefined);
    publisher.update(undefined, undefined);
    assert.deepEqual(published, ['hasSession=true', 'hasSession=false']);
  });

  it('cover each key that package.json asks for', () => {
    const asked = new Set(
      [...readFileSync('package.json', 'utf8').matchAll(/"when": "([^"]*)"/g)].flatMap(([, when = '']) =>
        [...when.matchAll(/(?<![.\w])parley\.(\w+)/g)].map(([, key]) => key),
      ),
    );
    for (const view of ['chat', 'chatView', 'session', 'sessionsView']) asked.delete(view);
    const known = {
      ...NO_SESSION,
      ...NO_REVIEW,
      ...NO_WORKTREES,
      ...NO_ANSWERS,
      ...NO_COMMENTS,
      ...NO_TERMINAL_COMMANDS,
      ...NO_ATTENTION,
    };
    assert.deepEqual([...asked].filter((key) => !(`${key}` in known)).sort(), []);
    assert.ok(asked.size > 5);
  });
});
