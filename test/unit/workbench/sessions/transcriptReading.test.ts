// A transcript that is read in slices while its row is focused.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import type { Journal } from '../../../../src/store/journal';
import { TranscriptReading } from '../../../../src/workbench/sessions/transcriptReading';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import {
  HeldTimers,
  newSession,
  openJournal,
  said,
  stateOf,
  textIn,
  timed,
  turn,
} from '../../../support/store/journals';
import { seeded } from '../../../support/store/random';

const MANY = 600;

describe('reading a stored session ahead', () => {
  let journal: Journal;
  let timers: HeldTimers;

  beforeEach(async () => {
    timers = new HeldTimers();
    journal = openJournal(await scratchFolder(), { schedule: timers.schedule });
    journal.saveSession(newSession('a'));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  function appendTurns(count: number): void {
    const turns = Array.from({ length: count }, (_, at) => turn(`t${at}`, at * 10, `question ${at}`, `answer ${at}`));
    journal.append('a', turns.flat());
  }

  function whole(): unknown {
    return stateOf(journal.events('a').events);
  }

  it('shows the stored transcript', () => {
    appendTurns(MANY);
    const reading = new TranscriptReading(journal, 'a');
    assert.equal(reading.advance(), true);
    assert.ok(reading.rows > 0 && reading.rows < 2 * MANY, 'it is read in parts');
    assert.deepEqual(structuredClone(reading.finish().state), whole());
  });

  it('neither repeats nor misses what is said while reading', () => {
    const random = seeded(11);
    appendTurns(MANY);
    const reading = new TranscriptReading(journal, 'a');
    journal.append('a', timed(20_000, { type: 'turn_started', turnId: 'long', origin: 'user', at: 20_000 }));
    for (let step = 0; step < 100; step++) {
      if (random(3) === 0) reading.advance();
      journal.append('a', timed(20_000 + step, random(4) === 0 ? usage(step) : said(`word ${step} `)));
      if (random(2) === 0) journal.flush();
    }
    assert.deepEqual(structuredClone(reading.finish().state), whole());
  });

  it('reads rows larger than a slice', () => {
    const large = 'x'.repeat(200_000);
    for (let at = 0; at < 5; at++)
      journal.append('a', timed(at, { type: 'unknown_update', name: `large ${at}`, raw: { large, at } }));
    const { state } = new TranscriptReading(journal, 'a').finish();
    assert.deepEqual(
      state.entries.map((entry) => entry.kind === 'notice' && entry.title),
      [0, 1, 2, 3, 4].map((at) => `large ${at}`),
    );
  });

  it('discards what the agent replaced when it reopened the session', () => {
    appendTurns(MANY);
    const reading = new TranscriptReading(journal, 'a');
    while (reading.advance());
    const end = { type: 'turn_ended', turnId: 'x', stopReason: 'end_turn', barrier: 'response', at: 1 } as const;
    journal.append('a', timed(20_000, { type: 'cleared' }, said('all new'), end));
    for (let more = 0; more < 20; more++) timers.run();
    assert.ok(journal.events('a').firstSeq > MANY, 'what was replaced is gone');
    assert.deepEqual(structuredClone(reading.finish().state), whole());
    assert.equal(textIn(journal.events('a').events), 'all new');
  });

  it('can start at a row in the middle, and continues in slices', async () => {
    appendTurns(MANY);
    const last = journal.session('a')?.lastSeq ?? 0;
    const model = await new TranscriptReading(journal, 'a', last - 7).finishSlowly(last);
    const answers = model.state.entries.flatMap((entry) => (entry.kind === 'agent' ? entry.content : []));
    assert.deepEqual(answers.at(-1), { type: 'text', text: `answer ${MANY - 1}` });
    assert.ok(answers.length <= 3, `${answers.length} answers`);
  });

  it('shows an empty transcript if nothing is left', () => {
    appendTurns(10);
    const reading = new TranscriptReading(journal, 'a');
    reading.advance();
    journal.deleteSession('a');
    journal.saveSession(newSession('a'));
    assert.equal(reading.finish().state.entries.length, 0);
    journal.append('a', timed(0, said('begun again')));
    const again = new TranscriptReading(journal, 'a');
    assert.deepEqual(structuredClone(again.finish().state), whole());
  });
});

function usage(used: number): SessionEvent {
  return { type: 'usage', usage: { used, size: 1000 } };
}
