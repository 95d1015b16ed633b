// Text that agents add to user messages.
import assert from 'node:assert/strict';
import { splitMessage } from '../../../../src/webview/entries/bookkeeping';

describe('webview/bookkeeping', () => {
  it("separates elements with multi-word names from the user's text", () => {
    assert.deepEqual(splitMessage('<system-reminder>\nBe brief.\n</system-reminder>\n\nFix it'), [
      { type: 'kept', name: 'system-reminder', text: 'Be brief.' },
      { type: 'text', text: 'Fix it' },
    ]);
    assert.deepEqual(splitMessage('Fix it\n<session_context>\na\n</session_context>\n'), [
      { type: 'text', text: 'Fix it' },
      { type: 'kept', name: 'session_context', text: 'a' },
    ]);
  });

  it('leaves everything else as the user typed it', () => {
    for (const text of [
      '  a\n\n b ',
      '',
      '<div>\na\n</div>',
      'Why <system-reminder>a</system-reminder>?',
      '<system-reminder>\nnever closed',
      '<my-button>a</my-button> does nothing',
      'iVBORw0KGgo is how a PNG begins',
    ])
      assert.deepEqual(splitMessage(text), [{ type: 'text', text }]);
  });

  it('recognizes an image in base64', () => {
    const data = `iVBORw0KGgo${'A'.repeat(100)}==`;
    assert.deepEqual(splitMessage(`${data}\n`), [{ type: 'image', data, mimeType: 'image/png' }]);
    assert.deepEqual(splitMessage(`data:image/webp;base64,${data}`), [{ type: 'image', data, mimeType: 'image/webp' }]);
  });

  it('takes time proportional to the length', () => {
    const begin = performance.now();
    for (const text of ['<a-b>\n'.repeat(50_000), `/9j/${'A'.repeat(1_000_000)}!`, '<a-b>\n</a-b>\n'.repeat(20_000)])
      splitMessage(text);
    assert.ok(performance.now() - begin < 500);
  });
});
