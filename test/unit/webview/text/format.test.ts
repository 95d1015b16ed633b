// Formatting of durations, counts and paths.
import assert from 'node:assert/strict';
import { revealControls } from '../../../../src/base/revealControls';
import {
  counted,
  formatCost,
  formatCount,
  formatDuration,
  formatSeconds,
  lastLines,
  splitPath,
} from '../../../../src/webview/text/format';

describe('webview/format', () => {
  it('formats durations from milliseconds to hours', () => {
    const cases: readonly (readonly [number, string])[] = [
      [0, '< 0.1 s'],
      [90, '0.1 s'],
      [4_000, '4 s'],
      [12_400, '12.4 s'],
      [99_960, '1 min 40 s'],
      [120_000, '2 min'],
      [3_599_900, '1 h'],
      [3_780_000, '1 h 3 min'],
      [-5, '< 0.1 s'],
    ];
    for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
    assert.equal(formatSeconds(200), '1 s');
    assert.equal(formatSeconds(4_400), '4 s');
  });

  it('abbreviates counts', () => {
    assert.deepEqual([0, 812, 8_100, 68_000, 99_940, 199_900, 999_600, 1_250_000].map(formatCount), [
      '0',
      '812',
      '8.1K',
      '68K',
      '100K',
      '200K',
      '1M',
      '1.3M',
    ]);
    const tools = counted('{0} tool', '{0} tools');
    assert.deepEqual([1, 0, 1200].map(tools), ['1 tool', '0 tools', '1,200 tools']);
    assert.deepEqual([formatCost(0.25, 'usd'), formatCost(0.25, 'credits')], ['$0.25', '0.25 credits']);
  });

  it('escapes bidirectional controls, and keeps emoji and scripts intact', () => {
    assert.equal(revealControls('a\u202eb\u200bc\u0000'), 'a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩');
    assert.equal(revealControls('👩‍💻 می‌خواهم\ttab\nline'), '👩‍💻 می‌خواهم\ttab\nline');
  });

  it('keeps the file name when a path is shortened', () => {
    assert.deepEqual(splitPath('src/webview/main.tsx'), ['src/webview/', 'main.tsx']);
    assert.deepEqual(splitPath('main.tsx'), ['', 'main.tsx']);
    assert.deepEqual(splitPath('src/'), ['', 'src/']);
    assert.deepEqual(splitPath('C:\\work\\a.ts'), ['C:\\work\\', 'a.ts']);
  });

  it('finds the last lines from the end, whatever precedes them', () => {
    assert.equal(lastLines('a\nb\nc\n', 2), 'b\nc\n');
    assert.equal(lastLines('a\nb\nc', 2), 'b\nc');
    assert.equal(lastLines('a\nb', 5), 'a\nb');
    assert.equal(lastLines('\n\nx', 2), '\nx');
    assert.equal(lastLines('\nx', 2), '\nx');
    assert.equal(lastLines('', 3), '');
    assert.equal(lastLines('\n', 1), '\n');
  });
});
