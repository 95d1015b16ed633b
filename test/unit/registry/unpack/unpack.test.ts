// Archives unpack completely, and malicious ones change nothing outside of their folder.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  archiveKind,
  pathParts,
  type UnpackLimits,
  type UnpackTarget,
  unpack,
  unpackZip,
} from '../../../../src/registry/unpack/unpack';
import { tarOf, tgzOf, zipOf } from '../../../support/archives';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const { signal } = new AbortController();

describe('unpack', () => {
  afterEach(removeScratch);

  async function unpacked(name: string, bytes: Buffer, limits?: UnpackLimits): Promise<string> {
    const home = await scratchFolder();
    const path = join(home, 'download.part');
    await writeFile(path, bytes);
    const kind = archiveKind(`https://a.example/${name}`);
    await unpack({ path, kind, program: './agent' }, join(home, 'out'), signal, limits);
    return join(home, 'out');
  }

  const FILES = [
    { name: 'agent', text: '#!/bin/sh\n', mode: 0o755 },
    { name: 'lib/', type: 'directory' as const },
    { name: './lib/data.txt', text: 'data', mode: 0o644 },
  ];

  async function assertWhole(folder: string): Promise<void> {
    assert.equal(await readFile(join(folder, 'agent'), 'utf8'), '#!/bin/sh\n');
    assert.equal(await readFile(join(folder, 'lib/data.txt'), 'utf8'), 'data');
    if (process.platform === 'win32') return;
    assert.equal((await stat(join(folder, 'agent'))).mode & 0o777, 0o755);
    assert.equal((await stat(join(folder, 'lib/data.txt'))).mode & 0o777, 0o644);
  }

  it('unpacks plain and gzipped tar archives', async () => {
    await assertWhole(await unpacked('a.tar', await tarOf(FILES)));
    await assertWhole(await unpacked('a.tar.gz', await tgzOf(FILES)));
    await assertWhole(await unpacked('a.tgz?x=1', await tgzOf(FILES)));
  });

  it('unpacks tar archives compressed with bzip2', async function () {
    const bzip2 = spawnSync('bzip2', ['-c'], { input: await tarOf(FILES) });
    if (bzip2.error) this.skip();
    await assertWhole(await unpacked('a.tar.bz2', bzip2.stdout));
    await assertWhole(await unpacked('a.tbz2', bzip2.stdout));
  });

  it('unpacks zip archives', async () => {
    const files = [
      { name: 'agent', text: '#!/bin/sh\n', mode: 0o100755 },
      { name: 'lib/data.txt', text: 'data' },
    ];
    await assertWhole(await unpacked('a.zip', await zipOf(files)));
  });

  it('treats a file without an archive extension as the program', async () => {
    const folder = await unpacked('agent-linux', Buffer.from('program'));
    assert.equal(await readFile(join(folder, 'agent'), 'utf8'), 'program');
    assert.throws(() => archiveKind('https://a.example/agent.dmg'), { code: 'unsupported-archive' });
    assert.throws(() => archiveKind('https://a.example/agent.tar.xz'), { code: 'unsupported-archive' });
  });

  describe('refuses', () => {
    const names = ['../evil', '/tmp/parley-evil', 'a/../../evil', '..\\evil', 'C:\\evil', 'C:evil', '\\\\host\\evil'];
    for (const name of [...names, 'nul', 'a/COM1.txt', 'trailing.', 'a\u0000b'])
      it(`the name ${JSON.stringify(name)}`, async () => {
        assert.equal(pathParts(name), undefined);
        if (name.includes('\u0000')) return;
        await assert.rejects(unpacked('a.tar', await tarOf([{ name, text: 'x' }])), { code: 'evil-archive' });
      });

    it('such names in a zip', async () => {
      const good = await zipOf([{ name: 'aaaaaaaaaa', text: 'x' }]);
      const evil = Buffer.from(good.toString('latin1').replaceAll('aaaaaaaaaa', '../../evil'), 'latin1');
      await assert.rejects(unpacked('a.zip', evil), /refused|damaged/);
    });

    for (const type of ['symlink', 'link', 'block-device', 'character-device', 'fifo'] as const)
      it(`a ${type}`, async () => {
        const archive = await tarOf([
          { name: 'agent', text: 'x' },
          { name: 'other', type, linkname: '../../etc/passwd' },
        ]);
        await assert.rejects(unpacked('a.tar', archive), { code: 'evil-archive' });
      });

    it('a link in a zip', async () => {
      const archive = await zipOf([{ name: 'agent', text: '/etc/passwd', mode: 0o120777 }]);
      await assert.rejects(unpacked('a.zip', archive), { code: 'evil-archive' });
    });

    it('a duplicate file', async () => {
      const twice = [
        { name: 'agent', text: 'one' },
        { name: './agent', text: 'two' },
      ];
      await assert.rejects(unpacked('a.tar', await tarOf(twice)), { code: 'evil-archive' });
    });

    it('more bytes or files than the limits', async () => {
      const limits = { maxBytes: 1_000_000, maxEntries: 10 };
      const zeros = Buffer.alloc(2_000_000);
      await assert.rejects(unpacked('a.tgz', await tgzOf([{ name: 'a', text: zeros }]), limits), {
        code: 'evil-archive',
      });
      await assert.rejects(unpacked('a.zip', await zipOf([{ name: 'a', text: zeros }]), limits), {
        code: 'evil-archive',
      });
      const many = Array.from({ length: 11 }, (_, n) => ({ name: `f${n}`, text: '' }));
      await assert.rejects(unpacked('a.tgz', await tgzOf(many), limits), { code: 'evil-archive' });
    });

    it('a decompression bomb', async () => {
      const zeros = Buffer.alloc(60_000_000);
      await assert.rejects(unpacked('a.tgz', await tgzOf([{ name: 'a', text: zeros }])), { code: 'evil-archive' });
      await assert.rejects(unpacked('a.zip', await zipOf([{ name: 'a', text: zeros }])), { code: 'evil-archive' });
    });

    it('damaged archives', async () => {
      const tgz = await tgzOf([{ name: 'a', text: 'x'.repeat(10_000) }]);
      await assert.rejects(unpacked('a.tgz', tgz.subarray(0, -20)), { code: 'bad-archive' });
      await assert.rejects(unpacked('a.tgz', Buffer.from('<html>')), { code: 'bad-archive' });
      await assert.rejects(unpacked('a.zip', Buffer.from('<html>')), { code: 'bad-archive' });
      const tar = await tarOf([{ name: 'a', text: 'x'.repeat(10_000) }]);
      await assert.rejects(unpacked('a.tar', tar.subarray(0, 3000)), { code: 'bad-archive' });
      const zip = await zipOf([{ name: 'a', text: Buffer.from('stored data that is long enough') }]);
      const changed = Buffer.from(zip);
      changed[35] = (changed[35] ?? 0) ^ 0xff;
      await assert.rejects(unpacked('a.zip', changed), { code: 'bad-archive' });
    });

    it('a small file with a wrong checksum before creating its folder', async () => {
      const zip = Buffer.from(await zipOf([{ name: 'a', text: Buffer.from('stored data that is long enough') }]));
      zip[35] = (zip[35] ?? 0) ^ 0xff;
      const path = join(await scratchFolder(), 'a.zip');
      await writeFile(path, zip);
      const slow = {
        file: async (_name: string, _isExecutable: boolean, content: Readable): Promise<void> => {
          await new Promise((resolve) => content.once('close', resolve));
          await pipeline(content, new PassThrough());
        },
      };
      const unpacking = unpackZip(path, slow as unknown as UnpackTarget, signal);
      await assert.rejects(unpacking, { message: 'wrong checksum' });
    });

    it('to continue after a cancel, and writes nothing outside of the folder', async () => {
      const abort = new AbortController();
      abort.abort(new Error('enough'));
      const home = await scratchFolder();
      await writeFile(join(home, 'a.part'), await tarOf(FILES));
      const file = { path: join(home, 'a.part'), kind: 'tar-none', program: 'agent' } as const;
      await assert.rejects(unpack(file, join(home, 'out'), abort.signal), { message: 'enough' });
      assert.deepEqual((await readdir(home)).sort(), ['a.part', 'out']);
    });
  });
});
