// Many sessions in a real VS Code: commands of the list, tabs of single sessions, and how often the list is drawn.
import { strict as assert } from 'node:assert';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { silentLog } from '../../../src/base/log';
import { NO_MARKS } from '../../../src/store/sessions/sessionMarks';
import type { ParleyApi } from '../../../src/workbench/api';
import { LiveSessions } from '../../../src/workbench/overview/liveSessions';
import { SessionsView } from '../../../src/workbench/overview/sessionsView';
import type { ListNode } from '../../../src/workbench/overview/sessionTree';
import { removeFolder } from '../../support/scratch';
import { PlainSessions } from '../../support/sessions/overview';
import { HeldTimers } from '../../support/store/journals';
import { until as untilSo } from '../editing';
import { activated, run } from '../extension';

describe('many sessions, in the workbench,', function () {
  this.timeout(60_000);
  let api: ParleyApi;
  let cwd: string;

  before(async () => {
    api = await activated();
    cwd = realpathSync(mkdtempSync(join(tmpdir(), 'parley-workbench-many-')));
    const agent = {
      command: process.env.PARLEY_TEST_NODE,
      args: [join(process.env.PARLEY_REPOSITORY ?? '', 'out/support/agents/scriptedAgent.js'), 'plain'],
    };
    await vscode.workspace
      .getConfiguration('parley')
      .update('agents', { one: agent, two: agent, three: agent }, vscode.ConfigurationTarget.Global);
  });

  after(async () => {
    await vscode.workspace.getConfiguration('parley').update('agents', undefined, vscode.ConfigurationTarget.Global);
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

    // Sessions of other tests may wait too: each comes once before the first comes again.
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

  it('refuse to ask a single agent, or one that does not exist', async () => {
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

  it('are pinned, renamed, archived and deleted, and come back after an undo', async () => {
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

  it('redraw their list once per change, and not while agents write', () => {
    const sessions = new PlainSessions();
    const timers = new HeldTimers();
    const refreshed: (number | 'all')[] = [];
    const schedule = timers.schedule;
    const live = new LiveSessions({
      conversations: sessions,
      titleOf: ({ key }) => key,
      isShown: () => false,
      wasUnread: () => false,
      keep: () => {},
      now: () => 1000,
      schedule,
    });
    const view = new SessionsView(
      {
        isVisible: true,
        selected: undefined,
        onDidShow: () => ({ dispose() {} }),
        refresh: (nodes) => refreshed.push(nodes?.length ?? 'all'),
        description: '',
        message: '',
      },
      {
        live,
        stored: () => ({ list: () => [], groups: () => [], of: () => NO_MARKS }),
        others: () => [],
        titleOf: () => '',
        agentName: (id) => id,
      },
      { keys: () => [], get: () => undefined, update: async () => {} } as never,
      { now: () => 1000, schedule },
      silentLog,
    );
    live.onDidChange(() => view.changed(false));
    const all = Array.from({ length: 20 }, (_none, index) => sessions.add(`s${index}`, `agent${index % 4}`));
    for (const one of all) one.begin('t');
    timers.run();
    const rows = (node?: ListNode): number =>
      view.children(node).reduce((sum, one) => sum + 1 + (one.kind === 'group' ? rows(one) : 0), 0);
    assert.equal(rows(), 21);
    timers.run();
    refreshed.length = 0;
    for (let round = 0; round < 200; round++) {
      for (const one of all) one.say('more');
      timers.run();
    }
    assert.deepEqual(refreshed, [], '4,000 chunks draw nothing');
    all[3]?.ask('May I?');
    timers.run();
    timers.run();
    assert.deepEqual(refreshed, ['all'], 'a session that moves to another group draws the list once');
    live.dispose();
    view.dispose();
  });
});
