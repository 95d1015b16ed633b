// Secrets that are cut by the end of a piece of a text: none reaches the disk whole, and no other character is lost.
import { strict as assert } from 'node:assert';
import { KnownSecrets } from '../../../src/base/knownSecrets';
import type { SessionEvent, TimedEvent } from '../../../src/session/event';
import { StreamRedaction } from '../../../src/workbench/streamRedaction';

const SECRET = 'sesame-opens-2049';

const said = (text: string, role: 'agent' | 'thought' | 'user' = 'agent'): SessionEvent => ({
  type: 'message_chunk',
  role,
  block: { type: 'text', text },
});
const printed = (append: string): SessionEvent => ({ type: 'terminal', terminalId: 't', append });
const over: SessionEvent = { type: 'mode', current: 'code' };

function kept(...events: SessionEvent[]): readonly TimedEvent[] {
  const secrets = new KnownSecrets();
  secrets.add(SECRET);
  const redaction = new StreamRedaction(secrets);
  // Each by itself, as they come.
  return events.flatMap((event, at) => redaction.take([{ at, event }]));
}

const textOf = ({ event }: TimedEvent): string =>
  event.type === 'message_chunk' && event.block.type === 'text'
    ? event.block.text
    : event.type === 'terminal'
      ? (event.append ?? '')
      : `<${event.type}>`;

describe('a secret in a text that streams', () => {
  it('takes no event away that says nothing', () => {
    assert.deepEqual(kept(said(''), over).map(textOf), ['', '<mode>']);
  });

  it('is redacted wherever the text is cut', () => {
    for (const piece of [said, printed]) {
      for (let cut = 1; cut < SECRET.length; cut++) {
        const events = kept(piece(`the key ${SECRET.slice(0, cut)}`), piece(`${SECRET.slice(cut)} is here`), over);
        assert.equal(events.map(textOf).join(''), 'the key [redacted] is here<mode>', String(cut));
      }
      const letters = [...`a ${SECRET} b`].map((letter) => piece(letter));
      assert.equal(
        kept(...letters, over)
          .map(textOf)
          .join(''),
        'a [redacted] b<mode>',
      );
    }
  });

  it('leaves text that only begins like one as it is, in its place', () => {
    const events = kept(said('open ses'), said('sions, ses'), said('hm', 'thought'), said('se'), over, said('rest'));
    assert.deepEqual(events.map(textOf), ['open ', 'sessions, ', 'ses', 'hm', 'se', '<mode>', 'rest']);
  });

  it('stays where the user wrote it', () => {
    assert.deepEqual(kept(said('sesame', 'user'), over).map(textOf), ['sesame', '<mode>']);
  });

  it('keeps a place from which the transcript can be read, also where its text waits', () => {
    const secrets = new KnownSecrets();
    secrets.add(SECRET);
    const redaction = new StreamRedaction(secrets);
    const mark = { entries: 3, turns: 1 };
    const events = redaction.take([
      { at: 1, event: said('ses'), mark },
      { at: 2, event: over },
    ]);
    assert.deepEqual(
      events.map(({ mark: at, ...timed }) => [textOf(timed), at]),
      [
        ['', mark],
        ['ses', undefined],
        ['<mode>', undefined],
      ],
    );
  });
});
