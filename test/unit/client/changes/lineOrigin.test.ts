// Which turn wrote a line, for real states of a folder.
import { strict as assert } from 'node:assert';
import { useChangeSession } from '../../../support/changes/changeSession';
import { writtenLines } from './writtenLines';

describe('the turn that wrote a line', () => {
  const test = useChangeSession();
  const { turn } = test;

  it('is the newest whose change has it, and none for a line that was there before', async () => {
    await test.started();
    await turn('own a.txt one\\nTWO\\nthree\\n');
    await turn('own a.txt zero\\none\\nTWO\\nthree\\nfour\\n');
    assert.deepEqual(await writtenLines(test, 'a.txt'), [2, undefined, 1, undefined, 2]);
  });
});
