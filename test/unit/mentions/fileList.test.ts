// Fuzzy search over workspace files.
import assert from 'node:assert/strict';
import { FileList } from '../../../src/mentions/fileList';

const FILES = [
  'README.md',
  'src/chat/surface.ts',
  'src/chat/chatSurface.ts',
  'src/webview/composer/composerState.ts',
  'src/webview/composer/composer.tsx',
  'src/sessions/Übung.ts',
  'test/unit/composer.test.ts',
];

const search = async (list: FileList, query: string, most = 10): Promise<readonly string[]> =>
  (await list.search(query, most, new AbortController().signal)).map(({ path, isFolder }) =>
    isFolder ? `${path}/` : path,
  );

describe('searching workspace files', () => {
  it('ranks names that start with the letters first, then names and paths that contain them', async () => {
    const list = await FileList.of(FILES);
    assert.deepEqual(await search(list, 'surf'), ['src/chat/surface.ts', 'src/chat/chatSurface.ts']);
    assert.deepEqual((await search(list, 'composer')).slice(0, 4), [
      'src/webview/composer/',
      'src/webview/composer/composer.tsx',
      'test/unit/composer.test.ts',
      'src/webview/composer/composerState.ts',
    ]);
  });

  it('finds letters in order, ignoring case, and parts of a path', async () => {
    const list = await FileList.of(FILES);
    assert.deepEqual(await search(list, 'CS.TSX'), ['src/webview/composer/composer.tsx']);
    assert.deepEqual(await search(list, 'chat/surf', 1), ['src/chat/surface.ts']);
    assert.deepEqual(await search(list, 'chat\\surf', 1), ['src/chat/surface.ts']);
    assert.deepEqual(await search(list, 'übung'), ['src/sessions/Übung.ts']);
    assert.deepEqual(await search(list, 'zzz'), []);
  });

  it('ranks exact names first, with or without extension, then prefixes, words and parts', async () => {
    const list = await FileList.of([
      'a/ViewPort.ts',
      'b/port.test.ts',
      'c/portal.ts',
      'd/report.ts',
      'port/e.ts',
      'p/o/rt',
    ]);
    assert.deepEqual(await search(list, 'port'), [
      'port/',
      'b/port.test.ts',
      'c/portal.ts',
      'a/ViewPort.ts',
      'd/report.ts',
      'port/e.ts',
      'p/o/rt',
    ]);
  });

  it('finds only files or only folders, and the shortest for an empty query', async () => {
    const list = await FileList.of(FILES);
    const { signal } = new AbortController();
    const only = async (query: string, kind: 'file' | 'folder') =>
      (await list.search(query, 3, signal, kind)).map(({ path }) => path);
    assert.deepEqual(await only('', 'folder'), ['src', 'test', 'src/chat']);
    assert.deepEqual(await only('chat', 'folder'), ['src/chat']);
    assert.deepEqual(await only('chat', 'file'), ['src/chat/chatSurface.ts', 'src/chat/surface.ts']);
  });

  it('includes the folders of its files', async () => {
    const list = await FileList.of(FILES);
    assert.equal(list.size, FILES.length + 7);
    assert.ok(list.has('src/webview'));
    assert.ok(list.has('README.md'));
    assert.ok(!list.has('../secret'));
    assert.deepEqual(await search(list, 'sessions'), ['src/sessions/', 'src/sessions/Übung.ts']);
    const folders = [
      'src/',
      'src/chat/',
      'src/webview/',
      'src/webview/composer/',
      'src/sessions/',
      'test/',
      'test/unit/',
    ];
    const found = await Promise.all(folders.map((folder) => search(list, folder.slice(0, -1))));
    for (const [index, folder] of folders.entries()) assert.ok(found[index]?.includes(folder), folder);
  });

  it('searches 100,000 files in slices, and stops when another search starts', async () => {
    const list = await FileList.of(
      Array.from({ length: 100_000 }, (_, index) => `src/room${index % 500}/file${index}.ts`),
    );
    assert.deepEqual(await search(list, 'file99999'), ['src/room499/file99999.ts']);
    assert.equal((await search(list, 'e', 20)).length, 20);
    const end = new AbortController();
    const searching = list.search('nowhere', 20, end.signal);
    end.abort(new Error('typed on'));
    await assert.rejects(searching, /typed on/);
  });
});
