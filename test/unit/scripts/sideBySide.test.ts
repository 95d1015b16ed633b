// Parallel suite processes: limited in number, in order, with complete output.
import { strict as assert } from 'node:assert';
import { inOrder, type Run, startInLanes } from '../../../scripts/lib/sideBySide.mts';

describe('parallel processes', () => {
  function processes(count: number) {
    const begun: number[] = [];
    const shown: number[] = [];
    const ends = Array.from({ length: count }, () => Promise.withResolvers<number>());
    const starts = ends.map(({ promise }, index) => (): Run => {
      begun.push(index);
      return { code: promise, show: () => void shown.push(index) };
    });
    const end = async (index: number, code = 0): Promise<void> => {
      ends[index]?.resolve(code);
      await new Promise(setImmediate);
    };
    return { begun, shown, starts, end };
  }

  it('start in order, each when an earlier one has ended', async () => {
    const { begun, starts, end } = processes(5);
    startInLanes(starts, 2);
    assert.deepEqual(begun, [0, 1]);
    await end(1);
    assert.deepEqual(begun, [0, 1, 2]);
    await end(0);
    await end(2);
    assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  });

  it('print their output in order, and return their exit codes', async () => {
    const { shown, starts, end } = processes(3);
    const codes = inOrder(startInLanes(starts, 3));
    await end(2, 7);
    assert.deepEqual(shown, [0]);
    await end(0, 1);
    await end(1);
    assert.deepEqual(shown, [0, 1, 2]);
    assert.deepEqual(await codes, [1, 0, 7]);
  });
});
