// The registry's list: read entry by entry, fetched within limits, and available offline.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { isNewer, parseRegistry } from '../../../../src/registry/list/registryAgent';
import { RegistryList } from '../../../../src/registry/list/registryList';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';

const REAL = readFileSync('test/fixtures/registry/registry.json', 'utf8');
const { signal } = new AbortController();

function entry(patch: Record<string, unknown> = {}): Record<string, unknown> {
  const distribution = { npx: { package: 'a@1.0.0' } };
  return { id: 'a', name: 'A', version: '1.0.0', description: 'An agent', distribution, ...patch };
}

describe('parseRegistry', () => {
  it('reads all agents of the real list', () => {
    const { agents, problems } = parseRegistry(REAL);
    assert.deepEqual(problems, []);
    assert.equal(agents.length, (JSON.parse(REAL) as { agents: unknown[] }).agents.length);
    const gemini = agents.find(({ id }) => id === 'gemini');
    assert.deepEqual(gemini?.npx, { package: '@google/gemini-cli@0.27.3', args: ['--experimental-acp'], env: {} });
    const codex = agents.find(({ id }) => id === 'codex-acp');
    assert.equal(codex?.binary.get('linux-x86_64')?.cmd, './codex-acp');
  });

  it('skips invalid entries one by one, and accepts unknown keys', () => {
    const binary = { archive: 'https://a.example/a.zip', cmd: './a' };
    const list = [
      null,
      'text',
      entry({ id: '../evil' }),
      entry({ id: '__proto__' }),
      entry({ version: 'latest' }),
      entry({ distribution: {} }),
      entry({ distribution: { binary: { 'linux-x86_64': { archive: 'file:///etc/passwd', cmd: 'x' } } } }),
      entry({ id: 'env', distribution: { npx: { package: 'a', env: { 'A=B': 'x' } } } }),
      entry({ id: 'good', preview: { version: '2.0.0' }, license_url: 'https://x.example' }),
      entry({ id: 'good', name: 'second' }),
      entry({ id: 'half', distribution: { binary: { 'linux-x86_64': binary, 'windows-x86_64': 7 }, snap: {} } }),
    ];
    const { agents, problems } = parseRegistry(JSON.stringify({ version: '9.0.0', agents: list, more: 1 }));
    assert.deepEqual(
      agents.map(({ id, name }) => [id, name]),
      [
        ['good', 'A'],
        ['half', 'A'],
      ],
    );
    assert.deepEqual([...(agents[1]?.binary.keys() ?? [])], ['linux-x86_64']);
    assert.equal(problems.length, 9);
  });

  it('reads the preview channel of an agent, and keeps the agent if its preview is invalid', () => {
    const distribution = { npx: { package: 'a@1.1.0-preview.1', args: ['--next'] } };
    const previews = [
      { version: '1.1.0-preview.1', distribution },
      { version: 'next', distribution },
      7,
      { distribution: {} },
    ];
    const list = previews.map((preview, index) => entry({ id: `a${index}`, license: 'MIT', preview }));
    const { agents, problems } = parseRegistry(JSON.stringify({ agents: list }));
    assert.deepEqual(problems, []);
    const [{ preview, ...stable } = agents[0]!] = agents;
    const { npx, version, isPreview, ...shared } = preview!;
    assert.deepEqual([npx, version, isPreview], [{ ...distribution.npx, env: {} }, '1.1.0-preview.1', true]);
    const { npx: _npx, version: _version, ...same } = stable;
    assert.deepEqual(shared, same);
    assert.deepEqual(
      agents.slice(1).map((one) => one.preview),
      [undefined, undefined, undefined],
    );
  });

  it('rejects a file that is not a list', () => {
    for (const text of ['', '<html>', '[]', '{"agents":{}}', 'null'])
      assert.throws(() => parseRegistry(text), { code: 'bad-registry' });
  });
});

