// The difference of two states, compared with the files themselves: random trees, random edits.
import { strict as assert } from 'node:assert';
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import type { FileChange, FolderStates } from '../../../../src/changes/model/fileChange';
import { filesOf } from '../../../support/changes/copies';
import { seeds } from '../../../support/tier';
import { git, makePlace, openStates, type Place } from './folders';

/** Applies the changes to the earlier files. */
async function applied(
  states: FolderStates,
  root: string,
  before: ReadonlyMap<string, string>,
  changes: readonly FileChange[],
) {
  const files = new Map(before);
  for (const { path, oldPath, before: old } of changes) {
    const from = oldPath ?? path;
    if (!old) continue;
    const content = (await states.read(root, old)).toString('latin1');
    assert.equal(`${old.mode} ${content}`, before.get(from), from);
    files.delete(from);
  }
  for (const { path, after } of changes) {
    if (!after) continue;
    const content = await states.read(root, after);
    assert.equal(content.length, after.size);
    files.set(path, `${after.mode} ${content.toString('latin1')}`);
  }
  return files;
}

const name = fc.constantFrom(
  ...['a', 'b', 'A', 'c.txt', 'with space', 'new\nline', '"quoted"', 'ü', '-n', '=', '%2F', 'x~'],
);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const content = fc.oneof(
  fc.constantFrom('', 'one\n', 'one\r\ntwo\r\n', 'no end', '\ufeffbom\n', '$Id$\n', 'a\0b'),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 8, maxLength: 30 }).map((lines) => `${lines.join('\n')}\n`),
);
const edit = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), path, content }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const), path, content: name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mode' as const), path }) },
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** Applies an edit as far as possible. */
function perform(folder: string, one: Edit): void {
  const file = join(folder, one.path);
  try {
    if (one.kind === 'delete') rmSync(file, { recursive: true, force: true });
    else if (one.kind === 'mode') chmodSync(file, lstatSync(file).mode ^ 0o111);
    else if (one.kind === 'move') {
      mkdirSync(dirname(join(folder, one.to)), { recursive: true });
      renameSync(file, join(folder, one.to));
    } else {
      rmSync(file, { recursive: true, force: true });
      mkdirSync(dirname(file), { recursive: true });
      if (one.kind === 'link') symlinkSync(one.content, file);
      else writeFileSync(file, Buffer.from(one.content, 'latin1'));
    }
  } catch {
    // A file replaces the folder, or it is missing.
  }
}

describe('the difference of two states', () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.dispose());

  for (const kind of ['a repository', 'no repository'] as const) {
    it(`matches the changes on disk byte by byte: ${kind}`, async function () {
      this.timeout(120_000);
      const { folder } = place;
      if (kind === 'a repository') git(place, folder, 'init', '-q');
      const states = openStates(place);
      try {
        await fc.assert(
          fc.asyncProperty(
            fc.array(edit, { maxLength: 12 }),
            fc.array(edit, { maxLength: 8 }),
            fc.boolean(),
            async (first, second, isAdded) => {
              for (const one of first) perform(folder, one);
              if (kind === 'a repository' && isAdded) git(place, folder, 'add', '-A');
              const before = await states.take();
              assert.deepEqual(before.gaps, []);
              const filesBefore = await filesOf(folder);
              for (const one of second) perform(folder, one);
              const after = await states.take();
              const filesAfter = await filesOf(folder);
              const changes = await states.changes(before, after);
              const paths = changes.map((one) => one.path);
              assert.deepEqual(paths, [...new Set(paths)].sort());
              for (const { path } of changes) assert.notEqual(filesBefore.get(path), filesAfter.get(path));
              const result = await applied(states, folder, filesBefore, changes);
              assert.deepEqual(new Map([...result].sort()), new Map([...filesAfter].sort()));
            },
          ),
          { numRuns: seeds(3, 15), seed: 7 },
        );
      } finally {
        states.dispose();
      }
    });
  }
});
