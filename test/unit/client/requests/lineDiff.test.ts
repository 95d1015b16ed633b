// Changes in a file as the panel shows them: found in bounded time, and only once.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { lineDiff, newEnds } from '../../../../src/client/requests/lineDiff';
import { type ProjectionContext, projectItem } from '../../../../src/client/view/projectItem';
import type { DiffView } from '../../../../src/panel/contract';
import { SessionModel } from '../../../../src/session/model/model';
import { seeded } from '../../../support/store/random';

const lines = (count: number, of: (index: number) => string = (n) => `line ${n}`): string =>
  Array.from({ length: count }, (_, n) => `${of(n)}\n`).join('');

/** Applies hunks to the old text. Fails if a hunk doesn't match its place. */
function apply(oldText: string, hunks: NonNullable<ReturnType<typeof lineDiff>>['hunks']): string {
  const left = oldText.split('\n').slice(0, -1);
  const made: string[] = [];
  let taken = 0;
  for (const hunk of hunks) {
    while (taken < hunk.oldStart - 1) made.push(left[taken++] ?? 'nothing');
    assert.equal(made.length, hunk.newStart - 1);
    for (const line of hunk.lines) {
      if (line[0] !== '+') assert.equal(left[taken++], line.slice(1));
      if (line[0] !== '-') made.push(line.slice(1));
    }
  }
  return [...made, ...left.slice(taken)].map((line) => `${line}\n`).join('');
}

describe('the changes in a file', () => {
  it('turn the old text into the new one', () => {
    const line = fc.constantFrom('', 'a', 'b', 'c', 'longer line');
    const text = fc.array(line, { maxLength: 30 }).map((all) => all.map((one) => `${one}\n`).join(''));
    fc.assert(
      fc.property(text, text, (oldText, newText) => {
        const diff = lineDiff(oldText, newText);
        assert.ok(diff);
        assert.equal(apply(oldText, diff.hunks), newText);
        const all = diff.hunks.flatMap((hunk) => hunk.lines);
        assert.equal(diff.added, all.filter((one) => one.startsWith('+')).length);
        assert.equal(diff.removed, all.filter((one) => one.startsWith('-')).length);
      }),
      { numRuns: 1000 },
    );
  });

  it('ignore line ends and a byte order mark missing in the new text, as a write keeps them', () => {
    const oldText = '\ufeffone\r\ntwo\r\nthree\r\n';
    const diff = lineDiff(oldText, 'one\nTWO\nthree\n');
    assert.deepEqual([diff?.added, diff?.removed], [1, 1]);
    const lines = diff?.hunks.flatMap((hunk) => hunk.lines.map((line) => line.replace('\r', '')));
    assert.deepEqual(lines, [' \ufeffone', '-two', '+TWO', ' three']);
    const longer = lineDiff('one\ntwo\n', 'one\r\ntwo\r\nthree\r\n');
    assert.deepEqual([longer?.added, longer?.removed], [1, 0]);
  });

  it('include line ends if nothing else changes', () => {
    const diff = lineDiff('one\r\ntwo\r\n', 'one\ntwo\n');
    assert.deepEqual([diff?.added, diff?.removed], [2, 2]);
  });

  it('are shown with three lines around them and their own numbers, however large the file is', () => {
    const oldText = lines(50_000);
    const diff = lineDiff(oldText, oldText.replace('line 40000\n', 'changed\n'));
    assert.deepEqual(diff, {
      added: 1,
      removed: 1,
      hunks: [
        {
          oldStart: 39_998,
          newStart: 39_998,
          lines: [
            ' line 39997',
            ' line 39998',
            ' line 39999',
            '-line 40000',
            '+changed',
            ' line 40001',
            ' line 40002',
            ' line 40003',
          ],
        },
      ],
    });
  });

  it('count all lines of a long new file and show the first and last ones', () => {
    const diff = lineDiff('', lines(100_000));
    assert.equal(diff?.added, 100_000);
    assert.deepEqual(diff.truncated, { hunk: 1, lines: 99_600 });
    const [first, last] = diff.hunks;
    assert.deepEqual([first?.lines.length, last?.newStart, last?.lines.length], [340, 99_941, 60]);
    assert.equal(last?.lines.at(-1), '+line 99999');
    assert.equal(last.lines[0], `+line ${last.newStart - 1}`);
  });

  it('show the first and last of many changes, with their own numbers', () => {
    const diff = lineDiff(
      lines(900),
      lines(900, (n) => (n % 9 ? `line ${n}` : `changed ${n}`)),
    );
    const given = diff?.hunks.flatMap(({ lines: some }) => some).length ?? 0;
    assert.equal(given, 400);
    const last = diff?.hunks.at(-1);
    assert.ok(last?.lines.includes('+changed 891'));
    for (const { oldStart, lines: some } of diff?.hunks ?? []) {
      const first = some.find((line) => !line.startsWith('+'));
      assert.equal(Number(/\d+/.exec(first ?? '')?.[0]) + 1, oldStart);
    }
    const shown = diff?.hunks.slice(0, diff.truncated?.hunk).flatMap(({ lines: some }) => some).length;
    assert.equal(shown, 340);
  });

  it('show both ends of the new text if there are too many', () => {
    const text = `${lines(20_000)}rm -rf ~\n`;
    const { hunks, truncated } = newEnds(
      lines(30_000, (n) => `other ${n}`),
      text,
    );
    assert.equal(hunks.at(-1)?.lines.at(-1), '+rm -rf ~');
    assert.deepEqual(truncated, { hunk: 1, lines: 19_601 });
  });

  it('are found however numerous and far apart they are', () => {
    const oldText = lines(9000);
    for (const each of [22, 3, 1]) {
      const newText = lines(9000, (n) => (n % each ? `line ${n}` : `changed ${n}`));
      const diff = lineDiff(oldText, newText);
      const count = Math.ceil(9000 / each);
      assert.deepEqual([diff?.added, diff?.removed, diff?.truncated !== undefined], [count, count, true]);
    }
  });

  it('show a moved part once, at its new place', () => {
    const diff = lineDiff('a\nb\nc\nd\n', 'b\nc\nd\na\n');
    assert.deepEqual(diff?.hunks[0]?.lines, ['-a', ' b', ' c', ' d', '+a']);
  });

  it('are not searched beyond a number of steps', () => {
    const random = seeded(3);
    const text = (): string => lines(4000, () => `${random(4)}`);
    assert.equal(lineDiff(text(), text()), undefined);
    assert.equal(lineDiff('\n'.repeat(1_000_000), 'a\n'.repeat(500_000)), undefined);
  });

  it('are computed once for content that is shown repeatedly', () => {
    const model = new SessionModel();
    const part = { type: 'diff' as const, path: '/w/a', oldText: lines(100), newText: lines(100, (n) => `other ${n}`) };
    const patch = { content: [part] };
    model.apply({ type: 'tool_call', toolCallId: 'a', announced: true, patch }, 1);
    const context: ProjectionContext = {
      state: model.state,
      turn: () => undefined,
      roots: ['/w'],
      isOpenable: () => false,
    };
    const shown = (): DiffView => {
      const [entry] = model.state.entries;
      const item = entry && projectItem(entry, context);
      const [content] = item?.kind === 'tool' ? item.content : [];
      assert.ok(content?.type === 'diff');
      return content.diff;
    };
    assert.equal(shown().label, 'a');
    assert.equal(shown().hunks, shown().hunks);
  });
});
