// Events as columns: lossless, with media neither written nor parsed as JSON.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ContentBlock } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { decode, encode } from '../../../../src/store/events/rowCodec';

const data = randomBytes(300_000).toString('base64');
const picture = (text = data): ContentBlock => ({ type: 'image', data: text, mimeType: 'image/png' });
const shown = (...content: ContentBlock[]): SessionEvent => ({
  type: 'message',
  role: 'agent',
  messageId: 'm',
  content,
});

const withPictures: readonly SessionEvent[] = [
  { type: 'message_chunk', role: 'agent', block: picture() },
  shown(picture(), { type: 'text', text: 'and' }, picture(randomBytes(100_000).toString('base64'))),
  { type: 'prompt_sent', turnId: 't', promptId: 'q1', content: [{ type: 'text', text: 'look' }, picture()] },
  {
    type: 'tool_call',
    toolCallId: 'c',
    announced: true,
    patch: { title: 'Screenshot', content: [{ type: 'content', block: picture() }], rawOutput: { data } },
  },
];

function counted<T>(run: () => T): { readonly result: T; readonly chars: number } {
  const { parse, stringify } = JSON;
  let chars = 0;
  JSON.parse = (text: string, ...more) => {
    chars += text.length;
    return parse(text, ...more);
  };
  JSON.stringify = ((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args);
    chars += text.length;
    return text;
  }) as typeof stringify;
  try {
    return { result: run(), chars };
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
}

describe('an event as a column', () => {
  it('is written and read without its images as JSON, in three quarters of their characters', () => {
    for (const event of withPictures) {
      const size = JSON.stringify(event).length;
      const { result: column, chars: written } = counted(() => encode(event));
      const { result: back, chars: read } = counted(() => decode(column));
      assert.ok(written < 2000 && read < 2000, `${written} and ${read} characters of JSON`);
      assert.ok(column.length < 0.76 * size, `${column.length} of ${size}`);
      assert.deepEqual(back, event);
    }
  });

  it('keeps data that is not canonical base64', () => {
    for (const odd of [`${data}\n`, `${data}=`, data.replaceAll('A', '-'), 'ä€😀'.repeat(40_000)]) {
      const event: SessionEvent = { type: 'message_chunk', role: 'agent', block: picture(odd) };
      assert.deepEqual(decode(encode(event)), event);
    }
  });

  it('is left out if it is damaged', () => {
    const column = Buffer.from(encode(withPictures[0]!) as Uint8Array);
    for (const cut of [1, 3, 20, 60, 200, column.length - 1]) {
      const event = decode(column.subarray(0, cut));
      assert.equal(event, undefined, `cut at ${cut}`);
    }
  });
});
