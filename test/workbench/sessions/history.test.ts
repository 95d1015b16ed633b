// What programs can do with stored sessions: search them and reopen them without their agent.
import { strict as assert } from 'node:assert';
import { realpathSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ParleyApi } from '../../../src/workbench/api';
import type { FoundSession } from '../../../src/workbench/sessions/sessions.contribution';
import { removeFolder } from '../../support/scratch';
import { activated, configure, scripted } from '../extension';

const sessions = <T>(argument: object): Thenable<T> => vscode.commands.executeCommand<T>('parley.sessions', argument);

describe('stored sessions', function () {
  this.timeout(60_000);
  let api: ParleyApi;
  let cwd: string;
  let key: string;

  before('have a conversation and close it', async () => {
    api = await activated();
    cwd = realpathSync(await mkdtemp(join(tmpdir(), 'parley-workbench-history-')));
    await configure('agents', { passing: scripted() });
    key = await api.openSession({ agent: 'passing', cwd });
    await api.send(key, 'say A kingfisher at the weir');
    await vscode.commands.executeCommand('parley.closeSession', { session: key });
    assert.throws(() => api.snapshot(key), { code: 'no-such-session' });
  });

  after(async () => {
    await configure('agents');
    await vscode.commands.executeCommand('parley.closeSession', { session: key });
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(cwd);
  });

  it('are found by a script with some of their words', async () => {
    const found = await sessions<FoundSession[]>({ action: 'search', text: 'weir kingf' });
    const one = found.find((session) => session.key === key);
    assert.ok(one);
    assert.equal(one.agentId, 'passing');
    assert.equal(one.cwd, cwd);
    assert.equal(one.name, 'say A kingfisher at the weir');
    assert.match(one.snippet, /kingfisher/);
    assert.deepEqual(await sessions({ action: 'search', text: 'kingfisher cormorant' }), []);
    await assert.rejects(async () => sessions({ action: 'recall', key: 'no-such-key' }), { code: 'no-such-session' });
  });

  it('can be read without starting their agent', async () => {
    await configure('agents');
    assert.equal(await sessions({ action: 'recall', key }), key);
    const { entries, state, sessionId } = api.snapshot(key);
    assert.equal(state, 'idle');
    assert.equal(sessionId, undefined);
    assert.deepEqual(
      entries.map(({ kind, text }) => [kind, text]),
      [
        ['user', 'say A kingfisher at the weir'],
        ['agent', 'A kingfisher at the weir'],
      ],
    );
  });
});
