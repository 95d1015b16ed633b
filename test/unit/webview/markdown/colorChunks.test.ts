// Splitting code into chunks for the highlighter.
import assert from 'node:assert/strict';
import { colorChunks } from '../../../../src/webview/markdown/colorChunks';

describe('webview/colorChunks', () => {
  const texts: Readonly<Record<string, string>> = {
    short: 'let x;\nlet y;',
    'without lines': 'a'.repeat(20_000),
    'of short lines': 'a\n'.repeat(9_000),
    'of functions': `function a() {\n${'  call();\n'.repeat(40)}}\n\n`.repeat(20),
    'of long and short lines': `a\n${'b'.repeat(1_500)}\nc\n`.repeat(5),
    'of blank lines': '\n'.repeat(8_000),
  };
  for (const [name, text] of Object.entries(texts)) {
    it(`splits a text ${name} into chunks that are highlighted independently`, () => {
      const chunks = colorChunks(text);
      assert.equal(chunks.map((chunk) => chunk.text).join(''), text);
      for (const chunk of chunks) assert.ok(chunk.plain || chunk.text.length <= 3_000, `${chunk.text.length}`);
    });
  }

  it('splits between functions if possible, and leaves extremely long lines plain', () => {
    const chunks = colorChunks(texts['of functions']!);
    assert.ok(chunks.every(({ text }) => text.startsWith('function')));
    assert.deepEqual(
      colorChunks(texts['without lines']!).map(({ plain }) => plain),
      [true],
    );
  });
});
