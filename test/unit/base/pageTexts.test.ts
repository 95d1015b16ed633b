// The translations that a page gets.
import assert from 'node:assert/strict';
import { pageTexts } from '../../../src/base/pageTexts';

describe('the texts of a page', () => {
  const bundle = { Add: 'Hinzufügen', Copy: 'Kopieren', Save: 'Speichern', Zoom: 'Zoom' };

  it('are those at the positions that the build found', () => {
    assert.deepEqual(pageTexts('{"of":4,"steps":[1,1]}', bundle), { Copy: 'Kopieren', Save: 'Speichern' });
    assert.deepEqual(pageTexts('{"of":4,"steps":[0,3]}', bundle), { Add: 'Hinzufügen', Zoom: 'Zoom' });
    assert.deepEqual(pageTexts('{"of":4,"steps":[]}', bundle), {});
  });

  it('are all of a bundle that is another one than at the build', () => {
    assert.deepEqual(pageTexts('{"of":5,"steps":[1]}', bundle), bundle);
  });
});
