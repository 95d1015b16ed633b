// Which files an agent names in tool calls, commands and writes.
import { strict as assert } from 'node:assert';
import { NamedFiles } from '../../../../src/client/changes/namedFiles';

const ROOT = '/work/app';

describe('the files that an agent names', () => {
  const naming = (add: (named: NamedFiles) => void): ((path: string) => boolean) => {
    const named = new NamedFiles(ROOT, [ROOT]);
    add(named);
    return (path) => named.has(`${ROOT}/${path}`);
  };
  const call = (rawInput: unknown, title = 'Work', toolKind: 'edit' | 'execute' = 'edit') => ({
    ...{ toolKind, title, rawInput },
    locations: [],
    content: [],
  });

  it('include those in locations, diffs, writes and named folders', () => {
    const has = naming((named) => {
      named.addPath(`${ROOT}/written`);
      named.addCall({
        ...call(undefined),
        locations: [{ path: 'src/located.ts' }],
        content: [{ type: 'diff', path: `${ROOT}/diff`, newText: '' }],
      });
      named.addPath('made');
    });
    const all = ['written', 'src/located.ts', 'diff', 'made/deep/file', 'SRC/Located.ts'];
    assert.deepEqual(
      all.filter((path) => !has(path)),
      [],
    );
    assert.deepEqual(['src/other.ts', 'writ', 'other'].filter(has), []);
  });

  for (const [line, named, other] of [
    ['sed -i s/a/b/ src/a.ts', ['src/a.ts'], ['src/b.ts']],
    ['cd src && rm -rf "old" *.log', ['src/old/x', 'src/a.log', 'a.log'], ['src/a.ts', 'src/deep/a.log']],
    ['echo x >out.txt; git mv a b', ['out.txt', 'a', 'b/c'], ['c']],
    ['git stash pop', [], ['a', 'src/a.ts']],
    ['npx prettier --write .', [], ['a', 'src/a.ts']],
    ['rm -rf *', [], ['a']],
    ['cp /etc/hosts ./src/hosts', ['src/hosts'], ['hosts']],
    ['git -C src checkout a.ts', ['src/a.ts'], ['src/b.ts']],
  ] as const) {
    it(`in the command ${line} are ${named.join(' ') || 'none'}`, () => {
      const has = naming((files) => files.addCommand({ line }));
      assert.deepEqual([named.filter(has), other.filter(has)], [[...named], []]);
    });
  }

  it('don’t include all files of the folder that a command runs in', () => {
    for (const key of ['cwd', 'workdir', 'working_directory', 'workingDir']) {
      const has = naming((named) => named.addCall(call({ command: 'sed -i s/a/b/ a.ts', [key]: 'packages/x' })));
      assert.deepEqual(['packages/x/a.ts', 'packages/x/mine.ts'].map(has), [true, false], key);
    }
  });

  it('include those in a title, but no folders unless it is a command', () => {
    const has = naming((named) => {
      named.addCall(call({}, 'Update docs and `src/a.ts`'));
      named.addCall(call({}, '`rm -rf build`', 'execute'));
    });
    assert.deepEqual(['src/a.ts', 'build/x', 'docs/mine.md'].map(has), [true, true, false]);
  });

  it('include those in arguments for paths, but not in written text', () => {
    const has = naming((named) => {
      named.addCall(
        call({ file_path: 'a b.txt', content: 'see c.txt', edits: [{ path: 'd.txt', new_string: 'e.txt' }] }),
      );
      named.addCall(call({ command: ['bash', '-lc', 'touch f.txt'] }));
    });
    assert.deepEqual(
      ['a b.txt', 'd.txt', 'f.txt'].filter((path) => !has(path)),
      [],
    );
    assert.deepEqual(['c.txt', 'e.txt'].filter(has), []);
  });
});
