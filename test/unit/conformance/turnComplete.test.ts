// The proposal turn_complete with a conforming agent: a turn ends once, with all its updates,
// whenever the barrier arrives.
import { strict as assert } from 'node:assert';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';
import { skipTime } from '../../support/skipTime';
import { Rig } from './rig';

type Barrier = NonNullable<ReferenceScript['turnComplete']>;

for (const version of [1, 2] as const)
  describe(`turn_complete in version ${version}`, function () {
    this.timeout(30_000);
    const rig = Rig.each(version);

    const barriers = (): (string | undefined)[] => rig.turns.map(({ barrier }) => barrier);

    const ways: readonly (readonly [string, Barrier, string])[] = [
      ['before the answer', { when: 'before' }, 'turn_complete'],
      ['after the answer', { when: 'after' }, 'turn_complete'],
      ['late', { when: 'late' }, 'turn_complete'],
      ['twice', { when: 'twice' }, 'turn_complete'],
      ['with a number for an id', { when: 'before', id: 'number' }, 'turn_complete'],
      ['without an id', { when: 'before', id: 'none' }, 'turn_complete'],
      ['without an id, after the answer', { when: 'after', id: 'none' }, 'turn_complete'],
      ['with an id that no prompt had', { when: 'before', id: 'wrong' }, 'turn_complete'],
      ['after one that names the prompt of another client', { when: 'before', id: 'foreign' }, 'turn_complete'],
      ['after the repetition of an earlier one', { when: 'before', id: 'earlier' }, 'turn_complete'],
      [
        'although it was not promised',
        { when: 'before', advertised: false },
        version === 2 ? 'state' : 'turn_complete',
      ],
      ['not at all', { when: 'never' }, 'timeout'],
      ['not at all, and was not promised', { when: 'never', advertised: false }, version === 2 ? 'state' : 'response'],
    ];
    for (const [words, turnComplete, expected] of ways) {
      it(`ends a turn once if the barrier comes ${words}`, async () => {
        rig.open({ turnComplete }, { barrierGraceMs: expected === 'timeout' ? 30 : 5000 });
        assert.equal(await rig.send('burst 200'), 'end_turn');
        assert.equal(await rig.send('say second'), 'end_turn');
        assert.deepEqual(barriers(), [expected, expected]);
        assert.match(rig.said(), /b200 \nsecond$/);
        assert.deepEqual(
          rig.entries.filter(({ late }) => late),
          [],
        );
      });
    }

    for (const path of [
      ['agentCapabilities', 'sessionCapabilities', 'turnComplete'],
      ['agentCapabilities', 'session', 'turnComplete'],
      ['capabilities', 'session', 'turnComplete'],
    ])
      it(`waits for the barrier of an agent that promises it in ${path.join('.')}`, async () => {
        rig.open({ turnComplete: { when: version === 1 ? 'late' : 'after', path } });
        assert.equal(await rig.send('say x'), 'end_turn');
        assert.deepEqual(barriers(), ['turn_complete']);
      });

    if (version === 1) {
      it('sends the next message if the answer never follows the barrier', async () => {
        rig.open({ turnComplete: { when: 'unanswered' } }, { answerGraceMs: 30 });
        const sent = ['say a', 'say b', 'say c'].map((text) => rig.conversation.send(text).done);
        for (const done of sent) assert.equal((await done).stopReason, 'end_turn');
        assert.equal(rig.said(), 'a\nb\nc');
        assert.equal(rig.conversation.isBusy, false);
      });

      it('waits for the barrier as long as updates follow the answer', async () => {
        rig.open({ turnComplete: { when: 'trailing' } }, { barrierGraceMs: 1000 });
        await rig.conversation.start();
        await skipTime(async () => {
          const sent = ['say a', 'say b'].map((text) => rig.conversation.send(text).done);
          for (const done of sent) await done;
        });
        assert.deepEqual(barriers(), ['turn_complete', 'turn_complete']);
        assert.equal(rig.said(), 'a p1 p2 p3 p4 p5 p6 p7\nb p1 p2 p3 p4 p5 p6 p7');
        assert.deepEqual(
          rig.entries.filter(({ late }) => late),
          [],
        );
      });
    }

    it('has shown everything when send() resolves', async () => {
      rig.open({ turnComplete: { when: 'after' } });
      let shown = '';
      await rig.conversation.send('burst 2000').done.then(() => {
        shown = rig.said();
      });
      assert.equal(shown, Array.from({ length: 2000 }, (_, index) => `b${index + 1} `).join(''));
    });

    if (version === 1)
      it('uses the stop reason that only the barrier has', async () => {
        rig.open({ turnComplete: { when: 'after', stopReason: 'max_tokens' } });
        assert.equal(await rig.send('say x'), 'max_tokens');
      });

    it('does not wait for the barrier of a failed prompt', async () => {
      rig.open({ turnComplete: { when: 'before', failed: false } }, { barrierGraceMs: 60_000 });
      assert.equal(await rig.send('fail -32603'), 'error');
      assert.equal(await rig.send('say x'), 'end_turn');
    });

    it('sends the next prompt after the previous barrier', async () => {
      rig.open({ turnComplete: { when: 'late' } });
      const sent = ['say a', 'say b', 'say c'].map((text) => rig.conversation.send(text).done);
      for (const done of sent) assert.equal((await done).stopReason, 'end_turn');
      assert.equal(rig.said(), 'a\nb\nc');
    });

    it('shows updates after the barrier', async () => {
      rig.open({ turnComplete: { when: 'before' } });
      await rig.send('say x\nlater tail');
      await rig.session.until(() => rig.said().includes('tail'));
      assert.deepEqual(
        rig.entries.filter(({ late }) => late).map(({ text }) => text),
        ['tail'],
      );
    });
  });
