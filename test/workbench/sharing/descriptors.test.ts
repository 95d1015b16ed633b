// Shared sessions in a real VS Code: opened with gaps, continued with another agent, diverged.
import { strict as assert } from 'node:assert';
import { commands, env } from 'vscode';
import type { ParleyApi } from '../../../src/workbench/api';
import { activated } from '../extension';

describe('shared sessions', function () {
  this.timeout(60_000);
  let api: ParleyApi;

  before(async () => {
    api = await activated();
  });

  const said = (key: string): string[] =>
    api
      .snapshot(key)
      .entries.filter(({ kind }) => kind === 'user' || kind === 'gap')
      .map(({ kind, text }) => `${kind}: ${text}`);
  const notices = (key: string): string[] =>
    api
      .snapshot(key)
      .entries.filter(({ kind }) => kind === 'notice')
      .map(({ text }) => text ?? '');
  const textOf = async (url: string): Promise<string> => JSON.stringify(await (await fetch(url)).json());

  it('provide readable links to their messages', async () => {
    const key = await api.openSession({ agent: 'demo' });
    await api.send(key, '/echo one');
    const descriptor = await api.exportDescriptor(key);
    assert.equal(descriptor.history.length, 2);
    assert.match(await textOf(descriptor.history[0] ?? ''), /"role":"user".*\/echo one/);
    assert.match(await textOf(descriptor.history[1] ?? ''), /"role":"agent\/Demo"/);
    const link = await commands.executeCommand<string>('parley.copyDescriptor', { session: key, form: 'link' });
    assert.equal(await env.clipboard.readText(), link);
    assert.match(link, /^[a-z-]+:\/\/parley\.parley\/session\?d=/);
    const opened = await api.openDescriptor(link, { agent: 'demo' });
    assert.deepEqual(said(opened), ['user: /echo one']);
    assert.notEqual(opened, key);
  });

  it("keep the state that a chat's agent has stored in them", async () => {
    const count = async (key: string): Promise<string> => {
      await api.send(key, '/count');
      return api.snapshot(key).entries.findLast(({ kind }) => kind === 'agent')?.text ?? '';
    };
    const key = await api.openSession({ agent: 'demo' });
    assert.match(await count(key), /Count: 1$/);
    assert.match(await count(key), /Count: 2$/);
    const descriptor = await api.exportDescriptor(key);
    assert.equal(await (await fetch(descriptor.state ?? '')).text(), '2');
    assert.match(await count(await api.openDescriptor(descriptor, { agent: 'demo' })), /Count: 3$/);
    const next = await commands.executeCommand<string>('parley.continueWith', { session: key, agent: 'demo' });
    assert.match(await count(next), /Count: 3$/);
    assert.match(await count(key), /Count: 3$/);
  });

  it('report on both sides that another agent continues, and separate the branches', async () => {
    const old = await api.openSession({ agent: 'demo' });
    await api.send(old, '/echo one');
    const next = await commands.executeCommand<string>('parley.continueWith', { session: old, agent: 'demo' });
    assert.ok(notices(old).some((text) => text.startsWith('Continued with Demo')));
    assert.ok(notices(next).some((text) => text.startsWith('Continued from Demo, 2 messages')));
    assert.ok(notices(next).some((text) => /Running tool calls and queued messages aren't transferred/.test(text)));
    assert.deepEqual(said(next), ['user: /echo one']);
    await api.send(next, '/echo next');
    await api.send(old, '/echo old');
    const [ours, theirs] = [await api.exportDescriptor(next), await api.exportDescriptor(old)];
    assert.equal(ours.id, theirs.id);
    assert.deepEqual([ours.history.length, theirs.history.length], [4, 4]);
    assert.match(await textOf(ours.history[2] ?? ''), /\/echo next/);
    assert.match(await textOf(theirs.history[2] ?? ''), /\/echo old/);
    for (const key of [old, next])
      assert.ok(notices(key).some((text) => text.startsWith('This session has another fork')));
  });
});
