// The fence that agents put around command output.
import assert from 'node:assert/strict';
import { withoutFence } from '../../../../src/webview/entries/toolLabel';

describe('webview/toolContent', () => {
  it('removes a single fence around a text', () => {
    assert.equal(withoutFence('```console\na\n\nb\n```\n'), 'a\n\nb');
    assert.equal(withoutFence('\n~~~~\na\n~~~~'), 'a');
    assert.equal(withoutFence('```\n```'), '');
  });

  it('keeps a text whose first and last lines are not one fence', () => {
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
