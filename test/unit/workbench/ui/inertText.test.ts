// Agents' text reaches VS Code's UI without links, icons and hidden characters.
import { strict as assert } from 'node:assert';
import { inert, inertLines, isTooLong, labelOf } from '../../../../src/workbench/ui/inertText';

/** How VS Code finds links in notifications (vs/base/common/linkedText), ignoring case. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
/** How VS Code finds icons (vs/base/common/iconLabels); a backslash does not always help. */
const ICON = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/;

const HOSTILE: readonly string[] = [
  '[Open the report](command:runCommands?%7B%22commands%22%3A%5B%5D%7D)',
  '/x/[a](command:workbench.action.quit) does not exist.',
  '[[a]](command:x)',
  '[a[b]](command:x)',
  '[a]]](command:x)',
  '[a\\](command:x)',
  '\\[a](command:x)',
  '![a](command:x)',
  '[a](COMMAND:x)',
  '[a](CoMmAnD:x "title")',
  "[a](command:x 'title')",
  '[a](https://evil.example/x)',
  '[a](file:///etc/passwd)',
  '[a\u200b](command:x)',
  '[a]\u200b(command:x)',
  '[a]\u2060(command:x)',
  '[a]\u0000(command:x)',
  '[a]\n(command:x)',
  '[a\n](command:x)',
  '[a]\u202e(command:x)',
  '[a](\u202ecommand:x)',
  '<command:workbench.action.quit>',
  '[a][b](command:x)[c](command:y)',
  '](command:x)[a](command:y)',
  '$(zap~spin)',
  '$(zap)$(zap)',
  '\\$(zap)',
  '\\\\$(zap)',
  '$$(zap)',
  '$(zap',
  '$\u200b(zap)',
  '[$(zap)](command:x)',
  `[${'a'.repeat(2_000)}](command:x)`,
  `${'['.repeat(500_000)}${'a](command:x)'.repeat(40_000)}`,
  `${'$(zap)'.repeat(200_000)}`,
  '[a](command:x)'.repeat(100),
  '\ud800[a](command:x)\udfff',
  '[\u{e0041}a](command:x)',
];

describe("text in VS Code's UI", () => {
  for (const [index, text] of HOSTILE.entries()) {
    it(`contains no link or icon: ${index} ${JSON.stringify(text.slice(0, 60))}`, () => {
      for (const shown of [inert(text), inertLines(text), labelOf(text), labelOf(['a', text, text])]) {
        assert.doesNotMatch(shown, LINK);
        assert.doesNotMatch(shown, ICON);
      }
    });
  }

  it('contains no link that starts in one part and ends in another', () => {
    for (const parts of [
      ['[a]', '(command:x)'],
      ['[a', '](command:x)'],
      ['[a](', 'command:x)'],
      ['[', 'a', ']', '(', 'command:x', ')'],
    ]) {
      assert.doesNotMatch(labelOf(parts), LINK);
      assert.doesNotMatch(inert(parts.join('')), LINK);
      // Some version of VS Code may show title and detail as one text.
      assert.doesNotMatch(parts.map(inert).join(''), LINK);
    }
    assert.doesNotMatch(labelOf(['$', '(zap)']), ICON);
  });

  it('keeps our own icons', () => {
    assert.equal(labelOf([{ icon: 'lock' }, ' $(zap)']), '$(lock) $\u2060(zap)');
  });

  it('is one line if required, and otherwise keeps line breaks', () => {
    assert.equal(inert('a\r\n\tb\u2028c\u0085d'), 'a b c⟨U+0085⟩d');
    assert.equal(inertLines('a\r\nb\rc'), 'a\nb\nc');
  });

  it('shows characters that hide or reorder text', () => {
    assert.equal(inert('/tmp/\u202egnp.exe'), '/tmp/⟨U+202E⟩gnp.exe');
    assert.equal(inert('a\u200bb\u00adc\u2063\u{e0041}'), 'a⟨U+200B⟩b⟨U+00AD⟩c⟨U+2063⟩⟨U+E0041⟩');
    assert.equal(inert('\x1b[31mred'), '⟨U+001B⟩[31mred');
    assert.equal(inertLines('a\u202eb\n\x1b[31mc\u200b'), 'a⟨U+202E⟩b\n⟨U+001B⟩[31mc⟨U+200B⟩');
  });

  it('is bounded, keeps both ends, and never splits a character', () => {
    const long = inert(`/home/${'x'.repeat(1_000_000)}/id_rsa`);
    assert.ok(long.length <= 1_000, `${long.length}`);
    assert.match(long, /^\/home\/x+…x+\/id_rsa$/);
    assert.ok(inert('😀'.repeat(1_000)).isWellFormed());
    assert.equal(inert('\ud800'), '\ufffd');
    assert.equal(isTooLong('x'.repeat(8_000)), false);
    assert.equal(isTooLong('x'.repeat(8_001)), true);
  });

  it('leaves ordinary text unchanged', () => {
    for (const text of ['src/app/(group)/[id]/page.tsx', 'f(x)[0] costs $5', 'é 漢 👩‍💻 می‌خواهم', 'a (b) [c] {d}'])
      assert.equal(inert(text), text);
  });
});
