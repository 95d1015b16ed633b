// Answers of editor tools are bounded and paged.
import assert from 'node:assert/strict';
import { MAX_PAGE, pageOf } from '../../../src/editorTools/answer';

describe('editorTools/answer', () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `src/file${index}.ts:1:1  const value = ${index};`);

  it('limits a page, whatever the answer', () => {
    const texts = [
      pageOf({ summary: 's'.repeat(100_000), lines: ['x'.repeat(1_000_000), ...lines] }),
      pageOf({ summary: 'many', lines: Array.from({ length: 500 }, () => '☃'.repeat(399)) }),
    ];
    for (const text of texts) assert.ok(text.length <= MAX_PAGE + 100, String(text.length));
  });

  it('contains every line exactly once over all pages', () => {
    const seen: string[] = [];
    for (let offset = 0; ; ) {
      const page = pageOf({ summary: 'many', lines }, offset).split('\n').slice(1);
      const next = /with offset (\d+)$/.exec(page.at(-1) ?? '')?.[1];
      seen.push(...(next === undefined ? page : page.slice(0, -1)));
      if (next === undefined) break;
      offset = Number(next);
    }
    assert.deepEqual(seen, lines);
  });

  it('puts an item with line breaks on one line', () => {
    assert.equal(pageOf({ summary: 'one\ntwo', lines: ['a\r\nb'] }), 'one two\na b');
  });

  it('reports omitted lines if the tool has no pages', () => {
    assert.match(pageOf({ summary: 'many', lines }), /\n… 4800 more are left out$/);
    assert.match(pageOf({ summary: 'many', lines }, 200), /\n… 4600 more: call again with offset 400$/);
  });

  it('returns nothing after the last page', () => {
    assert.equal(pageOf({ summary: 'two', lines: ['a', 'b'] }, 7), 'two');
  });
});
