// Which turn wrote a line, from real folder states.

import { strict as assert } from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
import { turnOfLine } from '../../../../src/client/changes/lineOrigin';
import { useChangeSession } from '../../../support/changes/changeSession';
import { seeds } from '../../../support/tier';

const slowly = seeds(0, 1) === 1 ? it : (): void => undefined;

/** Returns the numbers of the turns that wrote the lines of a file. */
async function writtenLines(
  test: ReturnType<typeof useChangeSession>,
  name: string,
): Promise<readonly (number | undefined)[]> {
  const { changes, model } = test.session.conversation;
  const content = await readFile(test.path(name));
  const turns = model.state.turns.toReversed().flatMap(({ number, changes }) => (changes ? [{ number, changes }] : []));
  const states = await changes.states();
  const { signal } = new AbortController();
  const lines = content.toString('utf8').split('\n').slice(0, -1);
  const found = lines.map((_, line) => turnOfLine(states, turns, { path: test.path(name), content, line }, signal));
  return (await Promise.all(found)).map((one) => one?.number);
}

describe('the turn that wrote a line', () => {
  const test = useChangeSession();
  const { turn, path } = test;

  it('is the latest whose change contains it, or none if the line is older', async () => {
    await test.started();
    await turn('own a.txt one\\nTWO\\nthree\\n');
    await turn('own a.txt zero\\none\\nTWO\\nthree\\nfour\\n');
    assert.deepEqual(await writtenLines(test, 'a.txt'), [2, undefined, 1, undefined, 2]);
  });

  slowly('is none for a line that the user edited since, or whose change was undone', async () => {
    await test.started();
    await turn('own a.txt ONE\\ntwo\\nthree\\n');
    await turn('own a.txt ONE\\nTWO\\nTHREE\\n');
    await writeFile(path('a.txt'), 'mine\nONE\ntwo\nTHREE of mine\n');
    assert.deepEqual(await writtenLines(test, 'a.txt'), [undefined, 1, undefined, undefined]);
  });

  slowly('is found across a rename, and for a file that the agent made', async () => {
    await test.started();
    await turn('own new.txt a\\nb\\nc\\nd\\ne\\nf\\n');
    await turn('run mv new.txt moved.txt && echo g >> moved.txt');
    assert.deepEqual(await writtenLines(test, 'moved.txt'), [1, 1, 1, 1, 1, 1, 2]);
  });

  slowly('is none where the states of the turn are gone', async () => {
    await test.started();
    await turn('own a.txt ONE\\ntwo\\nthree\\n');
    const { changes } = test.session.conversation;
    const root = test.session.folder;
    const gone = { folders: [{ root, before: '0'.repeat(40), after: '1'.repeat(40) }], files: 1, added: 1, removed: 1 };
    const place = { path: path('a.txt'), content: await readFile(path('a.txt')), line: 0 };
    const { signal } = new AbortController();
    assert.equal(await turnOfLine(await changes.states(), [{ changes: gone }], place, signal), undefined);
  });
});
