// Server-sent events are the same however the network splits them.
import assert from 'node:assert/strict';
import { readEventStream } from '../../../src/base/eventStream';

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: AsyncIterable<Uint8Array>, maxChars?: number): Promise<string[]> {
  const events: string[] = [];
  for await (const data of readEventStream(bytes, maxChars)) events.push(data);
  return events;
}

describe('an event stream', () => {
  const text = [
    '\uFEFF: a comment\n\n',
    'data: {"a":"é😀"}\n\n',
    'event: x\r\nid: 7\r\ndata: {"b":\r\ndata: "two lines"}\r\n\r\n',
    'data:no space\r\r',
    ':\n\nretry: 10\n\ndata: last\n\n',
    'data: never ended',
  ].join('');
  const expected = ['{"a":"é😀"}', '{"b":\n"two lines"}', 'no space', 'last'];

  it('yields the same text for any split, even inside characters and line ends', async () => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at++) {
      const halves = async function* () {
        yield bytes.subarray(0, at);
        yield bytes.subarray(at);
      };
      assert.deepEqual(await read(halves()), expected, `cut at byte ${at}`);
    }
    assert.deepEqual(await read(chunks(bytes, 1)), expected);
  });

  it('yields a megabyte of data whole', async () => {
    const data = JSON.stringify({ content: 'ü'.repeat(1024 * 1024) });
    assert.deepEqual(await read(chunks(Buffer.from(`data: ${data}\n\n`), 1000)), [data]);
  });

  it('bounds the memory of an event that never ends', async () => {
    let sent = 0;
    const endless = async function* () {
      for (;;) {
        sent += 1;
        yield Buffer.from(sent === 1 ? 'data: x' : 'y'.repeat(100));
      }
    };
    await assert.rejects(read(endless(), 1000), { code: 'event-too-large' });
    assert.ok(sent < 20);
  });
});
