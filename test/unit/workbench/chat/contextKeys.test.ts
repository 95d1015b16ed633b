// Context keys: a command is in the palette only while it has an effect.
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
import { NO_ATTENTION } from '../../../../src/workbench/overview/activeSessions';

function conversation(parts: object = {}): KeySource {
  return {
    agent: { type: 'process' },
    connection: { kind: 'ready' },
    isWorking: false,
    sessionId: 's1',
    model: { state: { modes: [], config: [] } },
    ops: { can: () => false },
    ...parts,
  } as unknown as KeySource;
}

describe('context keys', () => {
  it('offer nothing about a session without one', () => {
    assert.deepEqual(contextKeysOf(undefined, undefined), NO_SESSION);
  });

  it('follow what the agent offers', () => {
    const rich = conversation({
      model: {
        state: {
          modes: [],
          config: [{ category: 'mode' }, { category: 'model' }],
        },
      },
      ops: { can: (action: string) => action === 'fork' },
    });
    const keys = contextKeysOf(rich, { type: 's3' });
    assert.deepEqual(
      { ...keys },
      {
        ...NO_SESSION,
        hasSession: true,
        hasModes: true,
        hasModels: true,
        hasOptions: true,
        canFork: true,
        usesBucket: true,
      },
    );
  });

  it('offer to fork a session that is open with an agent that supports it', () => {
    const can = (action: string): boolean => action === 'fork';
    const keys = (sessionId: string | undefined, ops: object): boolean =>
      contextKeysOf(conversation({ sessionId, ops }), undefined).canFork;
    assert.deepEqual(
      [keys('s1', { can }), keys('s1', { can: () => false }), keys(undefined, { can })],
      [true, false, false],
    );
  });

  it('keep each command that the palette hides in a menu or keybinding', () => {
    const { menus, keybindings } = JSON.parse(readFileSync('package.json', 'utf8')).contributes as {
      menus: Record<string, { command: string; when?: string }[]>;
      keybindings: { command: string }[];
    };
    const { commandPalette = [], ...others } = menus;
    const elsewhere = new Set([...Object.values(others).flat(), ...keybindings].map(({ command }) => command));
    const hidden = commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command);
    assert.deepEqual(
      hidden.filter((command) => !elsewhere.has(command)),
      [],
    );
  });

  it('show Stop during a start and a turn', () => {
    assert.equal(contextKeysOf(conversation({ connection: { kind: 'starting' } }), undefined).isRunning, true);
    assert.equal(contextKeysOf(conversation({ isWorking: true }), undefined).isRunning, true);
  });

  it('are published once per change of value', () => {
    const published: string[] = [];
    const publisher = new ContextKeyPublisher({
      setContext: (name, value) => void published.push(`${name}=${value}`),
    });
    publisher.update(conversation(), undefined);
    publisher.update(conversation(), undefined);
    publisher.update(undefined, undefined);
    assert.deepEqual(published, ['hasSession=true', 'hasSession=false']);
  });

  it('are those that package.json uses', () => {
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
      ...NO_COMMENTS,
      ...NO_TERMINAL_COMMANDS,
      ...NO_ATTENTION,
    };
    assert.deepEqual([...asked].sort(), Object.keys(known).sort());
  });
});
