// Habits that the linter does not know: what would open a hole in the webview, and files that are too long to review.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './codeOf';
import { type Source, sources } from './sources';

/** The product and its tests, by their paths in the repository. */
function allSources(): readonly Source[] {
  return ['src', 'test'].flatMap((folder) =>
    sources(folder).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
  );
}

/** Files that may be longer than 600 lines, one per line with the reason after `#`. */
const LONG_FILES = join(process.cwd(), 'test/golden/long-files.txt');

describe('the source', () => {
  it('lets an agent run script in the panel if text is ever parsed as HTML or as code', () => {
    const dangerous = [
      /\.(inner|outer)HTML\b/,
      /\binsertAdjacentHTML\b/,
      /\bdangerouslySetInnerHTML\b/,
      /\bdocument\.write(ln)?\(/,
      /\bcreateContextualFragment\b/,
      /\bDOMParser\b/,
      /(?<![.\w])eval\(/,
      /\bnew Function\(/,
      /\bsetTimeout\(\s*['"`]/,
    ];
    // Mermaid does so itself, in a frame that has access to nothing: test/webview/diagram.slow.test.ts.
    const inspected = sources().filter(({ path }) => path !== 'webview/diagram/diagramFrame.ts');
    const found = inspected.flatMap(({ path, text }) =>
      codeOf(text)
        .split('\n')
        .filter((line) => dangerous.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line.trim()}`),
    );
    assert.deepEqual(found, []);
  });

  it('keeps each file under 600 lines, unless it is listed with a reason', () => {
    const allowed = readFileSync(LONG_FILES, 'utf8')
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim())
      .filter((line) => line !== '');
    const long = allSources()
      .filter(({ text }) => text.split('\n').length > 601)
      .map(({ path }) => path);
    assert.deepEqual(long, allowed);
  });

  it('leaves a reader without a first word if a file does not say what it is for', () => {
    const silent = allSources().filter(({ text }) => !/^(\/\/|\/\*)/.test(text));
    assert.deepEqual(
      silent.map(({ path }) => path),
      [],
    );
  });

  it('has the hooks of unit tests in a describe, as files that run in one process would share them', () => {
    const found = allSources()
      .filter(({ path }) => path.startsWith('test/unit/'))
      .filter(({ text }) => /^(before|after)(Each)?\(/m.test(text));
    assert.deepEqual(
      found.map(({ path }) => path),
      [],
    );
  });
});
