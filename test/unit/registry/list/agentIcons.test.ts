// Icons of the registry's agents: only from the registry's server, bounded, and available offline.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { AgentIcons, type Icons } from '../../../../src/registry/list/agentIcons';
import { parseRegistry } from '../../../../src/registry/list/registryAgent';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';

const SVG = '<svg viewBox="0 0 16 16"><path d="M1 1h2v2z"/></svg>';
const DAY = 24 * 60 * 60_000;
const { signal } = new AbortController();

describe('the icons of the registry', () => {
  afterEach(async () => {
    await closeLoopbacks();
    await removeScratch();
  });

  let asked: string[];
  let answer: (response: ServerResponse, path: string) => void;
  let now: number;

  const setUp = async () => {
    [asked, now] = [[], 10 * DAY];
    answer = (response) => response.end(SVG);
    const { host } = await httpLoopback(({ url = '' }, response) => {
      asked.push(url);
      answer(response, url);
    });
    const file = join(await scratchFolder(), 'icons.json');
    const icons = new AgentIcons({ file, log: silentLog, now: () => now });
    const load = async (...listed: readonly unknown[]): Promise<readonly Icons[]> => {
      const distribution = { npx: { package: 'a@1.0.0' } };
      const agents = listed.map((icon, index) => ({
        ...{ id: `a${index}`, name: 'A', version: '1.0.0', description: 'An agent', distribution },
        icon,
      }));
      const parsed = parseRegistry(JSON.stringify({ agents }));
      assert.equal(parsed.agents.length, listed.length, 'an icon does not make an agent invalid');
      const shown: Icons[] = [];
      await icons.load(parsed.agents, `http://${host}/v1/registry.json`, signal, (now) => shown.push(now));
      return shown;
    };
    return { host, file, load };
  };
  const ids = (icons: Icons | undefined): readonly string[] => [...(icons?.keys() ?? [])].sort();

  it('are loaded only from the server of the list', async () => {
    const { host, load } = await setUp();
    const other = await httpLoopback((_request, response) => {
      asked.push('other');
      response.end(SVG);
    });
    const all = ['a.svg', `http://${host}/b.svg`, `http://${other.host}/c.svg`, 'file:///etc/passwd', 'data:,x', '', 7];
    assert.deepEqual(ids((await load(...all)).at(-1)), ['a0', 'a1', 'a5']);
    assert.deepEqual(asked.sort(), ['/b.svg', '/v1/a.svg', '/v1/registry.json']);
  });

  it('are not loaded from the target of a redirect', async () => {
    const { load } = await setUp();
    const other = await httpLoopback((_request, response) => {
      asked.push('other');
      response.end(SVG);
    });
    answer = (response) => response.writeHead(302, { location: `http://${other.host}/a.svg` }).end();
    assert.deepEqual(ids((await load('a.svg')).at(-1)), []);
    assert.deepEqual(asked, ['/v1/a.svg']);
  });

  it('are requested once a week, and missing ones once a day', async () => {
    const { load } = await setUp();
    answer = (response, path) => (path === '/v1/b.svg' ? response.writeHead(404).end() : response.end(SVG));
    assert.deepEqual((await load('a.svg', 'b.svg', 'a.svg')).map(ids), [['a0', 'a2']]);
    assert.deepEqual((await load('a.svg', 'b.svg', 'a.svg')).map(ids), [['a0', 'a2']]);
    assert.equal(asked.length, 2);
    now += 2 * DAY;
    await load('a.svg', 'b.svg');
    assert.deepEqual(asked.slice(2), ['/v1/b.svg']);
    now += 6 * DAY;
    assert.equal((await load('a.svg')).length, 2);
    assert.deepEqual(asked.slice(3), ['/v1/a.svg']);
  });

  it('are available offline', async () => {
    const { load } = await setUp();
    await load('a.svg');
    await closeLoopbacks();
    now += 30 * DAY;
    assert.deepEqual((await load('a.svg')).map(ids), [['a0'], ['a0']]);
  });

  it('are validated again if the cache file has changed', async () => {
    const { file, load } = await setUp();
    await load('a.svg');
    const kept = await readFile(file, 'utf8');
    await writeFile(file, kept.replace('<path', '<script/><path'));
    assert.deepEqual((await load('a.svg')).map(ids), [[]]);
    await writeFile(file, '{');
    assert.deepEqual((await load('a.svg')).map(ids), [['a0']]);
  });

  it('are skipped if too large, invalid or too many', async () => {
    const { load } = await setUp();
    answer = (response, path) =>
      path.endsWith('large.svg') ? response.end(SVG + ' '.repeat(1e6)) : response.end('<html>');
    assert.deepEqual(ids((await load('large.svg', 'page.svg')).at(-1)), []);
    answer = (response) => response.end(SVG);
    const many = Array.from({ length: 400 }, (_, index) => `${index}.svg`);
    assert.equal((await load(...many)).at(-1)?.size, 300);
  });
});
