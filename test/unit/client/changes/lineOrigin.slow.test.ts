// Which turn wrote a line, for real states of a folder.
import { strict as assert } from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
import { turnOfLine } from '../../../../src/client/changes/lineOrigin';
import { useChangeSession } from '../../../support/changes/changeSession';
import { writtenLines } from './writtenLines';

describe('the turn that wrote a line', () => {
  const test = useChangeSession();
  const { path, turn } = test;

  it('is none for a line that the user edited since, or whose change was undone', async () => {
    await test.started();
    await turn('own a.txt ONE\\ntwo\\nthree\\n');
    await turn('own a.txt ONE\\nTWO\\nTHREE\\n');
    await writeFile(path('a.txt'), 'mine\nONE\ntwo\nTHREE of mine\n');
    assert.deepEqual(await writtenLines(test, 'a.txt'), [undefined, 1, undefined, undefined]);
  });

  it('is found across a rename, and for a file that the agent made', async () => {
    await test.started();
    await turn('own new.txt a\\nb\\nc\\nd\\ne\\nf\\n');
    await turn('run mv new.txt moved.txt && echo g >> moved.txt');
    assert.deepEqual(await writtenLines(test, 'moved.txt'), [1, 1, 1, 1, 1, 1, 2]);
  });

  it('is none where the states of the turn are gone', async () => {
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
