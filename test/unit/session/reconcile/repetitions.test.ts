// Random sessions with random deviations in their replay: nothing twice, nothing lost, nothing made
// up.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { textOf } from '../../../../src/session/model/entryText';
import { SessionModel } from '../../../../src/session/model/model';
import { reconcile } from '../../../../src/session/reconcile/reconcile';
import {
  knownTranscript,
  type PastTurn,
  randomManners,
  randomPast,
  repetition,
} from '../../../support/protocol/repetition';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

const RUNS = seeds(300, 1000);

function textsOf(model: SessionModel, ...roles: readonly string[]): string[] {
  return model.state.entries.flatMap((entry) =>
    (entry.kind === 'user' || entry.kind === 'agent' || entry.kind === 'thought') && roles.includes(entry.kind)
      ? [textOf(entry)]
      : [],
  );
}

const bare = (text: string): string => text.replaceAll(/\s+/g, '');
const wordsOf = (texts: readonly string[]): string[] => bare(texts.join('')).match(/(agent|thought)\d+;/g) ?? [];
const saidIn = (turns: readonly PastTurn[], kind: string): string[] =>
  turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === kind && 'text' in part ? [part.text] : [])));

describe('a session with a deviating replay', function () {
  this.timeout(60_000);

  it(`is in the transcript once and whole (${RUNS} random sessions)`, () => {
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = seeded(seed);
      const turns = randomPast(random, 1 + random(6));
      const here = turns.slice(0, 1 + random(turns.length));
      const cut = random(2) === 0 ? random(60) : undefined;
      const model = knownTranscript(here, random, cut, random(2) === 0);
      const manners = randomManners(random, here.length);
      // An agent that lost its newest turns has no new ones either.
      const remembered = random(5) === 0 ? here.slice(0, random(here.length)) : turns;
      const events = repetition(remembered, manners, random);
      const bursts = random(2) === 0 ? [events.length] : [random(events.length + 1), events.length];
      const story = JSON.stringify({ seed, cut, manners, here: here.length, remembered: remembered.length, bursts });
      try {
        check(turns, here, model, events, bursts, { isWhole: remembered === turns, manners });
      } catch (error) {
        throw new Error(story, { cause: error });
      }
    }
  });

  function check(
    turns: readonly PastTurn[],
    here: readonly PastTurn[],
    model: SessionModel,
    events: readonly SessionEvent[],
    bursts: readonly number[],
    { isWhole, manners }: { isWhole: boolean; manners: ReturnType<typeof randomManners> },
  ): void {
    const before = model.state.entries.map(({ id }) => id);
    const known = [...wordsOf(textsOf(model, 'agent')), ...wordsOf(textsOf(model, 'thought'))];
    const repeated = new SessionModel();
    repeated.apply({ type: 'cleared', replay: true }, 0);
    let done = 0;
    for (const burst of bursts) {
      for (const event of events.slice(done, burst)) repeated.apply(event, 0);
      done = burst;
      const goesOn = burst < events.length;
      for (const event of reconcile(model.state, repeated.state, goesOn)) model.apply(event, 1);
      assert.deepEqual(reconcile(model.state, repeated.state, goesOn), [], 'the same again brings nothing more');
    }
    const all = [...wordsOf(textsOf(model, 'agent')), ...wordsOf(textsOf(model, 'thought'))];
    assert.equal(new Set(all).size, all.length, 'no word stands twice');
    const left = model.state.entries.map(({ id }) => id).filter((id) => before.includes(id));
    assert.deepEqual(left, before, 'what stood keeps its order');
    const prompts = turns.map(({ prompt }) => bare(prompt));
    const shown = textsOf(model, 'user')
      .map(withoutPlaceholder)
      .filter((text) => text !== '');
    assert.deepEqual(shown.slice(0, here.length), prompts.slice(0, here.length));
    if (!isWhole) {
      assert.equal(shown.length, here.length);
      return;
    }
    const wanted = [...saidIn(turns, 'agent'), ...(manners.thoughts ? saidIn(turns, 'thought') : [])].flatMap((text) =>
      wordsOf([text]),
    );
    const missing = wanted.filter((word) => !all.includes(word));
    assert.deepEqual(missing, [], 'no new word is lost');
    // Agents join user messages that they did not answer.
    assert.equal(shown.join(''), prompts.join(''), 'each prompt stands once, and the user has written nothing more');
    assert.ok(known.every((word) => all.some((one) => one.startsWith(word))));
    const calls = turns.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool')).length;
    const shownCalls = model.state.entries.filter(({ kind }) => kind === 'tool').length;
    if (manners.tools !== 'none') assert.equal(shownCalls, calls, 'each call stands once');
  }

  const withoutPlaceholder = (text: string): string => bare(text).replaceAll('[FunctionResponse:run_shell]', '');
});
