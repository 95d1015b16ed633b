// Commands in a real VS Code are about the session that is shown: run without an argument, none of them changes another one.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ParleyApi } from '../../src/workbench/api';
import { removeFolder } from '../support/scratch';
import { activated, run } from './extension';

/** They leave VS Code: to a browser, or to a window of its own, which the tests' VS Code has not. */
const LEAVING = new Set(['parley.openDocumentation', 'parley.openSessionInNewWindow', 'parley.moveChatToNewWindow']);
/** A command that waits for the user has done by then all that it does without them, ms. */
const PATIENCE_MS = 150;

describe('the commands of a session that is shown', function () {
  this.timeout(180_000);
  let api: ParleyApi;
  let cwd: string;
  let other: string;
  let shown: string | undefined;

  async function until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve) => {
      const listening = api.onDidChange(() => {
        if (!holds()) return;
        listening.dispose();
        resolve();
      });
    });
  }

  const file = (): Promise<string> => readFile(join(cwd, 'a.txt'), 'utf8');
  const stateOf = async (key: string): Promise<string> => JSON.stringify([await file(), api.snapshot(key)]);
  const isOpen = (key: string): boolean => {
    try {
      api.snapshot(key);
      return true;
    } catch {
      return false;
    }
  };
  async function show(): Promise<string> {
    if (shown === undefined || !isOpen(shown))
      shown = await run<string>('newSession', { agent: 'disk', cwd: await realpath(tmpdir()) });
    await run('sessionList.open', { session: shown });
    return shown;
  }

  before(async () => {
    api = await activated();
    cwd = await realpath(await mkdtemp(join(tmpdir(), 'parley-workbench-shown-')));
    execFileSync('git', ['init', '-q'], { cwd });
    await writeFile(join(cwd, 'a.txt'), 'one\n');
    const program = join(process.env.PARLEY_REPOSITORY ?? '', 'out/support/agents/scriptedAgent.js');
    const disk = { command: process.env.PARLEY_TEST_NODE, args: [program, 'plain'] };
    await vscode.workspace.getConfiguration('parley').update('agents', { disk }, vscode.ConfigurationTarget.Global);
    other = await api.openSession({ agent: 'disk', cwd });
    await api.send(other, `write ${join(cwd, 'a.txt')} agent\\n`);
    await until(() => api.snapshot(other).changes.length === 1);
    api.enqueue(other, 'permission {"toolCall":{"toolCallId":"t1","title":"Run it","kind":"execute"}}');
    await until(() => api.snapshot(other).permissions.length === 1);
    api.enqueue(other, 'later');
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const session of [other, shown ?? '']) if (isOpen(session)) await run('closeSession', { session });
    await vscode.workspace.getConfiguration('parley').update('agents', undefined, vscode.ConfigurationTarget.Global);
    await removeFolder(cwd);
  });

  it('change nothing of another session', async () => {
    await show();
    const before = await stateOf(other);
    const extension = vscode.extensions.getExtension('parley.parley');
    assert.ok(extension);
    const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
    const { commands } = contributes;
    assert.ok(commands.length >= 116);
    for (const { command } of commands) {
      if (LEAVING.has(command)) continue;
      await show();
      // A list or a question that stays open is closed below.
      const ended = vscode.commands.executeCommand(command).then(undefined, () => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
      assert.equal(await stateOf(other), before, command);
      for (const close of ['workbench.action.closeQuickOpen', 'notifications.clearAll'])
        await vscode.commands.executeCommand(close);
    }
  });

  it('are about the session of the tab that was opened last, and of the chat again when it is shown', async () => {
    const key = await show();
    await run('openSessionToSide', { session: other });
    await run('queue.pause');
    assert.equal(api.snapshot(other).queue[0]?.state, 'paused');
    await run('queue.resume');
    assert.equal(api.snapshot(other).queue[0]?.state, 'queued');
    await run('sessionList.open', { session: key });
    const before = await stateOf(other);
    await run('queue.pause');
    await run('queue.clear');
    assert.equal(await stateOf(other), before);
  });
});
