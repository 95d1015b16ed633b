// The local server in a real VS Code: runs while enabled, for callers with the token.
import { strict as assert } from 'node:assert';
import { request } from 'node:http';
import { commands, env, extensions, Uri } from 'vscode';
import { configure } from '../extension';

describe('the local server', function () {
  this.timeout(60_000);

  const set = (key: string, value?: unknown): Thenable<void> => configure(`server.${key}`, value);
  const copyAddress = (): Thenable<string> => commands.executeCommand<string>('parley.server.copyAddress', {});

  async function status(url: string, token?: string): Promise<number> {
    const response = await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    await response.body?.cancel();
    return response.status;
  }

  before(async () => {
    await extensions.getExtension('parley.parley')?.activate();
  });

  after(async () => {
    await set('enabled', undefined);
    await set('agents', undefined);
    await set('publicUrl', undefined);
  });

  it('is off by default', async () => {
    await assert.rejects(async () => copyAddress(), /Nothing is shared right now/);
  });

  it('serves what was chosen to holders of the token, until turned off', async () => {
    await set('agents', ['demo', 'nobody']);
    await set('enabled', true);
    const address = await copyAddress();
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(await env.clipboard.readText(), address);
    assert.equal(await commands.executeCommand('parley.server.copyToken', {}), undefined);
    const token = await env.clipboard.readText();
    assert.equal(await status(`${address}/ping`), 401);
    assert.equal(await status(`${address}/ping`, token), 200);
    const authorization = `Bearer ${token}`;
    const listed = await (await fetch(`${address}/agents`, { headers: { authorization } })).json();
    assert.deepEqual(
      (listed as { agents: { name: string }[] }).agents.map(({ name }) => name),
      ['demo'],
    );
    const answer = await fetch(`${address}/runs`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ agent_name: 'demo', input: [{ parts: [{ content: '/echo Hello from afar' }] }] }),
    });
    const run = (await answer.json()) as { status: string; output: { parts: { content: string }[] }[] };
    assert.equal(run.status, 'completed');
    assert.ok(run.output.flatMap(({ parts }) => parts).some(({ content }) => content.length > 0));
    await set('agents', []);
    // The setting is in effect when the address is returned.
    assert.equal(await copyAddress(), address);
    assert.equal(await status(`${address}/agents/demo`, token), 404);
    await set('enabled', false);
    await assert.rejects(async () => copyAddress(), /Nothing is shared right now/);
    assert.equal(await status(`${address}/agents/demo`, token).catch(() => 404), 404);
  });

  it('returns the configured public address, is reachable there, and ignores an invalid one', async () => {
    await set('enabled', true);
    const own = await copyAddress();
    await set('publicUrl', 'https://parley.example.org/mine/');
    assert.equal(await copyAddress(), 'https://parley.example.org/mine');
    const ask = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { port } = new URL(own);
        const asking = request({ host: '127.0.0.1', port, path: '/mine/ping', headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asking.on('error', reject).end();
      });
    assert.deepEqual([await ask('parley.example.org'), await ask('other.example.org')], [401, 421]);
    await set('publicUrl', 'parley.example.org');
    assert.equal(await copyAddress(), own);
    await set('enabled', false);
  });

  it("asks VS Code for the port's external address if so configured", async () => {
    await set('enabled', true);
    const own = await copyAddress();
    await set('publicUrl', 'auto');
    const forwarded = (await env.asExternalUri(Uri.parse(own))).toString(true).replace(/\/$/, '');
    assert.equal(await copyAddress(), forwarded);
    await set('publicUrl', undefined);
    assert.equal(await copyAddress(), own);
    await set('enabled', false);
  });
});
