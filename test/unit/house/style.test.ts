// Habits that the linter does not know: what would open a hole in the webview, and what a file
// begins with.
import { strict as assert } from 'node:assert';
import { codeOf } from './codeOf';
import { type Source, sources } from './sources';

function allSources(): readonly Source[] {
  return ['src', 'test'].flatMap((folder) =>
    sources(folder).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
  );
}

describe('the source', () => {
  it('never parses text as HTML or as code', () => {
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
    // Mermaid does so in a frame without access: test/webview/diagrams.slow.test.ts.
    const inspected = sources().filter(({ path }) => path !== 'webview/diagram/diagramFrame.ts');
    const found = inspected.flatMap(({ path, text }) =>
      codeOf(text)
        .split('\n')
        .filter((line) => dangerous.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line.trim()}`),
    );
    assert.deepEqual(found, []);
  });

  it('refuses JSON that nests too deep before it is parsed, where others write it', () => {
    const rooms = /^(acp|conformance|editorTools|store|traffic|distributed|registry\/list|keeper\/watch)\b/;
    /** Texts of our own, or looked at before. */
    const own = new Set([
      'acp/transport/httpTransport.ts',
      'conformance/wire/wireLog.ts',
      'distributed/model/model.ts',
      'distributed/server/serverSessions.ts',
      'registry/list/agentIcons.ts',
      'registry/list/registryList.ts',
    ]);
    const found = sources().filter(({ path, text }) => rooms.test(path) && codeOf(text).includes('JSON.parse('));
    assert.deepEqual(
      found.map(({ path }) => path),
      [...own],
    );
  });

  it('says in the first line of each file what the file is for', () => {
    const silent = allSources().filter(({ text }) => !/^(\/\/|\/\*)/.test(text));
    assert.deepEqual(
      silent.map(({ path }) => path),
      [],
    );
  });

  it('has the hooks of unit tests in a describe, as files in one process would share them', () => {
    const found = allSources()
      .filter(({ path }) => path.startsWith('test/unit/'))
      .filter(({ text }) => /^(before|after)(Each)?\(/m.test(text));
    assert.deepEqual(
      found.map(({ path }) => path),
      [],
    );
  });
});
