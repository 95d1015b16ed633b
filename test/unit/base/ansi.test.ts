// Terminal output as styled text, whatever it contains.
import assert from 'node:assert/strict';
import { cleanOutput, styledText } from '../../../src/base/ansi';

describe('base/ansi', () => {
  it('shows only the last state of a progress line', () => {
    assert.equal(cleanOutput('10%\r50%\r100%\r\ndone\r'), '100%\ndone');
    assert.equal(cleanOutput('abc\b\bX\n'), 'aX\n');
  });

  it('keeps colors, including those set before the line was overwritten', () => {
    assert.equal(cleanOutput('\u001b[31mred\rstill'), '\u001b[31mstill');
  });

  it('removes titles, cursor movement and characters that change the text direction', () => {
    const text =
      '\u001b]0;title\u0007a\u001b[2K\u001b[1;1H\u001b[?25lb\u001b(B\u202ec\u001b[0m\u001b]8;;http://x\u001b\\d';
    assert.equal(cleanOutput(text), 'abc\u001b[0md');
  });

  it('reads runs of carriage returns, backspaces and unfinished escapes in any split', () => {
    assert.equal(cleanOutput(`${'a'.repeat(3)}${'\b'.repeat(50_000)}b`), 'b');
    assert.equal(cleanOutput(`a${'\r'.repeat(50_000)}b\n`), 'b\n');
    assert.equal(cleanOutput(`a${'\r'.repeat(50_000)}\nb`), 'a\nb');
  });

  const styles = (text: string): unknown[] =>
    styledText(text).map(({ text: part, color, background, decorations }) =>
      [part, color ?? '', background ?? '', ...decorations].join(' '),
    );

  it('reads theme colors, palette colors and RGB colors', () => {
    assert.deepEqual(styles('a\u001b[31mb\u001b[1;92;44mc\u001b[0md'), [
      'a  ',
      'b ansi-red ',
      'c ansi-bright-green ansi-blue bold',
      'd  ',
    ]);
    assert.deepEqual(styles('\u001b[38;5;9ma\u001b[38;5;196mb\u001b[48;2;1;2;3mc\u001b[38;5;250md'), [
      'a ansi-bright-red ',
      'b 255, 0, 0 ',
      'c 255, 0, 0 1, 2, 3',
      'd 188, 188, 188 1, 2, 3',
    ]);
  });

  it('ends decorations by their own codes, and reverses colors', () => {
    assert.deepEqual(styles('\u001b[1;2;3;4;9ma\u001b[22;24mb\u001b[23;29mc'), [
      'a   bold dim italic underline strikethrough',
      'b   italic strikethrough',
      'c  ',
    ]);
    assert.deepEqual(styles('\u001b[31;42;7ma\u001b[27;39mb\u001b[49mc'), [
      'a ansi-green ansi-red',
      'b  ansi-green',
      'c  ',
    ]);
  });

  it('drops unfinished escapes and unknown codes', () => {
    assert.deepEqual(styles('\u001b[31\u001ba\u001b[38;5mb\u001b[38;2;999;0;0mc\u001b[77md'), ['[31abcd  ']);
  });

  it('returns a bounded number of runs, merges equal neighbors, and keeps the whole text', () => {
    assert.equal(styledText('\u001b[31mx'.repeat(20_000)).length, 1);
    const many = styledText('\u001b[31mx\u001b[32my'.repeat(20_000));
    assert.ok(many.length <= 1_501, String(many.length));
    assert.equal(
      many.reduce((sum, { text }) => sum + text.length, 0),
      40_000,
    );
  });
});
