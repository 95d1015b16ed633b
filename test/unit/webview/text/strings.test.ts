// The table of the panel's texts.
import assert from 'node:assert/strict';
import { strings } from '../../../../src/webview/text/strings';
import { sources } from '../../house/sources';

describe('webview/strings', () => {
  it('holds no text that the panel does not use', () => {
    const code = sources()
      .filter(({ path }) => path.startsWith('webview/'))
      .map(({ text }) => text)
      .join('\n');
    const unused = Object.keys(strings).filter((key) => !new RegExp(`\\bstrings\\.${key}\\b`).test(code));
    assert.deepEqual(unused, []);
  });

  it('sets the ellipsis directly after the word', () => {
    assert.doesNotMatch(JSON.stringify(strings), /\s…|\.\.\./);
  });
});
