// Many sessions in a real VS Code: list commands, tabs, and how often the list is drawn.
import { strict as assert } from 'node:assert';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ParleyApi } from '../../../src/workbench/api';
import { removeFolder } from '../../support/scratch';
import { until as untilSo } from '../editing';
import { activated, configure, run, scripted } from '../extension';

describe('many sessions', function () {
  this.timeout(60_000);
  let api: ParleyApi;
  let cwd: string;

  before(async () => {
    api = await activated();
    cwd = realpathSync(mkdtempSync(join(tmpdir(), 'parley-workbench-many-')));
    await configure('agents', { one: scripted(), two: scripted(), three: scripted() });
  });

  after(async () => {
    await configure('agents');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(cwd);
  });

  const tabs = (): vscode.Tab[] =>
    vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.endsWith('-parley.session'));

  function until(fits: () => boolean): Promise<void> {
    return untilSo(fits, api.onDidChange, vscode.window.tabGroups.onDidChangeTabs);
  }

  it('get the same message, each in its own editor group, and are reached by one command', async () => {
    const text = 'permission {"toolCall":{"toolCallId":"t","title":"Run the tests","kind":"execute"}}';
    const keys = await run<string[]>('askSeveral', { agents: ['one', 'two', 'three'], text, cwd });
    assert.equal(keys.length, 3);
    await until(() => keys.every((key) => api.snapshot(key).permissions.length === 1));
    await until(() => tabs().length === 3 && tabs().every(({ label }) => label.startsWith('? ')));
    assert.equal(new Set(tabs().map(({ group }) => group.viewColumn)).size, 3);

    // Other tests may leave waiting sessions: each comes once before the first comes again.
    const seen: string[] = [];
    for (;;) {
      const next = await run<string>('nextAttention');
      if (seen.includes(next)) break;
      seen.push(next);
    }
    assert.deepEqual(seen.filter((key) => keys.includes(key)).sort(), [...keys].sort());

    for (const key of keys) await api.cancel(key);
    await until(() => keys.every((key) => api.snapshot(key).permissions.length === 0));
    for (const key of keys) await run('closeSession', { session: key });
    await until(() => tabs().length === 0);
  });

  it('are not asked with a single agent, or one that does not exist', async () => {
    await assert.rejects(async () => run('askSeveral', { agents: ['one'], text: 'Hello' }), /2/);
    await assert.rejects(async () => run('askSeveral', { agents: ['one', 'none'], text: 'Hello' }), /none/);
  });

  it('have one tab each', async () => {
    const key = await api.openSession({ agent: 'one', cwd });
    await api.send(key, 'say Hello');
    await run('openSessionToSide', { session: key });
    await run('openSessionToSide', { session: key });
    await until(() => tabs().length === 1);
    await run('closeSession', { session: key });
    await until(() => tabs().length === 0);
  });

  it('are pinned, renamed, archived and deleted, and restored by undo', async () => {
    const key = await api.openSession({ agent: 'one', cwd });
    await api.send(key, 'say Something to delete');
    await run('closeSession', { session: key });
    await run('pinSession', { session: key });
    await run('unpinSession', { session: key });
    await run('sessionList.rename', { session: key, title: 'Renamed in the list' });
    const found = (): Thenable<readonly { readonly key: string; readonly name: string }[]> =>
      run('sessions', { action: 'search', text: 'Something to delete' });
    assert.deepEqual(
      (await found()).map(({ key, name }) => [key, name]),
      [[key, 'Renamed in the list']],
    );
    await run('archiveSession', { session: key });
    await run('unarchiveSession', { session: key });
    await run('deleteSession', { session: key });
    assert.deepEqual(await found(), []);
    await vscode.commands.executeCommand('notifications.clearAll');
  });
});
