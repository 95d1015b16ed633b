// Comparing files by lines, and applying or moving hunks.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { type LineHunk, lineHunks } from '../../../../src/base/lineHunks';
import { compareLines, hunks, inverted, type TextLines, textLines } from '../../../../src/changes/lines/hunks';
import { mapLines, placeHunks, withHunks } from '../../../../src/changes/lines/placeHunks';
import { Slices } from '../../../../src/changes/lines/slices';
import { gitApply, linesOf, patchOf } from '../../../support/changes/patch';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const slices = new Slices();

async function text(content: Buffer | string): Promise<TextLines> {
  return (await textLines(Buffer.from(content as string), slices))!;
}

/**
 * Lines with all ends, of few different texts so that they repeat; the last may lack its end. That
 * one is like no other: git apply takes `a` without an end for an earlier `a\r\n`.
 */
const content = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('', 'a', 'b', 'c', 'ä', '\ufeff'), fc.constantFrom('\n', '\r\n')), {
      maxLength: 12,
    }),
    fc.constantFrom('', 'last', 'end\r'),
  )
  .map(([lines, last]) => Buffer.from(lines.map(([line, end]) => line + end).join('') + last));

/** A content and a changed one. */
const pair = fc.tuple(content, content, content).map(([a, b, c]) => [Buffer.concat([a, c]), Buffer.concat([a, b, c])]);
const pairs = fc.oneof(pair, fc.tuple(content, content)) as fc.Arbitrary<[Buffer, Buffer]>;

const chosenBy = (all: readonly LineHunk[], mask: number): readonly LineHunk[] =>
  all.filter((_, index) => (mask >> index) % 2 === 1);

describe('the comparison by lines', () => {
  afterEach(removeScratch);

  it('returns hunks in order, which turn one text into the other and back', () =>
    fc.assert(
      fc.asyncProperty(pairs, async ([before, after]) => {
        const [a, b] = [await text(before), await text(after)];
        const all = await compareLines(a, b, slices);
        for (const [index, { aStart, aCount, bStart, bCount }] of all.entries()) {
          const next = all[index + 1];
          assert.ok(aCount + bCount > 0);
          assert.ok(!next || (aStart + aCount < next.aStart && bStart + bCount < next.bStart));
        }
        assert.deepEqual(await withHunks(a, b, all, slices), after);
        assert.deepEqual(await withHunks(b, a, inverted(all), slices), before);
      }),
      { numRuns: 500 },
    ));

  it('applies and reverts hunks as git apply does', async () => {
    const folder = await scratchFolder();
    await fc.assert(
      fc.asyncProperty(pairs, fc.nat(), async ([before, after], mask) => {
        const [a, b] = [await text(before), await text(after)];
        const chosen = chosenBy(await compareLines(a, b, slices), mask);
        if (chosen.length === 0) return;
        const made = await withHunks(a, b, chosen, slices);
        assert.deepEqual(made, gitApply(folder, before, patchOf(before, after, chosen, 'make')));
        const taken = await withHunks(b, a, inverted(chosen), slices);
        assert.deepEqual(taken, gitApply(folder, after, patchOf(before, after, chosen, 'take'), '-R'));
      }),
      { numRuns: 150 },
    );
  }).timeout(60_000);

  it('does not compare binary files', async () => {
    assert.equal(await hunks(Buffer.from([0, 1]), Buffer.from('a')), undefined);
  });

  it('finds a change in a large file with repeated lines', async () => {
    const line = (n: number): string => `  }${n % 7}\n`;
    const lines = Array.from({ length: 50_000 }, (_, n) => line(n));
    const before = Buffer.from(lines.join(''));
    const after = Buffer.from(lines.with(30_000, 'x\n').toSpliced(10_000, 1).join(''));
    assert.deepEqual(await hunks(before, after), [
      { aStart: 10_000, aCount: 1, bStart: 10_000, bCount: 0 },
      { aStart: 30_000, aCount: 1, bStart: 29_999, bCount: 1 },
    ]);
  });
});

describe('the search for changed lines', () => {
  it('finds equal stretches after the step limit is reached', () => {
    const found = lineHunks(['p', 'q', 'once', 'p', 'q'], ['q', 'p', 'once', 'p', 'q'], 0, true);
    assert.deepEqual(found, [{ aStart: 0, aCount: 2, bStart: 0, bCount: 2 }]);
  });
});

describe('moving changes to another version', () => {
  afterEach(removeScratch);

  it('keeps the other lines in order', () =>
    fc.assert(
      fc.asyncProperty(content, content, content, async (from, edited, other) => {
        const [x, y, z] = [await text(from), await text(edited), await text(other)];
        const edits = await compareLines(x, y, slices);
        const others = await compareLines(x, z, slices);
        const { placed, applied: known, blocked } = await placeHunks(edits, others, { edited: y, other: z }, slices);
        assert.equal(placed.length + known.length + blocked.length, edits.length);
        const made = linesOf(await withHunks(z, y, placed, slices));
        // A missing line end does not join two lines.
        const expected = [...linesOf(other)];
        for (const { aStart, aCount, bStart, bCount } of placed.toReversed()) {
          expected.splice(aStart, aCount, ...linesOf(edited).slice(bStart, bStart + bCount));
        }
        assert.deepEqual(made, expected);
        for (const one of placed) {
          const untouched = linesOf(other).slice(one.aStart, one.aStart + one.aCount);
          const edit = edits.find(({ bStart }) => bStart === one.bStart)!;
          assert.deepEqual(untouched, linesOf(from).slice(edit.aStart, edit.aStart + edit.aCount));
        }
      }),
      { numRuns: 1000 },
    ));

  it('is blocked by a change of the same lines, and by an insertion at the same position', async () => {
    const [x, y] = [await text('1\n2\n3\n'), await text('1\nnew\n2\nTHREE\n')];
    const z = await text('1\nmine\n2\nthree\n');
    const found = await placeHunks(
      await compareLines(x, y, slices),
      await compareLines(x, z, slices),
      { edited: y, other: z },
      slices,
    );
    assert.deepEqual([found.placed.length, found.blocked.length], [0, 2]);
  });

  it('maps lines to a version with other changes', async () => {
    const [a, b] = [await text('1\n2\n3\n4\n'), await text('1\nTWO\n3\nFOUR\n')];
    const now = await text('mine\n1\nTWO\n3\nFOUR mine\nmore\n');
    const all = await compareLines(a, b, slices);
    assert.deepEqual(mapLines(all, await compareLines(b, now, slices)), [
      { start: 2, count: 1, isTouched: false },
      { start: 4, count: 2, isTouched: true },
    ]);
  });
});
