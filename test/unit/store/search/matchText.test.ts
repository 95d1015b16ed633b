// Snippets of matches, and their ranking.
import { strict as assert } from 'node:assert';
import { searchWords, snippetOf } from '../../../../src/store/search/search';

describe('the snippet of a text', () => {
  const shown = (text: string, typed: string): string =>
    snippetOf(text, searchWords(typed))
      .map((part) => (part.hit ? `[${part.text}]` : part.text))
      .join('');
  const filler = Array.from({ length: 100 }, (_, index) => `filler${index}`).join(' ');

  it('is all of a short text, with words and prefixes marked', () => {
    assert.equal(shown('Behind the old mill.', 'old mil'), 'Behind the [old] [mill].');
    assert.equal(shown('Über den Café-Tisch', 'uber cafe'), '[Über] den [Café]-Tisch');
  });

  it('is the part with most of the words, with an ellipsis where text is omitted', () => {
    const text = `needle ${filler} a needle in the hay ${filler}`;
    const snippet = shown(text, 'needle hay');
    assert.match(snippet, /^….*a \[needle\] in the \[hay\].*…$/);
    assert.equal(snippet.split(' ').length, 24);
    assert.match(shown(`needle ${filler}`, 'needle'), /^\[needle\] filler0 .*…$/);
    assert.match(shown(`${filler} needle!`, 'needle'), /^….* \[needle\]!$/);
    assert.match(shown(`${filler} needle`, 'needle'), /^….* \[needle\]$/);
  });

  it('marks a phrase as a whole, and overlapping matches once', () => {
    assert.equal(shown('one two three', '"one two"'), '[one two] three');
    assert.equal(shown('src/deep/fox.ts', 'deep/fox.ts'), 'src/[deep/fox.ts]');
    assert.equal(shown('ha ha ha', '"ha ha"'), '[ha ha][ ha]');
  });

  it('is the beginning of a text without matches', () => {
    assert.equal(shown('one two', 'three'), 'one two');
    assert.match(shown(filler, 'three'), /^filler0 .* filler23…$/);
    assert.equal(shown('', 'three'), '');
  });

  it('takes no longer for a text that is all matches', () => {
    assert.match(shown('ab '.repeat(5000), '"ab ab" ab'), /^(\[|\]|ab|…| )+$/);
  });
});
