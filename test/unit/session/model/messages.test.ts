// A prompt and its echo are one entry; whole messages replace earlier content.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { textOf } from '../../../../src/session/model/entryText';
import { began, play, prompted, chunk as said, text } from '../../../support/sessionEvents';

const sent = (promptId: string, words: string) => prompted('t1', words, promptId);
const whole = (messageId: string, words: string): SessionEvent => ({
  type: 'message',
  role: 'user',
  messageId,
  content: [text(words)],
});
const chunk = (messageId: string, words: string) => said('user', words, messageId);
const inserted: SessionEvent = { type: 'prompt_inserted', promptId: 'q1', messageId: 'u1' };

function messages(...events: SessionEvent[]): string[] {
  return play(began('t1'), ...events).state.entries.map((entry) =>
    'content' in entry && entry.kind !== 'tool' ? `${entry.kind}: ${textOf(entry)}` : entry.kind,
  );
}

describe('messages of a restarted agent', () => {
  it('are new, even with the id of the last message', () => {
    const [one, two] = [said('agent', 'one ', 'a1'), said('agent', 'two', 'a1')];
    assert.deepEqual(messages(one, two), ['agent: one two']);
    assert.deepEqual(messages(one, { type: 'ids_renewed' }, two), ['agent: one ', 'agent: two']);
    assert.deepEqual(messages(one, { type: 'ids_renewed', known: ['agent:a1'] }, two), ['agent: one two']);
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

  it('stay as written if the agent received additional text', () => {
    const withMore = { ...sent('q1', 'Hello'), echo: 'Before: …Hello' } as SessionEvent;
    assert.deepEqual(messages(withMore, inserted, whole('u1', 'Before: …Hello')), ['user: Hello']);
    assert.deepEqual(messages(withMore, inserted, chunk('u1', 'Before: …'), chunk('u1', 'Hello')), ['user: Hello']);
  });

  it('appear once when the agent echoes the whole prompt without an id after its first output', () => {
    const [thought, answer] = [said('thought', 'Hm.'), said('agent', 'Yes')];
    const echo = said('user', 'Hello there');
    assert.deepEqual(messages(sent('q1', 'Hello there'), thought, echo, answer), [
      'user: Hello there',
      'thought: Hm.',
      'agent: Yes',
    ]);
    // After its echo, the same text is a new message, as is any other text.
    const once = messages(sent('q1', 'Hello there'), echo, thought, echo);
    assert.deepEqual(once, ['user: Hello there', 'thought: Hm.', 'user: Hello there']);
    assert.equal(messages(sent('q1', 'Hello there'), thought, said('user', 'Hello')).at(-1), 'user: Hello');
  });

  it('change when the agent replaces them', () => {
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
    const picture: SessionEvent = {
      type: 'message_chunk',
      role: 'agent',
      messageId: 'm',
      block: { type: 'image', data: 'A'.repeat(1024 * 1024), mimeType: 'image/png' },
    };
    const both = [picture, said('agent', 'and ', 'm')];
    const model = play(...Array.from({ length: 5000 }, () => both).flat());
    const [entry] = model.state.entries;
    assert.ok(entry?.kind === 'agent');
    const pictures = entry.content.filter(({ type }) => type === 'image').length;
    assert.ok(pictures > 10 && pictures <= 64, `${pictures} pictures`);
    assert.ok(entry.content.length < 200, `${entry.content.length} pieces`);
    assert.match(textOf(entry), /more was left out/);
  });
});
