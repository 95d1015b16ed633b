// Secrets split between chunks: none is stored whole, and no other character is lost.
import { strict as assert } from 'node:assert';
import { KnownSecrets } from '../../../../src/base/knownSecrets';
import type { ConversationPersistence } from '../../../../src/client/conversation/persistence';
import { Recorder } from '../../../../src/client/conversation/recorder';
import type { SessionEvent, TimedEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { StreamRedaction } from '../../../../src/workbench/log/streamRedaction';

const SECRET = 'sesame-opens-2049';

const said = (text: string, role: 'agent' | 'thought' | 'user' = 'agent', messageId?: string): SessionEvent => ({
  type: 'message_chunk',
  role,
  block: { type: 'text', text },
  ...(messageId !== undefined && { messageId }),
});
const printed = (append: string, terminalId = 't'): SessionEvent => ({ type: 'terminal', terminalId, append });
const added = (text: string): SessionEvent => ({
  type: 'tool_content',
  toolCallId: 'call',
  part: { type: 'content', block: { type: 'text', text } },
});
const told = (text: string): SessionEvent => ({ type: 'subagent_said', sessionId: 'sub', text });
const passed = (append: string): SessionEvent => ({
  type: 'session_message',
  messageId: 'm',
  recipient: 'sub',
  append,
});
const summed = (append: string): SessionEvent => ({ type: 'compaction', compactionId: 'c', append });
const titled = (title: string): SessionEvent => ({
  type: 'tool_call',
  toolCallId: title,
  patch: { title },
  announced: true,
});
const usage: SessionEvent = { type: 'usage', usage: { used: 1, size: 2 } };
const begin: SessionEvent = { type: 'turn_started', turnId: 'turn', origin: 'user', at: 0 };
const over: SessionEvent = { type: 'turn_ended', turnId: 'turn', stopReason: 'end_turn', barrier: 'response', at: 9 };

/** Returns separately arriving events as the recorder stores them. */
function kept(...events: SessionEvent[]): readonly TimedEvent[] {
  const secrets = new KnownSecrets();
  secrets.add(SECRET);
  const redaction = new StreamRedaction(secrets);
  const all: TimedEvent[] = [];
  const keep = { events: (some: readonly TimedEvent[]) => all.push(...redaction.take(some)), describe: () => {} };
  let now = 0;
  const recorder = new Recorder(new SessionModel(), keep as unknown as ConversationPersistence, () => now++);
  for (const event of events) recorder.apply(event);
  return all;
}

function textOf({ event }: TimedEvent): string {
  if (event.type === 'message_chunk' && event.block.type === 'text') return event.block.text;
  return event.type === 'terminal' ? (event.append ?? '') : `<${event.type}>`;
}

function shown(events: readonly TimedEvent[]): readonly string[] {
  const model = new SessionModel();
  for (const { at, event } of events) model.apply(event, at);
  const entries = model.state.entries.map((entry) => {
    const { at: _, until: __, ...rest } = entry as typeof entry & { until?: number };
    return JSON.stringify(rest);
  });
  // Each terminal is part of the tool call that names it, so their order is irrelevant.
  const outputs = [...model.state.terminals.values()].map(({ id, output }) => `${id}: ${output}`);
  return [...entries, ...outputs.sort()];
}

const timed = (events: readonly SessionEvent[]): TimedEvent[] => events.map((event, at) => ({ at, event }));

const streams: Readonly<Record<string, (text: string) => SessionEvent>> = {
  'a message': (text) => said(text, 'agent', 'm1'),
  'another message': (text) => said(text, 'agent', 'm2'),
  'a thought': (text) => said(text, 'thought', 'm3'),
  'a terminal': (text) => printed(text, 't1'),
  'another terminal': (text) => printed(text, 't2'),
  'a tool call': added,
  'a subagent': told,
  'a message between sessions': passed,
  'a compaction': summed,
};

describe('a secret in streamed text', () => {
  it('does not remove events without text', () => {
    assert.deepEqual(kept(said(''), usage).map(textOf), ['', '<usage>']);
  });

  it('is redacted wherever the text is split', () => {
    for (const piece of [said, printed]) {
      for (let cut = 1; cut < SECRET.length; cut++) {
        const events = kept(begin, piece(`the key ${SECRET.slice(0, cut)}`), piece(`${SECRET.slice(cut)} is`), over);
        assert.equal(events.map(textOf).join(''), '<turn_started>the key [redacted] is<turn_ended>', String(cut));
      }
      const letters = [...`a ${SECRET} b`].map((letter) => piece(letter));
      const joined = kept(begin, ...letters, over)
        .map(textOf)
        .join('');
      assert.equal(joined, '<turn_started>a [redacted] b<turn_ended>');
    }
  });

  for (const [name, piece] of Object.entries(streams)) {
    it(`is redacted in ${name} with chunks interleaved with all others`, () => {
      for (let cut = 1; cut < SECRET.length; cut += 5) {
        const others = Object.values(streams).filter((other) => other !== piece);
        const between = [...others.map((other) => other('news')), usage, titled('new call')];
        const make = (first: string, second: string): SessionEvent[] => [
          begin,
          piece('here '),
          ...others.map((other) => other('see ')),
          piece(first),
          ...between,
          piece(second),
          over,
        ];
        const events = make(`is ${SECRET.slice(0, cut)}`, `${SECRET.slice(cut)} now`);
        const clean = make('is [redacted]', ' now');
        assert.deepEqual(shown(kept(...events)), shown(timed(clean)), String(cut));
      }
    });
  }

  it('is redacted in a message without an id until another entry starts', () => {
    const events = kept(begin, titled('call'), said('the ses'), usage, printed('out'), said('ame-opens-2049'), over);
    assert.ok(events.map(textOf).includes('[redacted]'));
    assert.equal(JSON.stringify(events).includes('ame-opens-2049'), false);
  });

  it('is the only change to a session, in whatever order its texts arrive', () => {
    // A seeded generator, so that failures can be reproduced.
    let seed = 7;
    const below = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * most);
    };
    const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
    const plain = [(text: string) => said(text), (text: string) => said(text, 'thought')];
    const words = ['s', 'se', 'sesame', 'ame-', 'open', 'sesame-opens-204', ' and ', ''];
    for (let round = 0; round < 300; round++) {
      const events = Array.from({ length: 40 }, (_, n): SessionEvent => {
        const kind = below(20);
        if (kind === 0) return over;
        if (kind === 1) return { ...begin, turnId: `turn${n}` } as SessionEvent;
        if (kind === 2) return titled(`call ${n}`);
        if (kind === 3) return { type: 'message', role: 'agent', messageId: 'm1', content: [] };
        return pick([...Object.values(streams), ...plain])(pick(words));
      });
      assert.deepEqual(
        shown(kept(...events, { type: 'cleared' }).filter(({ event }) => event.type !== 'cleared')),
        shown(timed(events)),
        `round ${round}`,
      );
    }
  });

  it('is searched for in a bounded number of texts', () => {
    const many = Array.from({ length: 1000 }, (_, n) => printed('ses', `t${n}`));
    const texts = kept(begin, ...many).filter((one) => textOf(one) === 'ses');
    assert.equal(texts.length, 1000 - 256);
  });

  it('stays where the user typed it', () => {
    assert.deepEqual(kept(said('sesame', 'user'), over).map(textOf), ['sesame', '<turn_ended>']);
  });

  it('does not remove positions for reading the transcript, even if a text is pending', () => {
    const secrets = new KnownSecrets();
    secrets.add(SECRET);
    const redaction = new StreamRedaction(secrets);
    const mark = { entries: 3, turns: 1 };
    const events = redaction.take([
      { at: 1, event: said('ses'), begins: true, mark },
      { at: 2, event: over },
    ]);
    assert.deepEqual(
      events.map(({ mark: at, ...one }) => [textOf(one), at]),
      [
        ['', mark],
        ['ses', undefined],
        ['<turn_ended>', undefined],
      ],
    );
  });

  it('allows no reading from a position with an incomplete text before it', () => {
    const secrets = new KnownSecrets();
    secrets.add(SECRET);
    const redaction = new StreamRedaction(secrets);
    const mark = { entries: 3, turns: 1 };
    const events = redaction.take([
      { at: 1, event: said('the ses', 'agent', 'm1'), begins: true },
      { at: 2, event: titled('call'), begins: true, mark },
      { at: 3, event: said('ame-opens-2049', 'agent', 'm1') },
    ]);
    assert.deepEqual(
      events.map(({ mark: at, ...one }) => [textOf(one), at]),
      [
        ['the ', undefined],
        ['<tool_call>', undefined],
        ['[redacted]', undefined],
      ],
    );
  });
});
