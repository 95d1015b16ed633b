// The tables of the panel's texts.
import assert from 'node:assert/strict';
import { strings, trafficStrings, zoomStrings } from '../../../../src/webview/text/strings';
import { sources } from '../../house/sources';

const TABLES = { strings, trafficStrings, zoomStrings };

describe('webview/strings', () => {
  it('contains no text that the panel does not use', () => {
    const code = sources()
      .filter(({ path }) => path.startsWith('webview/'))
      .map(({ text }) => text)
      .join('\n');
    // A nested table is used as a whole, or by the names of its texts.
    const unusedIn = (path: string, table: object): readonly string[] =>
      Object.entries(table).flatMap(([key, value]) => {
        const name = `${path}.${key}`;
        const isWhole = new RegExp(`\\b${name}\\b(?!\\.)`).test(code);
        if (isWhole || typeof value !== 'object' || Array.isArray(value))
          return isWhole || new RegExp(`\\b${name}\\b`).test(code) ? [] : [name];
        return unusedIn(name, value);
      });
    assert.deepEqual(
      Object.entries(TABLES).flatMap(([path, table]) => unusedIn(path, table)),
      [],
    );
  });

  it('sets the ellipsis directly after the word', () => {
    assert.doesNotMatch(JSON.stringify(TABLES), /\s…|\.\.\./);
  });
});
