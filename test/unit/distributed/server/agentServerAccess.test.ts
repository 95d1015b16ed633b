// Our server for strangers: closed without the token, and open for one message to whoever has its whole link.

import assert from 'node:assert/strict';
import { mintToken } from '../../../../src/distributed/server/serverRequest';
import { clientOf, echo, type RunningServer, serve, userMessage } from '../../../support/servers/servedAgents';
import { eachServer, raw, runBody, textAt } from '../model/serverUnderTest';

const signal = new AbortController().signal;

describe('the agent server', () => {
  let running: RunningServer;
  eachServer((server) => {
    running = server;
  });

  describe('for strangers', () => {
    it('is closed without the token, or with another one of any length', async () => {
      for (const authorization of ['', 'Bearer x', `Bearer ${mintToken()}`, `Basic ${running.token}`, 'Bearer ']) {
        for (const path of ['/ping', '/agents', '/nothing', '/sessions/x']) {
          assert.equal((await raw(running, 'GET', path, { headers: { authorization } })).status, 401, path);
        }
      }
      assert.equal((await raw(running, 'GET', '/ping')).status, 200);
    });

    it('refuses to start with a token that could be guessed', async () => {
      await assert.rejects(serve([echo], { token: 'short' }), { code: 'weak-token' });
    });

    it('does not answer web pages, nor names that were pointed at this machine', async () => {
      const { port } = new URL(running.baseUrl);
      const status = async (headers: Record<string, string>) =>
        (await raw(running, 'GET', '/ping', { headers })).status;
      assert.equal(await status({ host: `localhost:${port}` }), 200);
      for (const host of ['evil.test', `evil.test:${port}`, '127.0.0.1', `127.0.0.1:${port}.evil.test`]) {
        assert.equal(await status({ host }), 421, host);
      }
      for (const origin of ['https://evil.test', 'null', `http://127.0.0.1:${port}`]) {
        assert.equal(await status({ origin }), 403, origin);
      }
    });

    it('serves a message only with its whole link, until the link expires', async () => {
      const { client } = running;
      const run = await client.runSync({ agentName: 'echo', input: [userMessage('hello')] }, signal);
      const { history } = await client.session(run.session_id ?? '', signal);
      const url = new URL(history[0] ?? '');
      const get = async (change: (url: URL) => void) => {
        const changed = new URL(url);
        change(changed);
        return (await fetch(changed)).status;
      };
      assert.equal(await get(() => {}), 200);
      assert.equal(await textAt(url), 'hello');
      assert.equal(await get((u) => u.searchParams.set('sig', 'x')), 403);
      assert.equal(await get((u) => u.searchParams.delete('sig')), 403);
      assert.equal(await get((u) => u.searchParams.set('exp', '9999999999')), 403);
      assert.equal(
        await get((u) => {
          u.pathname = new URL(history[1] ?? '').pathname;
        }),
        403,
      );
      for (const path of ['/resources', '/resources/', '/resources/..%2f..%2fetc%2fpasswd', '/resources/%2e%2e/x']) {
        const answer = await raw(running, 'GET', path);
        assert.equal(answer.status, 404, path);
      }
      const ended = await running.store.urlFor((await running.store.list('sessions/', signal))[0] ?? '', {
        expiresIn: 60,
      });
      assert.equal((await fetch(ended)).status, 200);
      const past = new URL(ended);
      past.searchParams.set('exp', '1');
      assert.equal((await fetch(past)).status, 403);
    });

    it('takes no message links from the name under which it was called', async () => {
      const { port } = new URL(running.baseUrl);
      const host = `localhost:${port}`;
      const run = JSON.parse((await raw(running, 'POST', '/runs', { body: runBody('echo'), headers: { host } })).text);
      const { history } = await clientOf(running.baseUrl, running.token).session(run.session_id, signal);
      assert.ok(history.every((url) => url.startsWith(`${running.baseUrl}/resources/`)));
    });
  });
});
