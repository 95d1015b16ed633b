// Fetched resources are not fetched again, and never mistaken for others.

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mintId } from '../../../../src/distributed/model/model';
import type { ResourceStore } from '../../../../src/distributed/model/resources';
import { readTexts, servedPast } from '../../../../src/distributed/server/servedAgent';
import { scratchFolder } from '../../../support/scratch';
import { part } from '../../../support/servers/servedAgents';
import { messageText, serve } from '../loopback';
import { closeResolvers, echo, newCache, open, resolver, textOf } from './resolvers';

const never = new AbortController().signal;

describe('Resolver', () => {
  afterEach(closeResolvers);

  it('does not request immutable messages again', async () => {
    const server = await serve(echo);
    const cache = await newCache();
    const history = Array.from({ length: 30 }, (_, index) => `${server.origin}/${index}?X-Amz-Signature=s${index}`);
    const before = await open(resolver({ cache }), history);
    await cache.settled();
    await server.close();
    const after = await open(resolver({ cache }), history);
    assert.equal(server.seen.length, 30);
    assert.deepEqual(after.map(textOf), before.map(textOf));
    assert.ok(after.every((entry) => entry.kind === 'message' && entry.source === 'cache'));
  });

  describe('for parts with their own URL', () => {
    const message = (origin: string) => JSON.stringify({ role: 'user', parts: [{ content_url: `${origin}/part` }] });

    it('requests past parts once for all runs, and new parts again', async () => {
      const server = await serve((request, response) => {
        response.end(request.url === '/part' ? `text ${server.seen.length}` : message(server.origin));
      });
      const cache = await newCache();
      const session = { id: 'session-123', history: [`${server.origin}/message`] };
      const said = async () => JSON.stringify(await servedPast(resolver({ cache }), session, never));
      const first = await said();
      assert.match(first, /text 2/);
      assert.equal(await said(), first);
      assert.equal(server.seen.length, 2);
      const input = { role: 'user', parts: [part({ content_url: `${server.origin}/part` })] };
      assert.match(JSON.stringify(await readTexts(resolver({ cache }), [input], never)), /text 3/);
      assert.match(await said(), /text 3/);
      assert.equal(server.seen.length, 3);
    });

    it('downloads a new part again only if it has changed', async () => {
      const answers: number[] = [];
      const server = await serve((request, response) => {
        const isSame = request.headers['if-none-match'] === '"1"';
        answers.push(isSame ? 304 : 200);
        response.writeHead(isSame ? 304 : 200, { etag: '"1"' }).end(isSame ? undefined : 'text');
      });
      const cache = await newCache();
      const input = { role: 'user', parts: [part({ content_url: `${server.origin}/part` })] };
      for (let run = 0; run < 3; run++)
        assert.match(JSON.stringify(await readTexts(resolver({ cache }), [input], never)), /"content":"text"/);
      assert.deepEqual(answers, [200, 304, 304]);
    });

    it('applies the limit of each reader', async () => {
      const server = await serve((_request, response) => response.end('ten bytes!'));
      const cache = await newCache();
      const read = async (maxBytes: number) => {
        const remote = part({ content_url: `${server.origin}/part` });
        const found = await resolver({ cache }).resolvePart(remote, { maxBytes }, never);
        return found.kind === 'gap' ? found.reason : Buffer.from(found.bytes).toString();
      };
      assert.deepEqual([await read(9), await read(10), await read(9)], ['too-large', 'ten bytes!', 'too-large']);
    });
  });

  it('requests again for another signature, from a server that is not ours', async () => {
    const server = await serve(echo);
    const cache = await newCache();
    await open(resolver({ cache }), [`${server.origin}/x?sig=a`]);
    await cache.settled();
    const [entry] = await open(resolver({ cache }), [`${server.origin}/x?sig=b`]);
    assert.equal(textOf(entry), '/x?sig=b');
  });

  it('treats a damaged cache entry as a miss', async () => {
    const server = await serve(echo);
    const folder = await scratchFolder();
    const cache = await newCache(folder);
    const history = [`${server.origin}/a`, `${server.origin}/b`];
    await open(resolver({ cache }), history);
    await cache.settled();
    for (const file of await filesIn(folder)) await writeFile(file, (await readFile(file)).subarray(0, -5));
    assert.deepEqual((await open(resolver({ cache }), history)).map(textOf), ['/a', '/b']);
    assert.equal(server.seen.length, 4);
  });

  it('does not request a re-signed link to our own server again', async () => {
    let asked = 0;
    const own: ResourceStore = {
      id: 's3:own',
      isLocal: false,
      keyOf: async (url) => (url.startsWith('https://own.example/') ? new URL(url).pathname : undefined),
      get: async (key) => {
        asked++;
        return Buffer.from(messageText(key));
      },
      put: () => assert.fail(),
      urlFor: () => assert.fail(),
      remove: () => assert.fail(),
    };
    const cache = await newCache();
    const id = mintId();
    for (const signature of ['a', 'b']) {
      const [entry] = await open(resolver({ cache, stores: [own] }), [
        `https://own.example/${id}?X-Amz-Signature=${signature}`,
      ]);
      assert.equal(textOf(entry), `/${id}`);
      await cache.settled();
    }
    assert.equal(asked, 1);
  });

  describe('for the state', () => {
    it('gives the agent the current state, and loads it once', async () => {
      const bytes = Buffer.from([0, 255, 1, 254, 10]);
      let tag = '"v1"';
      const server = await serve((request, response) => {
        if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
        else response.writeHead(200, { etag: tag }).end(Buffer.concat([Buffer.from(tag), bytes]));
      });
      const cache = await newCache();
      const read = async () => {
        const state = await resolver({ cache }).resolveState(`${server.origin}/state`, never);
        await cache.settled();
        assert.equal(state.kind, 'state');
        return [state.source, Buffer.from(state.bytes).toString('latin1')];
      };
      const v1 = `"v1"${bytes.toString('latin1')}`;
      assert.deepEqual(await read(), ['network', v1]);
      assert.deepEqual(await read(), ['revalidated', v1]);
      tag = '"v2"';
      assert.deepEqual(await read(), ['network', `"v2"${bytes.toString('latin1')}`]);
    });
  });
});

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
