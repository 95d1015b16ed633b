// Which turn wrote a line, for real states of a folder.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { turnOfLine } from '../../../../src/client/changes/lineOrigin';
import { useChangeSession } from '../../../support/changes/changeSession';

describe('the turn that wrote a line', () => {
  const test = useChangeSession();
  const { path, turn } = test;

  /** The numbers of the turns that wrote the lines of a file; undefined: none. */
  async function written(name: string): Promise<readonly (number | undefined)[]> {
    const { changes, model } = test.session.conversation;
    const content = await readFile(path(name));
    const turns = model.state.turns
      .toReversed()
      .flatMap(({ number, changes }) => (changes ? [{ number, changes }] : []));
    const states = await changes.states();
    const { signal } = new AbortController();
    const lines = content.toString('utf8').split('\n').slice(0, -1);
    const found = lines.map((_, line) => turnOfLine(states, turns, { path: path(name), content, line }, signal));
    return (await Promise.all(found)).map((one) => one?.number);
  }

  it('is the newest whose change has it, and none for a line that was there before', async () => {
    await test.started();
    await turn('own a.txt one\\nTWO\\nthree\\n');
    await turn('own a.txt zero\\none\\nTWO\\nthree\\nfour\\n');
    assert.deepEqual(await written('a.txt'), [2, undefined, 1, undefined, 2]);
  });
});
