// A prompt and its echo are one entry; whole messages replace earlier content.
import { strict as assert } from 'node:assert';
import type { ContentBlock } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const sent = (promptId: string, words: string): SessionEvent => ({
  type: 'prompt_sent',
  turnId: 't1',
  promptId,
  content: [text(words)],
});
const whole = (messageId: string, words: string): SessionEvent => ({
  type: 'message',
  role: 'user',
  messageId,
  content: [text(words)],
});
const chunk = (messageId: string, words: string): SessionEvent => ({
  type: 'message_chunk',
  role: 'user',
  messageId,
  block: text(words),
});
const inserted: SessionEvent = { type: 'prompt_inserted', promptId: 'q1', messageId: 'u1' };

function messages(...events: SessionEvent[]): string[] {
  const model = new SessionModel();
  model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 0 }, 0);
  for (const event of events) model.apply(event, 0);
  return model.state.entries.map((entry) =>
    'content' in entry && entry.kind !== 'tool'
      ? `${entry.kind}: ${entry.content.map((block) => (block.type === 'text' ? block.text : block.type)).join('|')}`
      : entry.kind,
  );
}

describe('messages of an agent that was started again', () => {
  it('are others, also those that get the id of the last message', () => {
    const said = (words: string): SessionEvent => ({
      type: 'message_chunk',
      role: 'agent',
      messageId: 'a1',
      block: text(words),
    });
    assert.deepEqual(messages(said('one '), said('two')), ['agent: one two']);
    assert.deepEqual(messages(said('one'), { type: 'ids_renewed' }, said('two')), ['agent: one', 'agent: two']);
    const known: SessionEvent = { type: 'ids_renewed', known: ['agent:a1'] };
    assert.deepEqual(messages(said('one '), known, said('two')), ['agent: one two']);
  });
});

describe('user messages', () => {
  it('appear once when the agent echoes them whole or in pieces, before or after sending their id', () => {
    const once = ['user: Hello there'];
    assert.deepEqual(messages(sent('q1', 'Hello there'), inserted, whole('u1', 'Hello there')), once);
    assert.deepEqual(messages(sent('q1', 'Hello there'), whole('u1', 'Hello there'), inserted), once);
    assert.deepEqual(messages(sent('q1', 'Hello there'), inserted, chunk('u1', 'Hello'), chunk('u1', ' there')), once);
    assert.deepEqual(
      messages(whole('u1', 'Hello there'), { ...sent('q1', 'Hello there'), messageId: 'u1' } as SessionEvent),
      once,
    );
  });

  it('stay as sent when the agent received more than the user wrote', () => {
    const withMore = { ...sent('q1', 'Hello'), echo: 'Before: …Hello' } as SessionEvent;
    assert.deepEqual(messages(withMore, inserted, whole('u1', 'Before: …Hello')), ['user: Hello']);
    assert.deepEqual(messages(withMore, inserted, chunk('u1', 'Before: …'), chunk('u1', 'Hello')), ['user: Hello']);
  });

  it('change to what the agent says they are', () => {
    assert.deepEqual(messages(sent('q1', 'Hello'), inserted, whole('u1', 'Hello, expanded')), [
      'user: Hello, expanded',
    ]);
    assert.deepEqual(
      messages(sent('q1', 'Hello'), inserted, chunk('u1', 'Hel'), chunk('u1', 'met'), chunk('u1', '!')),
      ['user: Helmet!'],
    );
  });

  it('with equal texts stay separate', () => {
    assert.deepEqual(messages(sent('q1', 'Hello'), inserted, whole('u2', 'Another client says')), [
      'user: Hello',
      'user: Another client says',
    ]);
  });

  it('appear with their first chunk and not while empty', () => {
    assert.deepEqual(
      messages(
        { type: 'message', role: 'agent', messageId: 'a' },
        { type: 'message', role: 'agent', messageId: 'b', content: null },
      ),
      [],
    );
  });
});

describe('a message that never ends', () => {
  it('is bounded in memory when it consists of images', () => {
    const model = new SessionModel();
    const picture: SessionEvent = {
      type: 'message_chunk',
      role: 'agent',
      messageId: 'm',
      block: { type: 'image', data: 'A'.repeat(1024 * 1024), mimeType: 'image/png' },
    };
    const words: SessionEvent = { type: 'message_chunk', role: 'agent', messageId: 'm', block: text('and ') };
    for (let count = 0; count < 5000; count++) {
      model.apply(picture, 0);
      model.apply(words, 0);
    }
    const [entry] = model.state.entries;
    assert.ok(entry?.kind === 'agent');
    const pictures = entry.content.filter(({ type }) => type === 'image').length;
    assert.ok(pictures > 10 && pictures <= 64, `${pictures} pictures`);
    assert.ok(entry.content.length < 200, `${entry.content.length} pieces`);
    assert.match(messagesText(entry.content), /more was left out/);
  });
});

function messagesText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
