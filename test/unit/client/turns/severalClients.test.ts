// Tests agents with several clients of one session: which message and which end of a turn is whose.
import { strict as assert } from 'node:assert';
import { GRACES } from '../../../../src/client/turns/turnState';
import { PlayedTurns } from '../../../support/turns';

const { unclearMs } = GRACES;

describe('a session with several clients', () => {
  let turns: PlayedTurns;
  beforeEach(() => {
    turns = new PlayedTurns();
  });
  const order = (): readonly string[] =>
    turns.events.flatMap((event) =>
      event.type === 'message' || event.type === 'prompt_inserted' ? [`${event.type} ${event.messageId}`] : [],
    );

  it("doesn't end a prompt with an early receipt at the end of the other client’s work", () => {
    const id = turns.prompt({ endsBy: 'state', text: 'mine' });
    turns.receipt(id, 'u2');
    turns.user('u1', 'theirs');
    turns.report('running');
    turns.report('idle', { stopReason: 'refusal' });
    turns.user('u2', 'mine');
    turns.report('running');
    turns.report('idle', { stopReason: 'end_turn' });
    assert.deepEqual(turns.ends, ['t1 end_turn by state']);
  });

  it('ends a turn without an echo when nothing follows the idle', () => {
    const id = turns.prompt({ endsBy: 'state', text: 'mine' });
    turns.receipt(id, 'u2');
    turns.user('u1', 'theirs');
    turns.report('running');
    turns.report('idle', { stopReason: 'refusal' });
    turns.pass(unclearMs);
    assert.deepEqual(turns.ends, ['t1 refusal by state']);
  });

  const piece = (messageId: string, text: string): void =>
    turns.hear({ type: 'message_chunk', role: 'user', messageId, block: { type: 'text', text } });

  it('keeps another client’s message apart from a prompt that begins with it', () => {
    const id = turns.prompt({ endsBy: 'state', text: 'Fix the tests and the docs' });
    piece('u1', 'Fix the ');
    piece('u1', 'tests');
    turns.report('running');
    turns.say();
    turns.report('idle', { stopReason: 'refusal' });
    piece('u2', 'Fix the tests ');
    piece('u2', 'and the docs');
    turns.receipt(id, 'u2');
    turns.report('running');
    turns.report('idle', { stopReason: 'end_turn' });
    assert.deepEqual(turns.results.get(id), { turnId: 't1', stopReason: 'end_turn' });
    const linked = turns.events.flatMap((event) => (event.type === 'prompt_inserted' ? [event.messageId] : []));
    assert.deepEqual(linked, ['u2']);
  });

  for (const [when, early] of Object.entries({ 'before the other’s work ends': true, 'after it': false }))
    it(`distinguishes another client’s identical message if the receipt comes ${when}`, () => {
      const id = turns.prompt({ endsBy: 'state', text: 'Continue' });
      turns.user('u1', 'Continue');
      turns.report('running');
      if (early) turns.receipt(id, 'u2');
      turns.say();
      turns.report('idle', { stopReason: 'refusal' });
      turns.user('u2', 'Continue');
      if (!early) turns.receipt(id, 'u2');
      turns.report('running');
      turns.report('idle', { stopReason: 'end_turn' });
      turns.pass(unclearMs);
      assert.deepEqual(turns.ends, ['t1 end_turn by state']);
    });

  it('matches the prompt by its text if the receipt has no id', () => {
    const id = turns.prompt({ endsBy: 'state', text: 'mine' });
    turns.user('u1', 'theirs');
    turns.receipt(id);
    piece('u2', 'mi');
    piece('u2', 'ne');
    assert.deepEqual(
      turns.events.flatMap((event) => (event.type === 'prompt_inserted' ? [event.messageId] : [])),
      ['u2'],
    );
  });

  it('matches a message in many chunks by the first ones only', () => {
    turns.prompt({ endsBy: 'state', text: 'mine' });
    for (let count = 0; count < 1000; count++) piece('u1', 'theirs ');
    assert.equal(turns.state.undecided, undefined);
    assert.equal(turns.events.filter(({ type }) => type === 'message_chunk').length, 1000);
  });

  it('identifies a rephrased prompt by its receipt', () => {
    const id = turns.prompt({ endsBy: 'state', text: '/mine' });
    turns.user('u1', 'theirs');
    turns.user('u2', 'Do what is mine');
    assert.deepEqual(order(), []);
    turns.receipt(id, 'u2');
    assert.deepEqual(order(), ['prompt_inserted u2', 'message u1', 'message u2']);
  });
});
