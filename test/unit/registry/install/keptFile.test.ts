// A file of an npm package: downloaded once, verified, and kept.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { KeptFile, type PackageFile } from '../../../../src/registry/install/keptFile';
import { type TarEntry, tgzOf } from '../../../support/archives';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';
import { SmallDisk } from '../../../support/smallDisk';

const SCRIPT = 'globalThis.drawn = "ä";\n';
const { signal } = new AbortController();
const none = (): void => {};

describe('a file of a package that is kept', () => {
  let folder: string;
  let registry: string;
  let requests: string[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let archive: Buffer;
  let file: PackageFile;

  beforeEach(async () => {
    requests = [];
    answer = (_request, response) => response.writeHead(200, { 'content-length': archive.length }).end(archive);
    const { host } = await httpLoopback((request, response) => {
      requests.push(request.url ?? '');
      answer(request, response);
    });
    registry = `http://${host}/npm/`;
    folder = join(await scratchFolder(), 'kept');
    archive = await packed(SCRIPT);
    const sha256 = createHash('sha256').update(SCRIPT).digest('hex');
    file = { name: '@scope/draw', version: '1.2.0', path: 'package/dist/draw.js', sha256, bytes: 100_000 };
  });

  afterEach(async () => {
    await closeLoopbacks();
    await removeScratch();
  });

  const packed = (script: string, more: readonly TarEntry[] = []): Promise<Buffer> =>
    tgzOf([{ name: 'package/package.json', text: '{}' }, { name: 'package/dist/draw.js', text: script }, ...more]);
  const kept = (): KeptFile => new KeptFile({ file, folder });
  const fetched = (): Promise<string> => kept().fetch(registry, none, signal);
  /** What a download that went wrong has left. */
  const left = async (): Promise<readonly string[]> =>
    (await readdir(folder)).filter((name) => name !== 'lock.db').sort();

  it('is downloaded from a registry at any path, and read from then on', async () => {
    assert.equal(await kept().read(), undefined);
    let last = 0;
    const onProgress = (received: number): void => {
      last = received;
    };
    assert.equal(await kept().fetch(registry, onProgress, signal), SCRIPT);
    assert.deepEqual(requests, ['/npm/@scope/draw/-/draw-1.2.0.tgz']);
    assert.equal(last, archive.length);
    assert.equal(await kept().read(), SCRIPT);
    assert.equal(await fetched(), SCRIPT);
    assert.equal(requests.length, 1);
    assert.deepEqual(await left(), ['1.2.0']);
  });

  it('is downloaded again when it is damaged', async () => {
    await fetched();
    await writeFile(join(folder, '1.2.0'), 'damaged');
    assert.equal(await kept().read(), null);
    assert.equal(await fetched(), SCRIPT);
    assert.equal(await readFile(join(folder, '1.2.0'), 'utf8'), SCRIPT);
  });

  it('takes the place of an earlier version', async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, '1.1.0'), 'earlier');
    await fetched();
    assert.deepEqual(await left(), ['1.2.0']);
  });

  it('is downloaded once by two windows', async () => {
    assert.deepEqual(await Promise.all([fetched(), fetched()]), [SCRIPT, SCRIPT]);
    assert.equal(requests.length, 1);
  });

  // What else an archive may hold is refused by its unpacking (unpack.test.ts).
  const hostile: Readonly<Record<string, () => Promise<Buffer>>> = {
    'another script': () => packed(`${SCRIPT}evil();`),
    'no script': () => tgzOf([{ name: 'package/package.json', text: '{}' }]),
    'a path out of the folder': () => packed(SCRIPT, [{ name: '../../evil', text: 'evil' }]),
    'a file twice': () => packed(SCRIPT, [{ name: 'package/dist/draw.js', text: 'evil' }]),
    'more than fits': () => packed(SCRIPT, [{ name: 'package/zeros', text: Buffer.alloc(30_000_000) }]),
    'no archive': async () => Buffer.from('<html>Sign in</html>'),
  };
  for (const [what, make] of Object.entries(hostile))
    it(`is not kept where the archive has ${what}`, async () => {
      const good = archive;
      archive = await make();
      await assert.rejects(fetched(), {
        code: 'wrong-checksum',
        message: /^The file from 127\.0\.0\.1:\d+ doesn't have the expected checksum\.$/,
      });
      assert.deepEqual(await left(), []);
      archive = good;
      assert.equal(await fetched(), SCRIPT);
    });

  it('is not fetched from a redirect to another machine of the network, or without encryption', async () => {
    for (const [location, code] of [
      ['http://192.168.0.1/draw.tgz', 'not-encrypted'],
      ['http://example.com/draw.tgz', 'not-encrypted'],
      ['file:///etc/passwd', 'bad-url'],
    ] as const) {
      answer = (_request, response) => response.writeHead(302, { location }).end();
      await assert.rejects(fetched(), { code }, location);
    }
  });

  it('says which setting is not an address', async () => {
    await assert.rejects(kept().fetch('ftp://127.0.0.1/', none, signal), { code: 'bad-url' });
    await assert.rejects(kept().fetch('nothing', none, signal), { message: 'Invalid URL' });
  });

  it('says that the disk is full', async function () {
    const disk = SmallDisk.mount(folder, 1);
    if (typeof disk === 'string') return this.skip();
    try {
      const script = Array.from({ length: 400_000 }, (_one, n) => (n * 2_654_435_761) % 97).join(' ');
      archive = await packed(script);
      file = { ...file, sha256: createHash('sha256').update(script).digest('hex'), bytes: 10_000_000 };
      await assert.rejects(fetched(), { code: 'disk-full', hint: 'Free some space, then try again.' });
      disk.grow(20);
      assert.equal(await fetched(), script);
    } finally {
      disk.unmount();
    }
  });
});
