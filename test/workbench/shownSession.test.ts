// Commands without an argument apply to the session shown, and change no other one.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ParleyApi } from '../../src/workbench/api';
import { removeFolder } from '../support/scratch';
import { until as untilSo } from './editing';
import { activated, configure, run, scripted } from './extension';

describe('commands without an argument', function () {
  this.timeout(180_000);
  let api: ParleyApi;
  let cwd: string;
  let other: string;
  let shown: string | undefined;

  const until = (holds: () => boolean): Promise<void> => untilSo(holds, api.onDidChange);

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
    await configure('agents', { disk: scripted() });
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
    await configure('agents');
    await removeFolder(cwd);
  });

  it('apply to the session of the last opened tab, and of the chat when shown again', async () => {
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
