// Transcript entries become messages that others can read.
import assert from 'node:assert/strict';
import { MAX_MESSAGE_BYTES, type Message, readMessage, trajectoryOf } from '../../../../src/distributed/model/model';
import { toMessages } from '../../../../src/distributed/model/toMessages';
import type { ContentBlock } from '../../../../src/session/events/content';
import type { Entry, MessageEntry, ToolEntry } from '../../../../src/session/model/state';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });

let index = 0;
function said(kind: MessageEntry['kind'], ...content: ContentBlock[]): MessageEntry {
  return { kind, id: `${index}`, index, at: 1000 * index, until: 1000 * index++ + 500, content, dropped: 0 };
}
function called(more: Partial<ToolEntry> = {}): ToolEntry {
  const base = {
    kind: 'tool',
    id: `${index}`,
    index,
    at: 1000 * index++,
    toolCallId: 't',
    title: 'Read a file',
  } as const;
  return { ...base, toolKind: 'read', status: 'completed', content: [], locations: [], ...more };
}
const plainWords = ({ parts }: Message): string =>
  parts.map(({ content, content_type: type }) => (type === 'text/plain' ? (content ?? '') : '')).join('');
const textsOf = (message: Message | undefined) => message?.parts.map((part) => part.content ?? '');

describe('toMessages', () => {
  beforeEach(() => {
    index = 0;
  });

  it('keeps authors, order and times', () => {
    const entries: Entry[] = [
      said('user', text('Hello')),
      said('thought', text('Hm.')),
      said('agent', text('**Hi**')),
      called({ name: 'read', rawInput: { path: '/a' }, rawOutput: { lines: 3 } }),
      said('agent', text('Done.')),
      said('user', text('Thanks')),
    ];
    const messages = toMessages(entries, { agentName: 'Claude Code' });
    assert.deepEqual(
      messages.map(({ role, created_at, completed_at }) => [role, created_at, completed_at]),
      [
        ['user', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.500Z'],
        ['agent/Claude-Code', '1970-01-01T00:00:01.000Z', '1970-01-01T00:00:04.500Z'],
        ['user', '1970-01-01T00:00:05.000Z', '1970-01-01T00:00:05.500Z'],
      ],
    );
    assert.deepEqual(messages.map(textsOf), [['Hello'], ['', '**Hi**', '', 'Done.'], ['Thanks']]);
    const parts = messages[1]?.parts ?? [];
    assert.deepEqual(pluck(parts, 'content_type'), ['text/plain', 'text/plain', 'text/plain', 'text/plain']);
    assert.deepEqual(pluck(parts, 'parley_content_type'), [undefined, 'text/markdown', undefined, 'text/markdown']);
    sameData(trajectoryOf(parts[0]!), { message: 'Hm.' });
    assert.deepEqual(trajectoryOf(parts[2]!), {
      message: 'Read a file',
      toolName: 'read',
      toolInput: { path: '/a' },
      toolOutput: { lines: 3 },
    });
    for (const message of messages) assert.deepEqual(readMessage(JSON.parse(JSON.stringify(message))), message);
  });

  it('puts all text of the agent into text/plain parts', () => {
    const link = { type: 'resource_link', uri: 'https://x.example/a', name: 'a' } as const;
    const entries = [
      said('agent', text('See **this**: '), link, text(' and `that`.')),
      called(),
      said('agent', text(' Done.')),
    ];
    const [message] = toMessages(entries);
    assert.equal(message && plainWords(message), 'See **this**: a and `that`. Done.');
  });

  it('keeps attachments without local paths', () => {
    const [message] = toMessages([
      said(
        'user',
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', uri: 'file:///home/me/a.txt', text: 'inside', mimeType: 'text/x-a' },
        { type: 'resource', uri: 'file:///home/me/b.bin', blob: 'BBBB' },
        { type: 'resource_link', uri: 'file:///home/me/secret.txt', name: 'secret.txt' },
        { type: 'resource_link', uri: 'https://example.com/doc', name: 'doc', title: 'The Doc' },
        { type: 'unknown', kind: 'hologram', raw: {} },
      ),
    ]);
    assert.deepEqual(
      message?.parts.map(({ name, content, content_encoding }) => [name, content, content_encoding]),
      [
        ['image-1.png', 'AAAA', 'base64'],
        ['a.txt', 'inside', 'plain'],
        ['b.bin', 'BBBB', 'base64'],
        [undefined, '[file: secret.txt]', 'plain'],
        [undefined, 'The Doc', 'plain'],
        [undefined, '[content of the kind hologram]', 'plain'],
      ],
    );
    assert.ok(!JSON.stringify(message).includes('/home/me'));
  });

  it('writes messages that every reader accepts', () => {
    const huge = 'ü🙂'.repeat(3_000_000);
    const entries = [
      said('agent', text(huge)),
      said('thought', text(huge)),
      called({ rawInput: huge, rawOutput: { huge } }),
      said('agent', { type: 'image', data: huge, mimeType: 'image/png' }),
      ...Array.from({ length: 5000 }, () => called()),
    ];
    const [message] = toMessages(entries);
    const json = JSON.stringify(message);
    assert.ok(Buffer.byteLength(json) <= MAX_MESSAGE_BYTES, `${Buffer.byteLength(json)} bytes`);
    sameData(readMessage(JSON.parse(json)), message);
    assert.match(textsOf(message)?.at(-1) ?? '', /^\[\d+ parts of this message left out/);
    assert.ok(json.isWellFormed());
  });

  it('limits messages whose text expands in JSON', () => {
    const controls = '\u0001'.repeat(2_000_000);
    const [message] = toMessages([said('agent', text(controls)), called({ rawOutput: controls })]);
    assert.ok(Buffer.byteLength(JSON.stringify(message)) <= MAX_MESSAGE_BYTES);
  });

  it('creates no message for empty content', () => {
    assert.deepEqual(toMessages([]), []);
    assert.deepEqual(toMessages([], { stopReason: 'cancelled' }), []);
  });
});