it('compares semantic versions, otherwise any different version that sorts later is newer', () => {
  const newer = [
    ['1.10.0', '1.9.0'],
    ['1.0.0', '1.0.0-beta.2'],
    ['1.0.0rc2', '1.0.0rc1'],
  ] as const;
  for (const [one, other] of newer) assert.equal(isNewer(one, other), true, one);
  const others = [
    ['1.9.0', '1.10.0'],
    ['1.0.0', '1.0.0'],
    ['2026.1', '2026.1'],
    ['2026.2', '2026.11'],
  ] as const;
  for (const [one, other] of others) assert.equal(isNewer(one, other), false, one);
});

describe('the list of the registry', () => {
  afterEach(async () => {
    await closeLoopbacks();
    await removeScratch();
  });

  let answer: (response: ServerResponse, etag: string | undefined) => void;
  let asked: number;
  const setUp = async (now?: () => number) => {
    asked = 0;
    answer = (response) => response.setHeader('etag', '"1"').end(REAL);
    const { host } = await httpLoopback((request, response) => {
      asked += 1;
      answer(response, request.headers['if-none-match']);
    });
    const file = join(await scratchFolder(), 'lists', 'registry.json');
    const list = (): RegistryList => new RegistryList({ file, log: silentLog, ...(now && { now }) });
    return { url: `http://${host}/registry.json`, file, list };
  };

  it('is fetched, and later shown offline with its date', async () => {
    const { url, list } = await setUp(() => 1000);
    assert.equal((await list().load(url, signal)).agents.length, 11);
    await closeLoopbacks();
    const { agents, at, failure } = await list().load(url, signal);
    assert.equal(agents.length, 11);
    assert.equal(at, 1000);
    assert.equal(failure?.code, 'refused');
  });

  it('is not fetched again while it is fresh, and later only if it has changed', async () => {
    let now = 0;
    const { url, list } = await setUp(() => now);
    const one = list();
    await one.load(url, signal);
    await one.load(url, signal);
    assert.equal(asked, 1);
    now = 10 * 60_000;
    answer = (response, etag) => {
      response.statusCode = etag === '"1"' ? 304 : 500;
      response.end();
    };
    const { agents, at, failure } = await one.load(url, signal);
    assert.deepEqual([agents.length, at, failure, asked], [11, now, undefined, 2]);
  });

  it('stays the last valid one after an invalid response', async () => {
    const { url, list } = await setUp();
    await list().load(url, signal);
    for (const [code, bad] of [
      ['bad-registry', (response: ServerResponse) => void response.end('<html>sign in to the wifi</html>')],
      ['registry-unavailable', (response: ServerResponse) => void response.writeHead(503).end()],
      ['bad-redirect', (response: ServerResponse) => void response.writeHead(302, { location: '/' }).end()],
      ['connection-lost', (response: ServerResponse) => void response.socket?.destroy()],
      [
        'too-large',
        (response: ServerResponse) => {
          const more = (): void => {
            if (response.destroyed) return;
            if (response.write(Buffer.alloc(1024 * 1024, 32))) setImmediate(more);
            else response.once('drain', more);
          };
          more();
        },
      ],
    ] as const) {
      answer = bad;
      const { agents, failure } = await list().load(url, signal);
      assert.deepEqual([agents.length, failure?.code], [11, code]);
    }
  });

  it('reports why it is unavailable, and ignores lists of other addresses and damaged files', async () => {
    const { url, file, list } = await setUp();
    await list().load(url, signal);
    answer = (response) => void response.writeHead(404).end();
    await assert.rejects(list().load(`${url}?other`, signal), { code: 'registry-unavailable' });
    await writeFile(file, (await readFile(file, 'utf8')).slice(0, 100));
    await assert.rejects(list().load(url, signal), { code: 'registry-unavailable' });
    await assert.rejects(list().load('file:///etc/passwd', signal), { code: 'bad-url' });
  });

  it('follows no redirect to another unencrypted server', async () => {
    const { url, list } = await setUp();
    answer = (response) => void response.writeHead(302, { location: 'http://registry.example/' }).end();
    await assert.rejects(list().load(url, signal), { code: 'not-encrypted' });
  });
});
