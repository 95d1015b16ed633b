// Downloads: resumed, bounded and compared with their checksum.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { download } from '../../../../src/registry/install/download';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';

const FILE = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const { signal } = new AbortController();

describe('download', () => {
  afterEach(async () => {
    await closeLoopbacks();
    await removeScratch();
  });

  let requests: IncomingMessage[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let options: { readonly url: string; readonly folder: string; readonly trustedOrigin: string };

  beforeEach(async () => {
    requests = [];
    answer = whole;
    const { host } = await httpLoopback((request, response) => {
      requests.push(request);
      answer(request, response);
    });
    const folder = join(await scratchFolder(), 'downloads');
    options = { url: `http://${host}/agent.zip`, folder, trustedOrigin: `http://${host}` };
  });

  /** A server that supports ranges. */
  function whole(request: IncomingMessage, response: ServerResponse): void {
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
    const start = request.headers['if-range'] === '"v1"' ? Number(from) : 0;
    if (start >= FILE.length) return void response.writeHead(416, { 'content-range': `bytes */${FILE.length}` }).end();
    const range = { 'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
    const headers = { etag: '"v1"', 'content-length': FILE.length - start, ...(start > 0 && range) };
    response.writeHead(start > 0 ? 206 : 200, headers).end(FILE.subarray(start));
  }

  /** One that drops the connection after this many bytes. */
  const losing = (bytes: number) => (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { etag: '"v1"', 'content-length': FILE.length });
    response.write(FILE.subarray(0, bytes), () => setTimeout(() => response.destroy(), 50));
  };

  it('returns the whole file with its checksum, and reports progress', async () => {
    let last: readonly unknown[] = [];
    const onProgress = (...progress: readonly unknown[]): void => {
      last = progress;
    };
    const file = await download({ ...options, sha256: SHA256, onProgress }, signal);
    assert.deepEqual(await readFile(file.path), FILE);
    assert.deepEqual([file.sha256, file.bytes], [SHA256, FILE.length]);
    assert.deepEqual(last, [FILE.length, FILE.length]);
    assert.equal(requests[0]?.headers['accept-encoding'], 'identity');
  });

  it('resumes after a lost connection', async () => {
    answer = (request, response) => (requests.length === 1 ? losing(100_000) : whole)(request, response);
    const file = await download({ ...options, sha256: SHA256 }, signal);
    assert.deepEqual(await readFile(file.path), FILE);
    assert.match(requests[1]?.headers.range ?? '', /^bytes=[1-9]\d*-$/);
  });

  it('resumes after a cancel', async () => {
    const abort = new AbortController();
    answer = (_request, response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': FILE.length });
      response.write(FILE.subarray(0, 100_000));
    };
    const cancelled = assert.rejects(download(options, abort.signal), { message: 'enough' });
    for (let size = 0; size < 100_000; await delay(10)) {
      const [part] = (await readdir(options.folder).catch(() => [])).filter((name) => name.endsWith('.part'));
      size = part === undefined ? 0 : (await stat(join(options.folder, part))).size;
    }
    abort.abort(new Error('enough'));
    await cancelled;
    answer = whole;
    const file = await download({ ...options, sha256: SHA256 }, signal);
    assert.deepEqual(await readFile(file.path), FILE);
    assert.match(requests[1]?.headers.range ?? '', /^bytes=[1-9]\d*-$/);
  });

  it('starts over if the file has changed, or the server does not support ranges', async () => {
    answer = (request, response) => {
      if (requests.length === 1) losing(100_000)(request, response);
      else response.writeHead(200, { etag: '"v2"' }).end('another');
    };
    const file = await download(options, signal);
    assert.equal(await readFile(file.path, 'utf8'), 'another');
  });

  it('reports errors of the server and of the network', async () => {
    answer = (_request, response) => void response.writeHead(404).end('nothing');
    await assert.rejects(download(options, signal), { code: 'download-refused', message: /404/ });
    answer = (_request, response) => void response.writeHead(200, { 'content-length': 3 * 1024 ** 3 }).flushHeaders();
    await assert.rejects(download(options, signal), { code: 'too-large' });
    answer = (_request, response) => void response.writeHead(200, { 'content-length': 10 }).flushHeaders();
    await assert.rejects(download({ ...options, idleMs: 100 }, signal), { code: 'timeout' });
    await closeLoopbacks();
    await assert.rejects(download(options, signal), { code: 'refused' });
  });

  it('fails after the connection was lost several times', async () => {
    answer = (_request, response) => void response.destroy();
    await assert.rejects(download(options, signal), { code: 'connection-lost' });
    assert.equal(requests.length, 3);
  });
});
