// The output of terminals as text with colours, however hostile it is.
import assert from 'node:assert/strict';
import { cleanOutput } from '../../../src/webview/ansi';

describe('webview/ansi', () => {
  it('shows a progress line as a terminal would: only what was written last', () => {
    assert.equal(cleanOutput('10%\r50%\r100%\r\ndone\r'), '100%\ndone');
    assert.equal(cleanOutput('abc\b\bX\n'), 'aX\n');
  });

  it('keeps colours, also those switched on before the line was overwritten', () => {
    assert.equal(cleanOutput('\u001b[31mred\rstill'), '\u001b[31mstill');
  });

  it('drops titles, cursor movement and characters that turn text around', () => {
    const text =
      '\u001b]0;title\u0007a\u001b[2K\u001b[1;1H\u001b[?25lb\u001b(B\u202ec\u001b[0m\u001b]8;;http://x\u001b\\d';
    assert.equal(cleanOutput(text), 'abc\u001b[0md');
  });

  it('stays linear on hostile input', () => {
    const begin = performance.now();
    cleanOutput('a'.repeat(50_000) + '\b'.repeat(50_000) + '\u001b['.repeat(20_000) + '\u001b]'.repeat(20_000));
    assert.ok(performance.now() - begin < 2_000);
  });
});
