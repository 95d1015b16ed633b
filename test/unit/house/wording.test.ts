// The wording of comments and documentation.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { sources } from './sources';
import { type Finding, readComments, readProse } from './wording';

function list(path: string, findings: readonly Finding[]): readonly string[] {
  return findings.map(({ line, found, instead }) => `${path}:${line}: ${found} (${instead})`);
}

describe('wording', () => {
  it('finds phrases in comments across lines, and none in code', () => {
    const text = ["const at = 'at once';", '// Sends it at', '// once.', 'send(); // undefined where it fails'].join(
      '\n',
    );
    assert.deepEqual(
      readComments(text).map(({ line, found }) => `${line} ${found}`),
      ['2 at once', '4 undefined where'],
    );
  });

  it('finds phrases in Markdown, and none in its code', () => {
    const text = ['Sends it at once, `at once`.', '```', 'at once', '```', 'Then it goes on.'].join('\n');
    assert.deepEqual(
      readProse(text).map(({ line, found }) => `${line} ${found}`),
      ['1 at once', '5 goes on'],
    );
  });

  it('is plain in the documentation', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'findings/README.md'];
    const files = [
      ...pages.map((path) => ({ path, text: readFileSync(path, 'utf8') })),
      ...sources('docs', /\.md$/).map(({ path, text }) => ({ path: `docs/${path}`, text })),
    ];
    assert.deepEqual(
      files.flatMap(({ path, text }) => list(path, readProse(text))),
      [],
    );
  });

  it('is plain in comments, which are at most 100 columns wide', () => {
    const files = ['src', 'test', 'scripts']
      .flatMap((folder) =>
        sources(folder, /\.(tsx?|m[jt]s|css)$/).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
      )
      .filter(({ path }) => !/^test\/(golden|fixtures|unit\/house\/wording)/.test(path));
    assert.deepEqual(
      files.flatMap(({ path, text }) => list(path, readComments(text))),
      [],
    );
  });
});
