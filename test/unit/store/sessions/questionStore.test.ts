// Questions of one window that others answer, in one file.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import type { Machine } from '../../../../src/store/file/machine';
import { thisMachine } from '../../../../src/store/file/machine';
import type { Journal } from '../../../../src/store/journal';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal } from '../../../support/store/journals';

function processOf(pid: number, alive: ReadonlySet<number>): Machine {
  return { ...thisMachine, pid, isAlive: (one) => alive.has(one), startOf: (one) => `start ${one}`, ticks: () => 0 };
}

describe('questions of all windows', () => {
  const opened: Journal[] = [];

  after(async () => {
    for (const journal of opened) journal.dispose();
    await removeScratch();
  });

  const alive = new Set([1, 2, 3]);

  async function windows(): Promise<readonly [Journal, Journal, Journal]> {
    alive.add(1);
    const folder = await scratchFolder();
    const open = (pid: number): Journal => openJournal(folder, { machine: processOf(pid, alive) });
    const all = [open(1), open(2), open(3)] as const;
    opened.push(...all);
    all[0].saveSession(newSession('s'));
    assert.equal(all[0].claim('s', 'w1').kind, 'owned');
    return all;
  }

  const question = (id: string, json = `"${id}"`): { id: string; at: number; json: string } => ({ id, at: 1, json });

  it('are listed in each window until they are closed', async () => {
    const [owner, other] = await windows();
    owner.questions.save('s', 'w1', [question('a'), question('b')]);
    assert.deepEqual(pluck(other.questions.list(), 'id'), ['a', 'b']);
    owner.questions.save('s', 'w1', [question('b')]);
    assert.deepEqual(pluck(other.questions.list(), 'id'), ['b']);
  });

  it('are no longer listed once their window has ended, however it ended', async () => {
    const [owner, other] = await windows();
    owner.questions.save('s', 'w1', [question('a')]);
    alive.delete(1);
    assert.deepEqual(other.questions.list(), []);
  });

  it('accept an answer only to the question as it was read', async () => {
    const [owner, other] = await windows();
    owner.questions.save('s', 'w1', [question('a', '"harmless"')]);
    const [read] = other.questions.list();
    assert.ok(read);
    owner.questions.save('s', 'w1', [question('a', '"rm -rf"')]);
    assert.equal(other.questions.answer(read, '{}'), false);
    assert.deepEqual(owner.questions.take('w1'), []);
  });

  it('are answered at most once, and each answer is taken exactly once, in whatever order windows act', async () => {
    const [owner, second, third] = await windows();
    const step = fc.oneof(
      fc.record({ do: fc.constant('offer' as const), ids: fc.subarray(['a', 'b', 'c']) }),
      fc.record({ do: fc.constant('read' as const), by: fc.nat(1) }),
      fc.record({ do: fc.constant('answer' as const), by: fc.nat(1), id: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ do: fc.constant('take' as const) }),
    );
    let run = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        run += 1;
        owner.questions.save('s', 'w1', []);
        const read = [new Map<string, never>(), new Map<string, never>()] as Map<string, object>[];
        const open = new Set<string>();
        const answered: string[] = [];
        const taken: string[] = [];
        for (const one of steps) {
          if (one.do === 'offer') {
            owner.questions.save(
              's',
              'w1',
              one.ids.map((id) => question(`${run}${id}`)),
            );
            open.clear();
            for (const id of one.ids) open.add(`${run}${id}`);
          } else if (one.do === 'read') {
            const rows = [second, third][one.by]?.questions.list() ?? [];
            read[one.by] = new Map(rows.map((row) => [row.id, row]));
          } else if (one.do === 'answer') {
            const row = read[one.by]?.get(`${run}${one.id}`);
            const text = `${one.by}-${answered.length}`;
            const isGiven = row !== undefined && [second, third][one.by]?.questions.answer(row as never, text) === true;
            if (isGiven) {
              assert.ok(open.has(`${run}${one.id}`), 'a question that was withdrawn takes no answer');
              answered.push(text);
            }
          } else {
            const got = owner.questions.take('w1');
            for (const { id, answer } of got) {
              taken.push(answer);
              open.delete(id);
            }
          }
        }
        taken.push(...owner.questions.take('w1').map(({ answer }) => answer));
        assert.equal(new Set(taken).size, taken.length, 'no answer is taken twice');
        assert.ok(taken.every((answer) => answered.includes(answer)));
        assert.deepEqual(owner.questions.take('w1'), []);
      }),
      { numRuns: 60 },
    );
  });
});
