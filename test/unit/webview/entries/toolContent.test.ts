// The one fence that agents put around the output of a command.
import assert from 'node:assert/strict';
import { withoutFence } from '../../../../src/webview/entries/toolContent';

describe('webview/toolContent', () => {
  it('takes the text out of the one fence around it', () => {
    assert.equal(withoutFence('```console\na\n\nb\n```\n'), 'a\n\nb');
    assert.equal(withoutFence('\n~~~~\na\n~~~~'), 'a');
    assert.equal(withoutFence('```\n```'), '');
  });

  it('leaves a text alone whose first and last line are not one fence', () => {
    for (const text of [
      'a',
      '```\na',
      '```\na\n~~~',
      '```\na\n```\nb\n```\nc\n```',
      '```\n```\nb\n```',
      `${'`'.repeat(9)}\n${'`'.repeat(9)}x`,
    ]) {
      assert.equal(withoutFence(text), text);
    }
  });
});
