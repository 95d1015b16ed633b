// Splitting bytes into messages: independent of the chunks.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { RpcConnection } from '../../../../src/acp/jsonrpc/rpcConnection';
import { LineSplitter } from '../../../../src/base/lineSplitter';
import { silentLog } from '../../../../src/base/log';
import { MemoryTransport } from '../../../support/memoryTransport';

function split(chunks: readonly Uint8Array[], maxBytes = 1024 * 1024): { lines: string[]; ok: boolean } {
  const lines: string[] = [];
  const splitter = new LineSplitter(maxBytes, (line) => lines.push(line));
  const ok = chunks.every((chunk) => splitter.push(chunk));
  if (ok) splitter.end();
  return { lines, ok };
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, n) => bytes.subarray(from, places[n] ?? bytes.length));
}

describe('LineSplitter', () => {
  it('splits lines only at 0x0A, and joins characters that were split across chunks', () => {
    const bytes = Buffer.from('\ufeffé€𝄞\u2028\u2029\u0085\v\f\r|\r\n\nlast');
    const expected = ['é€𝄞\u2028\u2029\u0085\v\f\r|\r', '', 'last'];
    assert.deepEqual(split([bytes]).lines, expected);
    assert.deepEqual(split([...bytes].map((byte) => Uint8Array.of(byte))).lines, expected);
  });

  it('removes a byte order mark only at the start of the stream', () => {
    assert.deepEqual(split([Buffer.from('\ufeffa\n\ufeffb\n')]).lines, ['a', '\ufeffb']);
  });

  it('does not scan earlier bytes again', () => {
    const reused = Buffer.from('abc');
    const lines: string[] = [];
    const splitter = new LineSplitter(100, (line) => lines.push(line));
    splitter.push(reused);
    reused.fill('x');
    splitter.push(Buffer.from('d\n'));
    assert.deepEqual(lines, ['abcd']);
  });

  it('stops at a line over the limit, in one chunk or in many, and not at one below it', () => {
    for (const size of [1, 7, 1000]) {
      const at = (length: number) => {
        const bytes = Buffer.from(`ok\n${'x'.repeat(length)}\nafter\n`);
        const chunks: Uint8Array[] = [];
        for (let from = 0; from < bytes.length; from += size) chunks.push(bytes.subarray(from, from + size));
        return split(chunks, 100);
      };
      assert.deepEqual(at(100), { lines: ['ok', 'x'.repeat(100), 'after'], ok: true });
      assert.deepEqual(at(101), { lines: ['ok'], ok: false });
    }
  });

  it('costs the same per byte for a line of 32 MB as for 2 MB', () => {
    const time = (megabytes: number): number => {
      const chunk = Buffer.alloc(65536, 'x');
      const begin = process.cpuUsage();
      for (let round = 0; round < 32 / megabytes; round++) {
        split([...Array<Uint8Array>(megabytes * 16).fill(chunk), Buffer.from('\n')], 64 * 1024 * 1024);
      }
      return process.cpuUsage(begin).user + process.cpuUsage(begin).system;
    };
    time(2);
    const small = time(2);
    const large = time(32);
    assert.ok(large < small * 10 + 200_000, `${large} µs for one line, ${small} µs for sixteen short ones`);
  });
});

describe('NdjsonReader', () => {
  const plain = { noNullPrototype: true } as const;
  const text = fc.string({
    unit: fc.constantFrom('a', 'é', '€', '𝄞', '"', '\\', '\n', '\r', '\u2028', '\u2029', '\ufeff', '\0'),
  });
  const message = fc.oneof(
    fc.record({ method: fc.constant('session/update'), params: fc.record({ text }, plain) }, plain),
    fc.record({ method: fc.constant('_other'), params: text }, plain),
    fc.record({ method: fc.constant('fs/read'), id: fc.nat(), params: text }, plain),
  );
  const filler = fc.constantFrom('', '\r', '   ', 'noise', '{"cut":', '17', '"text"', 'null');
  const stream = fc.array(
    fc.record({ message, before: fc.array(filler, { maxLength: 2 }), ending: fc.constantFrom('\n', '\r\n') }),
  );

  it('reads the same messages in order wherever chunks are split, with CRLF, blank lines and noise', async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat()), fc.boolean(), async (entries, cuts, hasMark) => {
        const transport = new MemoryTransport();
        const seen: unknown[] = [];
        let noise = 0;
        const connection = new RpcConnection({
          transport,
          log: silentLog,
          handlers: {
            onUpdates: (batch) => seen.push(...batch.map((params) => ({ method: 'session/update', params }))),
            onRequest: async (method, params) => seen.push({ method, params }),
            onNotification: (method, params) => seen.push({ method, params }),
          },
          onNoise: () => noise++,
        });
        const ended = new Promise<void>((resolve) => connection.onDidClose(() => resolve()));
        const lines = entries.map(
          (entry) => entry.before.map((line) => `${line}\n`).join('') + JSON.stringify(entry.message) + entry.ending,
        );
        const bytes = Buffer.from((hasMark ? '\ufeff' : '') + lines.join(''));
        for (const chunk of cutAt(bytes, cuts)) transport.say(chunk);
        transport.end();
        await ended;
        assert.deepEqual(
          seen,
          entries.map(({ message: { method, params } }) => ({ method, params })),
        );
        assert.equal(noise, entries.flatMap((entry) => entry.before).filter((line) => line.trim() !== '').length);
        assert.equal(connection.stats.messagesIn, entries.length);
      }),
      { numRuns: 200 },
    );
  });
});
