// Diverged branches on an agent server: the notice's button opens one beside the session.
import { strict as assert } from 'node:assert';
import { commands } from 'vscode';
import type { SessionSnapshot } from '../../../src/client/view/snapshot';
import type { ParleyApi } from '../../../src/workbench/api';
import { removeScratch } from '../../support/scratch';
import { echo, type RunningServer, rivalOf, serve, stopServers } from '../../support/servers/servedAgents';
import { activated, configure } from '../extension';

describe('a branch held by an agent server', function () {
  this.timeout(60_000);
  let api: ParleyApi;
  let server: RunningServer;

  before(async () => {
    api = await activated();
    server = await serve([echo]);
    const far = { type: 'communication', name: 'Far', url: server.baseUrl, agent: 'echo' };
    const agents = { far: { ...far, headers: { Authorization: `Bearer ${server.token}` } } };
    await configure('agents', agents);
  });

  after(async () => {
    await configure('agents');
    await stopServers();
    await removeScratch();
  });

  const words = ({ entries }: SessionSnapshot): string[] =>
    entries.filter(({ kind }) => kind === 'user').map(({ text = '' }) => text);

  it("opens once, beside the user's session", async () => {
    const key = await api.openSession({ agent: 'far' });
    await api.send(key, 'one');
    const rival = rivalOf(server, await api.exportDescriptor(key));
    await api.send(key, 'here');
    await rival('there');
    await assert.rejects(async () => commands.executeCommand('parley.showBranch', { session: key }), /No other fork/);
    await api.send(key, 'go on');
    const other = await commands.executeCommand<string>('parley.showBranch', { session: key });
    assert.notEqual(other, key);
    assert.deepEqual(words(api.snapshot(other)), ['one', 'aside', 'there']);
    assert.deepEqual(words(api.snapshot(key)), ['one', 'here', 'go on']);
    const [head] = api.snapshot(other).entries;
    assert.match(head?.text ?? '', /^Another fork of the session with Far.*The forks share the first 2 of 5 messages/s);
    assert.equal(await commands.executeCommand('parley.showBranch', { session: key }), other);
    await api.send(other, 'on this one');
    assert.deepEqual(words(api.snapshot(other)), ['one', 'aside', 'there', 'on this one']);
    assert.equal((await api.exportDescriptor(other)).history.length, 7);
    assert.equal((await api.exportDescriptor(key)).history.length, 6);
    assert.equal(await commands.executeCommand('parley.showBranch', { session: key }), other, 'also when it has grown');
  });
});
