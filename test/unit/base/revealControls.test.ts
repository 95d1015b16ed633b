// Hidden characters in texts for approval.
import assert from 'node:assert/strict';
import { revealControls, revealHidden } from '../../../src/base/revealControls';

describe('a text for approval', () => {
  it('shows blank, invisible and direction-changing characters by code point', () => {
    for (const code of [
      0x00, 0x07, 0x0b, 0x0c, 0x0d, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x034f, 0x061c, 0x115f, 0x1160, 0x1680, 0x17b4,
      0x180e, 0x2000, 0x2003, 0x200a, 0x200b, 0x200c, 0x200d, 0x200e, 0x2028, 0x2029, 0x202e, 0x202f, 0x205f, 0x2060,
      0x2066, 0x206a, 0x2800, 0x3000, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xe0001, 0xe0041, 0xe0100,
    ]) {
      const char = String.fromCodePoint(code);
      const name = code.toString(16).toUpperCase().padStart(4, '0');
      assert.equal(revealHidden(`a${char}b`), `a⟨U+${name}⟩b`);
      assert.equal(revealHidden(`a${char.repeat(30)}b`), `a⟨U+${name} × 30⟩b`);
    }
  });

  it('counts runs of spaces, tabs and blank lines that could push text out of sight', () => {
    assert.equal(revealHidden(`a${' '.repeat(400)}b`), 'a⟨400 spaces⟩b');
    assert.equal(revealHidden(`a${'\t'.repeat(20)}b`), 'a⟨20 tabs⟩b');
    assert.equal(revealHidden(`a${'\n'.repeat(301)}b`), 'a\n⟨300 blank lines⟩\nb');
    assert.equal(revealHidden(`a\n${' \t\n'.repeat(5)}b`), 'a\n⟨5 blank lines⟩\nb');
    assert.equal(revealHidden(`${'\n'.repeat(5)}b`), '⟨5 blank lines⟩\nb');
    assert.equal(revealHidden(`a${'\r\n'.repeat(6)}b`), 'a\n⟨5 blank lines⟩\nb');
    assert.equal(revealHidden(`a${'\n'.repeat(9)}`), 'a\n⟨8 blank lines⟩\n');
    assert.equal(revealHidden(`a${'\u0301'.repeat(9)}`), 'a⟨9 marks⟩');
  });

  it('shows text hidden in variation selectors and tags, but not variants of characters', () => {
    const hidden = [0xe0130, 0xe0155, 0xe0061, 0xe0fff].map((code) => String.fromCodePoint(code)).join('');
    assert.equal(revealControls(`😀${hidden}`), '😀⟨U+E0130⟩⟨U+E0155⟩⟨U+E0061⟩⟨U+E0FFF⟩');
    assert.equal(revealControls('葛\u{e0100}飾区\u{e0100}\u{e0101}'), '葛\u{e0100}飾区\u{e0100}⟨U+E0101⟩');
  });

  it('keeps ordinary text unchanged', () => {
    for (const text of ['if (a) {\n\t\treturn  b;\n\n}\n', '👩‍👩‍👧 ❤️ می‌خواهم ქართული हिन्दी', '日本語', '', '\n'])
      assert.equal(revealHidden(text), text);
  });
});
