// Troubleshooting and traffic in a real extension host.
import { strict as assert } from 'node:assert';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands, type Tab, TabInputWebview, window, workspace } from 'vscode';
import type { ParleyApi } from '../../src/workbench/api';
import type { TroubleshootAnswer } from '../../src/workbench/troubleshoot/troubleshooter';
import { removeFolder } from '../support/scratch';
import { until } from './editing';
import { activated } from './extension';

describe('troubleshooting', function () {
  this.timeout(120_000);
  let api: ParleyApi;
  let folder: string;

  before(async () => {
    api = await activated();
    folder = mkdtempSync(join(tmpdir(), 'parley-trouble-'));
  });

  after(async () => {
    await commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(folder);
  });

  const inspectors = (): readonly Tab[] =>
    window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(({ input }) => input instanceof TabInputWebview && input.viewType.endsWith('-parley.traffic'));

  it('checks a working agent, and one whose program is missing', async () => {
    const check = (agent: string): Thenable<TroubleshootAnswer> =>
      commands.executeCommand('parley.troubleshoot', { agent, show: false });
    const { results, report } = await check('demo');
    const outcomes = Object.fromEntries(results.map(({ id, outcome }) => [id, outcome]));
    for (const id of ['trust', 'program', 'protocol', 'journal', 'editor'])
      assert.equal(outcomes[id], 'ok', JSON.stringify(results.find((one) => one.id === id)));
    assert.equal(results.length, 12);
    assert.match(report, /^# Parley report\n/);
    assert.doesNotMatch(report, new RegExp(process.env.HOME ?? 'no home'));

    const configuration = workspace.getConfiguration('parley');
    const before = configuration.inspect('agents')?.globalValue;
    await configuration.update('agents', { gone: { command: 'parley-no-such-program' } }, true);
    try {
      const missing = await check('gone');
      const byId = new Map(missing.results.map((result) => [result.id, result]));
      assert.deepEqual([byId.get('program')?.outcome, byId.get('program')?.action], ['problem', 'addAgent']);
      assert.equal(byId.get('protocol')?.outcome, 'problem');
      assert.match(byId.get('program')?.found ?? '', /parley-no-such-program/);
      await assert.rejects(async () => check('nobody'), /There is no agent/);
    } finally {
      await configuration.update('agents', before, true);
    }
  });

  it('shows the traffic in one tab per window', async () => {
    await commands.executeCommand('parley.showTraffic');
    await until(() => inspectors().length > 0, window.tabGroups.onDidChangeTabs);
    await commands.executeCommand('parley.inspectTraffic');
    assert.equal(inspectors().length, 1);
  });

  it('opens a recording as a read-only session, without starting anything', async () => {
    const path = join(folder, 'session.ndjson');
    const chunk = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    const diff = { type: 'diff', path: '/etc/passwd', oldText: 'root', newText: 'x' };
    const lines = [
      { dir: 'mark', t: 0, agent: 'Recorded agent', at: 1_700_000_000_000 },
      {
        dir: 'c2a',
        t: 1,
        msg: { id: 1, method: 'session/prompt', params: { sessionId: 's', prompt: [{ type: 'text', text: 'Hello' }] } },
      },
      ...[
        chunk('Hi '),
        chunk('there'),
        { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Edit', kind: 'edit', content: [diff] },
      ].map((update) => ({ dir: 'a2c', t: 2, msg: { method: 'session/update', params: { sessionId: 's', update } } })),
      { dir: 'a2c', t: 9, msg: { id: 1, result: { stopReason: 'end_turn' } } },
      'no line of a recording',
    ];
    writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'));
    const key = await commands.executeCommand<string>('parley.openRecording', { path });
    const snapshot = api.snapshot(key);
    assert.equal(snapshot.agent.startsWith('recording-'), true);
    assert.deepEqual(
      snapshot.entries.filter(({ kind }) => kind === 'user' || kind === 'agent').map(({ text }) => text),
      ['Hello', 'Hi there'],
    );
    assert.deepEqual(
      snapshot.turns.map(({ stopReason }) => stopReason),
      ['end_turn'],
    );
    assert.equal(snapshot.error?.code, 'recording');
    await assert.rejects(async () => api.send(key, 'go on'), /recording/);
    await commands.executeCommand('parley.restartAgent', {});
    assert.equal(api.snapshot(key).error?.code, 'recording');
    assert.equal(api.snapshot(key).turns.length, 1);
  });

  it('rejects a file that is not a recording', async () => {
    const path = join(folder, 'letter.txt');
    writeFileSync(path, 'Dear reader,\n');
    await assert.rejects(async () => commands.executeCommand('parley.openRecording', { path }), /no recorded messages/);
    await assert.rejects(
      async () => commands.executeCommand('parley.openRecording', { path: join(folder, 'none') }),
      /couldn't be read/,
    );
  });
});
