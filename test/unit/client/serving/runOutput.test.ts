// Tests the parts of a run and its history: bounded, in order, without duplicates.

import assert from 'node:assert/strict';
import { RunOutput } from '../../../../src/client/serving/runOutput';
import { historyContext } from '../../../../src/client/serving/runPrompt';
import { MAX_MESSAGE_BYTES, type MessagePart, textPart, trajectoryOf } from '../../../../src/distributed/model/model';
import type { PastMessage, RunEmitter } from '../../../../src/distributed/server/servedAgent';
import type { SessionEvent } from '../../../../src/session/events/event';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';

function telling(): {
  tell(...events: SessionEvent[]): void;
  readonly parts: MessagePart[];
  readonly output: RunOutput;
} {
  const model = new SessionModel();
  const changes = new Changes(() => undefined);
  model.observe(changes);
  const parts: MessagePart[] = [];
  const output = new RunOutput({ part: (one: MessagePart) => parts.push(one) } as unknown as RunEmitter, 0);
  return {
    parts,
    output,
    tell(...events) {
      for (const event of events) model.apply(event, 1);
      output.update(model.state.entries, new Map(changes.entries));
      changes.reset();
    },
  };
}

const chunk = (text: string, role: 'agent' | 'thought' = 'agent', messageId?: string): SessionEvent => ({
  type: 'message_chunk',
  role,
  block: { type: 'text', text },
  ...(messageId !== undefined && { messageId }),
});
const shown = (parts: readonly MessagePart[]) => parts.map((part) => trajectoryOf(part)?.message ?? part.content);

describe('the output of a run', () => {
  it('sends each word once for batches of any size', () => {
    const { tell, parts } = telling();
    tell(chunk('a'));
    tell(chunk('b'), chunk('c'));
    tell();
    tell(chunk('d'), chunk('thinking', 'thought'), chunk('e'));
    tell(chunk('f'));
    assert.deepEqual(shown(parts), ['a', 'bc', 'd', 'thinking', 'e', 'f']);
  });

  it('adds only new text when the agent replaces a message', () => {
    const { tell, parts } = telling();
    const whole = (text: string): SessionEvent => ({
      type: 'message',
      role: 'agent',
      messageId: 'm',
      content: [{ type: 'text', text }],
    });
    tell(chunk('Hel', 'agent', 'm'));
    tell(whole('Hello'));
    tell(whole('Hello'));
    tell(whole('Goodbye'));
    assert.deepEqual(shown(parts), ['Hel', 'lo', '\n\nGoodbye']);
  });

  it('accepts a large text in one piece', () => {
    const { tell, parts } = telling();
    const text = '\u0001😀'.repeat(500_000);
    tell(chunk(text));
    assert.ok(parts.length > 1);
    assert.ok(parts.every((part) => Buffer.byteLength(JSON.stringify(part)) < MAX_MESSAGE_BYTES / 2));
    assert.ok(parts.every(({ content }) => content?.isWellFormed()));
    assert.equal(parts.map(({ content }) => content).join(''), text);
  });
});

describe('the history in a prompt', () => {
  const message = (text: string): PastMessage => ({
    kind: 'message',
    message: { role: 'user', parts: [textPart(text)] },
  });
  const textOf = (past: readonly PastMessage[], first = 1): string => {
    const [, form] = historyContext(past, first)?.forms ?? [];
    return form?.type === 'text' ? form.text : '';
  };

  it('says which messages are missing', () => {
    assert.equal(historyContext([], 1), undefined);
    const text = textOf([message('one'), { kind: 'gap', reason: 'The link has expired.' }], 4);
    assert.match(text, /\[user\]\none\n\n\[message 5 unavailable: The link has expired\.\]/);
  });

  it('drops the beginning of a long history, and says so', () => {
    const past = Array.from({ length: 300 }, (_, index) =>
      message(`${index} ${'x'.repeat(index === 299 ? 50_000 : 1000)}`),
    );
    const text = textOf(past);
    assert.ok(text.length < 130_000);
    assert.match(text, /\[1\d\d earlier messages left out\]/);
    assert.match(text, /\n299 x+\n\[the rest is left out\]/);
    assert.match(text, /\n298 x/);
  });
});
