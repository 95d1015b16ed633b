// The exported API, and commands that return something, with the demo agent as a process.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { SessionSnapshot } from '../../src/client/view/snapshot';
import type { ParleyApi } from '../../src/workbench/api';
import { removeFolder } from '../support/scratch';
import { until as untilSo, withoutAutoSave } from './editing';
import { activated } from './extension';

describe("the extension's API", function () {
  this.timeout(60_000);
  withoutAutoSave();
  let api: ParleyApi;
  let cwd: string;
  let key: string;

  before(async () => {
    api = await activated();
    cwd = realpathSync(await mkdtemp(join(tmpdir(), 'parley-workbench-api-')));
    key = await api.openSession({ agent: 'demo', cwd });
    await vscode.commands.executeCommand('parley.setConfigOption', { id: 'pace', value: 'instant' });
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    // Later tests must not find a chat of a deleted folder.
    await vscode.commands.executeCommand('parley.closeSession', { session: key });
    await removeFolder(cwd);
  });

  async function until(fits: (snapshot: SessionSnapshot) => boolean): Promise<SessionSnapshot> {
    await untilSo(() => fits(api.snapshot(key)), api.onDidChange);
    return api.snapshot(key);
  }

  /** Answers the next question by switching modes: there is no panel to answer it. */
  async function inMode<T>(mode: 'ask' | 'auto', run: () => Promise<T>): Promise<T> {
    await vscode.commands.executeCommand('parley.setConfigOption', { id: 'mode', value: mode });
    return run();
  }

  it('returns the complete snapshot of a session', async () => {
    const snapshot = await until(({ commands }) => commands.length > 0);
    assert.equal(api.version, 1);
    assert.equal(snapshot.key, key);
    assert.equal(snapshot.agent, 'demo');
    assert.equal(snapshot.protocol, 1);
    assert.equal(snapshot.state, 'ready');
    assert.equal(snapshot.liveness, 'live');
    assert.match(snapshot.sessionId ?? '', /^demo-/);
    assert.deepEqual(
      snapshot.config.map(({ id }) => id),
      ['mode', 'pace', 'emoji'],
    );
    assert.ok(snapshot.commands.some(({ name }) => name === 'edit'));
    assert.deepEqual(JSON.parse(JSON.stringify(snapshot)), snapshot, 'a snapshot is plain JSON');
  });

  it('resolves a sent message when its turn ends', async () => {
    const changes: string[] = [];
    const listening = api.onDidChange((changed) => changes.push(changed));
    const { turnId, stopReason } = await api.send(key, 'Hello');
    // Changes of a session are reported at most ten times a second.
    await untilSo(() => changes.includes(key), api.onDidChange);
    listening.dispose();
    assert.equal(stopReason, 'end_turn');
    const { entries, turns, title, usage } = await until((snapshot) => snapshot.state === 'ready');
    const own = entries.filter((entry) => entry.turnId === turnId);
    assert.deepEqual(
      own.map(({ kind }) => kind),
      ['user', 'agent'],
    );
    assert.equal(own[0]?.text, 'Hello');
    assert.match(own[1]?.text ?? '', /demo agent/);
    assert.deepEqual(
      turns.filter(({ id }) => id === turnId),
      [{ id: turnId, origin: 'user', stopReason: 'end_turn', barrier: 'turn_complete' }],
    );
    assert.equal(title, 'Demo: Hello');
    assert.ok((usage?.used ?? 0) > 0);
  });

  it('has no summary and no commit message from the demo agent', async () => {
    for (const command of ['parley.continueWithSummary', 'parley.draftCommitMessage'])
      await assert.rejects(
        async () => vscode.commands.executeCommand(command, { session: key }),
        /demo agent can't write summaries/,
      );
  });

  it('switches to the next mode by a command, and reports if there are no models', async () => {
    await vscode.commands.executeCommand('parley.setConfigOption', { id: 'mode', value: 'ask' });
    const next = (): Thenable<unknown> => vscode.commands.executeCommand('parley.nextMode', { session: key });
    assert.deepEqual([await next(), await next()], ['auto', 'ask']);
    await assert.rejects(async () => vscode.commands.executeCommand('parley.nextModel', {}), /has no models/);
  });

  it('starts a session with a preset, which was saved from another one', async () => {
    await inMode('auto', async () => {
      await vscode.commands.executeCommand('parley.savePreset', { session: key, name: 'By itself' });
    });
    await vscode.commands.executeCommand('parley.setConfigOption', { session: key, id: 'mode', value: 'ask' });
    const begun = await vscode.commands.executeCommand<string>('parley.newSession', { cwd, preset: 'By itself' });
    const { turnId } = await api.send(begun, 'Hello');
    assert.ok(turnId);
    const modes = [begun, key].map((one) => api.snapshot(one).config.find(({ id }) => id === 'mode')?.value);
    assert.deepEqual(modes, ['auto', 'ask']);
    await vscode.commands.executeCommand('parley.closeSession', { session: begun });
    await assert.rejects(
      async () => vscode.commands.executeCommand('parley.newSession', { cwd, preset: 'None' }),
      /no preset “None”/,
    );
  });

  it('sends queued messages in order', async () => {
    const first = api.enqueue(key, '/slow');
    const running = await until(({ state }) => state === 'running');
    assert.ok(!running.queue.some(({ id }) => id === first));
    const second = api.enqueue(key, '/help');
    assert.deepEqual(
      api.snapshot(key).queue.map(({ id, text, state }) => ({ id, text, state })),
      [{ id: second, text: '/help', state: 'queued' }],
    );
    await api.cancel(key);
    const stopped = await until(({ state }) => state === 'ready');
    assert.equal(stopped.turns.at(-1)?.stopReason, 'cancelled');
    assert.equal(stopped.queue[0]?.state, 'paused');
    assert.match(stopped.queue[0]?.reason ?? '', /stopped/);
    await vscode.commands.executeCommand('parley.queue.resume');
    const sent = await until(({ queue, state }) => queue.length === 0 && state === 'ready');
    assert.equal(sent.entries.findLast(({ kind }) => kind === 'user')?.text, '/help');
  });

  it('withdraws a question when its turn is cancelled', async () => {
    const path = join(cwd, 'parley-demo.md');
    const turn = inMode('ask', () => api.send(key, '/edit never written'));
    const asking = await until(({ permissions }) => permissions.length > 0);
    assert.equal(asking.state, 'requiresAction');
    const [question] = asking.permissions;
    assert.deepEqual(
      question?.options.map(({ name, kind }) => `${name} ${kind}`),
      ['Allow allow_once', 'Always allow allow_always', 'Reject reject_once'],
    );
    const tool = asking.entries.findLast(({ kind }) => kind === 'tool')?.tool;
    assert.equal(tool?.status, 'pending');
    assert.deepEqual(
      tool?.content.map(({ type }) => type),
      ['diff'],
    );
    assert.deepEqual(tool?.locations, [{ path, line: 4 }]);
    await api.cancel(key);
    assert.equal((await turn).stopReason, 'cancelled');
    const { entries, permissions } = api.snapshot(key);
    assert.deepEqual(permissions, []);
    assert.equal(entries.findLast(({ kind }) => kind === 'tool')?.tool?.status, 'cancelled');
    assert.equal(existsSync(path), false);
  });

  it('reads and writes files through the editor', async () => {
    const path = join(cwd, 'parley-demo.md');
    await inMode('auto', () => api.send(key, '/edit from the agent'));
    assert.match(readFileSync(path, 'utf8'), /- from the agent\n$/);

    const editor = await vscode.window.showTextDocument(vscode.Uri.file(path));
    const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
    assert.ok(await editor.edit((edit) => edit.insert(end, '- typed and not saved\n')));
    assert.equal(editor.document.isDirty, true);

    assert.equal((await api.send(key, '/edit after that')).stopReason, 'end_turn');
    assert.match(editor.document.getText(), /- from the agent\n- typed and not saved\n- after that\n$/);
    // VS Code reports a save with a delay.
    await untilSo(() => !editor.document.isDirty, vscode.workspace.onDidChangeTextDocument);
    assert.equal(readFileSync(path, 'utf8'), editor.document.getText());
    await vscode.commands.executeCommand('undo');
    assert.match(editor.document.getText(), /- typed and not saved\n$/);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('distinguishes a dead session from a silent one', async () => {
    assert.deepEqual(await api.checkStatus(key), { status: 'live' });
    assert.deepEqual(await vscode.commands.executeCommand('parley.checkStatus'), { status: 'live' });
  });

  it('returns the outcome of a command', async () => {
    const other = await vscode.commands.executeCommand<string>('parley.newSession', { agent: 'demo', cwd });
    assert.notEqual(other, key);
    assert.equal(api.snapshot(other).state, 'ready');
    const result = await vscode.commands.executeCommand<{ turnId: string; stopReason: string }>('parley.send', {
      text: '/error',
      session: key,
    });
    assert.equal(result.stopReason, 'error');
    assert.ok(api.snapshot(key).turns.some(({ id }) => id === result.turnId));
    assert.deepEqual(api.snapshot(other).entries, []);
    await vscode.commands.executeCommand('parley.closeSession', { session: other });
  });

  it('rejects an unknown session or agent', async () => {
    assert.throws(() => api.snapshot('nobody'), { code: 'no-such-session' });
    await assert.rejects(api.openSession({ agent: 'nobody' }), { code: 'no-such-agent' });
    await assert.rejects(api.openSession({ agent: 'demo', cwd: 'relative' }), { code: 'bad-folder' });
  });

  it('ends a turn when the agent crashes', async () => {
    const { stopReason } = await api.send(key, '/crash');
    assert.equal(stopReason, 'error');
    // It restarts automatically; the transcript says how it ended.
    const { entries, turns } = await until(
      (snapshot) => snapshot.state === 'ready' && snapshot.entries.some(({ kind }) => kind === 'error'),
    );
    assert.equal(turns.at(-1)?.barrier, 'exit');
    assert.ok(entries.some(({ kind, text }) => kind === 'error' && /exited|ended/.test(text ?? '')));
    assert.ok(entries.some(({ text }) => text?.includes('I am about to exit')));
    assert.equal((await api.send(key, '/stream')).stopReason, 'end_turn');
  });
});
