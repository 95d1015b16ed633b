// Folders, repositories and stores in the temporary folder, for tests with the git of this machine.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { openFolderStates } from '../../../../src/changes/folderStates';
import type { FileChange, FolderStates, Snapshot } from '../../../../src/changes/model/fileChange';
import { openStateRetention } from '../../../../src/changes/stateRetention';

/** A folder to work in, with a place for the store beside it. */
export interface Place {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  readonly storage: string;
  readonly home: string;
  dispose(): void;
}

export function makePlace(): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-changes-')));
  const place = { folder: join(base, 'folder'), storage: join(base, 'storage'), home: join(base, 'home') };
  for (const path of Object.values(place)) mkdirSync(path);
  return { ...place, dispose: () => rmSync(base, { recursive: true, force: true }) };
}

/** The environment of a user whose home is empty. */
export function environment(place: Place): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: place.home };
}

export function openStates(
  place: Place,
  roots: readonly string[] = [place.folder],
  env: NodeJS.ProcessEnv = environment(place),
): FolderStates {
  return openFolderStates({ roots, storage: place.storage, session: 'session', env, log: silentLog });
}

/** Runs git as the user would. */
export function git(place: Place, cwd: string, ...args: readonly string[]): string {
  const user = ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...user, ...args], {
    cwd,
    env: { ...environment(place), GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Writes files, by their path relative to a folder. */
export function write(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/**
 * A change in a line: `A path`, `D path`, `M path`, `R old path`, with the lines added and removed.
 */
export function inShort(changes: readonly FileChange[]): readonly string[] {
  return changes.map(({ path, oldPath, before, after, added, removed, isBinary }) => {
    const kind = oldPath === undefined ? (before ? (after ? 'M' : 'D') : 'A') : `R ${oldPath}`;
    return `${kind} ${path} ${isBinary ? 'binary' : `+${added} -${removed}`}`;
  });
}

/**
 * Makes a folder with states for each test.
 * @param take gets both before the test runs
 * @param now returns the states, which the test may have opened again
 */
export function useFolder(
  take: (made: { place: Place; states: FolderStates }) => void,
  now: () => FolderStates,
  files = {},
) {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
    write(place.folder, files);
    take({ place, states: openStates(place) });
  });
  afterEach(() => {
    now().dispose();
    place.dispose();
  });
  const store = (): string => join(place.storage, readdirSync(place.storage)[0]!);
  const objects = (): readonly string[] => {
    const args = ['cat-file', '--batch-all-objects', '--batch-check'];
    return execFileSync('git', args, { env: { ...process.env, GIT_DIR: store() }, encoding: 'utf8' }).split('\n');
  };
  return {
    store,
    /** Lists the objects that the store itself has. */
    objects,
    retention: () => openStateRetention({ storage: place.storage, env: environment(place), log: silentLog }),
    /** Makes a repository with one commit. */
    repository(files: Readonly<Record<string, string>>): void {
      git(place, place.folder, 'init', '-q');
      write(place.folder, files);
      git(place, place.folder, 'add', '-A');
      git(place, place.folder, 'commit', '-qm', 'first');
    },
    async changesAfter(edit: () => void): Promise<readonly string[]> {
      const before = await now().take();
      assert.deepEqual(before.gaps, []);
      edit();
      const after = await now().take();
      assert.deepEqual(after.gaps, []);
      return inShort(await now().changes(before, after));
    },
    /** Makes everything in the store look two days old. */
    age(): void {
      const old = new Date(Date.now() - 48 * 60 * 60 * 1000);
      for (const entry of readdirSync(store(), { withFileTypes: true, recursive: true }))
        utimesSync(join(entry.parentPath, entry.name), old, old);
      utimesSync(store(), old, old);
    },
    async turn(content: string, name: string): Promise<Snapshot> {
      write(place.folder, { 'a.txt': content });
      const snapshot = await now().take();
      await now().hold(snapshot, name);
      return snapshot;
    },
  };
}
