// A repository of a user with a worktree, and what can happen in it, for tests of its removal.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Git } from '../../../src/changes/git/gitProcess';
import { addWorktree, findUserGit, type Removal, removeWorktree } from '../../../src/changes/worktree/worktree';
import type { Worktree } from '../../../src/changes/worktree/worktreeEntry';
import { environment, git, makePlace, type Place, write } from '../../unit/changes/git/folders';

export class WorktreeWorld {
  readonly place: Place = makePlace();
  readonly folder: string = this.place.folder;
  readonly worktrees: string = join(this.place.storage, 'worktrees');
  userGit!: Git;
  /** The one that is removed. */
  worktree!: Worktree;
  #number = 0;

  async open(): Promise<void> {
    write(this.place.home, { '.gitconfig': '[user]\nname = A\nemail = a@example.org\n' });
    this.userGit = await findUserGit(environment(this.place));
    this.user('init', '-q', '-b', 'main');
    write(this.folder, {
      'a.txt': 'one\ntwo\n',
      'sub/b.txt': 'b\n',
      'crlf.txt': 'c\nd\n',
      '.gitignore': 'ignored\n*.env\ncache/\n',
      '.gitattributes': 'crlf.txt text=auto\n',
      'settings.txt': 'A=1\n',
    });
    this.user('add', '-A');
    this.user('commit', '-qm', 'first');
  }

  async add(): Promise<void> {
    this.worktree = await addWorktree(this.userGit, {
      folder: this.folder,
      storage: this.worktrees,
      name: `w${++this.#number}`,
    });
  }

  remove(agreed?: Parameters<typeof removeWorktree>[2]): Promise<Removal> {
    return removeWorktree(this.userGit, this.worktree, agreed);
  }

  /** The places of all worktrees that git knows. */
  listed(): readonly string[] {
    return this.user('worktree', 'list', '--porcelain')
      .split('\n')
      .flatMap((line) => /^worktree (.*)/.exec(line)?.[1] ?? []);
  }

  user(...args: readonly string[]): string {
    return git(this.place, this.folder, ...args);
  }

  git(...args: readonly string[]): string {
    return git(this.place, this.worktree.place, ...args);
  }

  write(files: Readonly<Record<string, string | Buffer>>): void {
    write(this.worktree.place, files);
  }

  path(name: string): string {
    return join(this.worktree.place, name);
  }

  text(): string {
    return `text ${++this.#number}\n`;
  }

  commit(name = 'sub/b.txt'): void {
    this.write({ [name]: this.text() });
    this.git('add', '-A');
    this.git('commit', '-qm', `commit ${this.#number}`);
  }

  /** Makes a branch if there is none that a commit would be on. */
  attach(): void {
    if (this.git('branch', '--show-current') === '') this.git('checkout', '-q', '-b', `again-${++this.#number}`);
  }

  dispose(): void {
    this.place.dispose();
  }
}

export const HARMLESS: Readonly<Record<string, (world: WorktreeWorld) => void>> = {
  'a commit on a branch': (world) => {
    world.attach();
    world.commit();
  },
  'a commit that was amended': (world) => {
    world.attach();
    world.commit();
    world.write({ 'a.txt': world.text() });
    world.git('commit', '-qa', '--amend', '-m', 'amended');
  },
  'a renamed branch': (world) => void world.git('branch', '-m', `renamed-${world.worktree.branch.slice(7)}`),
  'a commit on another branch': (world) => {
    world.git('checkout', '-q', '-b', `other-${world.worktree.branch.slice(7)}`);
    world.commit();
  },
  'a detached commit with a tag': (world) => {
    world.git('checkout', '-q', '--detach');
    world.commit();
    world.git('tag', `tag-${world.worktree.branch.slice(7)}`);
  },
  'an empty folder': (world) => mkdirSync(world.path('empty')),
  'a file that was touched': (world) => utimesSync(world.path('a.txt'), 1, 1),
  'an ignored file that the folder has too': (world) => {
    write(world.folder, { 'copied.env': 'SAME=1\n' });
    world.write({ 'copied.env': 'SAME=1\n' });
  },
};

/** What happens in a worktree so that something is lost, with the kind of it. */
export const LOSSY: Readonly<Record<string, readonly [kind: string, happen: (world: WorktreeWorld) => void]>> = {
  'a changed file': ['changes', (world) => world.write({ 'a.txt': world.text() })],
  'a file with other line endings': ['changes', (world) => world.write({ 'a.txt': 'one\r\ntwo\r\n' })],
  'line endings that git converts': ['changes', (world) => world.write({ 'crlf.txt': 'c\r\nd\r\n' })],
  'a new file': ['changes', (world) => world.write({ 'new/ä "x".txt': world.text() })],
  'a deleted file': ['changes', (world) => rmSync(world.path('sub/b.txt'), { force: true })],
  'a link': ['changes', (world) => symlinkSync(`/nowhere/${world.text().trim()}`, world.path('link'))],
  'a staged version whose file was put back': [
    'changes',
    (world) => {
      const before = readFileSync(world.path('a.txt'));
      world.write({ 'a.txt': world.text() });
      world.git('add', 'a.txt');
      world.write({ 'a.txt': before });
    },
  ],
  'a change of the same size and time': [
    'changes',
    (world) => {
      const { atime, mtime, size } = statSync(world.path('a.txt'));
      world.git('config', 'core.trustctime', 'false');
      world.write({ 'a.txt': 'x'.repeat(size) });
      utimesSync(world.path('a.txt'), atime, mtime);
    },
  ],
  'a change that git was told to skip': [
    'changes',
    (world) => {
      world.git('update-index', '--skip-worktree', 'settings.txt');
      world.write({ 'settings.txt': world.text() });
    },
  ],
  'a change that git was told to assume away': [
    'changes',
    (world) => {
      world.git('update-index', '--assume-unchanged', 'settings.txt');
      world.write({ 'settings.txt': world.text() });
    },
  ],
  'an ignored file': ['ignored', (world) => world.write({ ignored: world.text() })],
  'an ignored file that differs from the one in the folder': [
    'ignored',
    (world) => {
      write(world.folder, { 'copied.env': 'SAME=1\n' });
      world.write({ 'copied.env': world.text() });
    },
  ],
  'a file in an ignored folder': ['ignored', (world) => world.write({ 'cache/deep/x': world.text() })],
  'a repository in an ignored folder': [
    'ignored',
    (world) => {
      for (const root of [world.folder, world.worktree.place]) mkdirSync(join(root, 'cache/r'), { recursive: true });
      world.git('init', '-q', 'cache/r');
      git(world.place, world.path('cache/r'), 'commit', '-q', '--allow-empty', '-m', world.text());
    },
  ],
  'a repository in a folder with tracked files': [
    'repositories',
    (world) => {
      mkdirSync(world.path('sub'), { recursive: true });
      world.git('init', '-q', 'sub');
      git(world.place, world.path('sub'), 'commit', '-q', '--allow-empty', '-m', world.text());
    },
  ],
  'a repository in a new folder': ['repositories', (world) => void world.git('init', '-q', 'nested/deep')],
  'a damaged repository': ['repositories', (world) => world.write({ 'broken/.git/objects/x': world.text() })],
  'a repository that is committed as a link': [
    'repositories',
    (world) => {
      world.git('init', '-q', 'linked');
      git(world.place, world.path('linked'), 'commit', '-q', '--allow-empty', '-m', world.text());
      world.git('add', 'linked');
      world.git('commit', '-qm', 'link');
    },
  ],
  'a submodule that was taken out again': [
    'repositories',
    (world) => {
      const gitDir = world.git('rev-parse', '--absolute-git-dir').trim();
      git(world.place, world.folder, 'init', '-q', '--bare', join(gitDir, 'modules/s'));
    },
  ],
  'a commit on no branch': [
    'commits',
    (world) => {
      world.git('checkout', '-q', '--detach');
      world.commit();
    },
  ],
  'a commit that was left on no branch': [
    'commits',
    (world) => {
      world.git('checkout', '-q', '--detach');
      world.commit();
      world.git('checkout', '-q', world.worktree.branch);
    },
  ],
  'a commit that a ref of the worktree holds': [
    'commits',
    (world) => {
      const tree = world.git('rev-parse', 'HEAD^{tree}').trim();
      const id = world.git('commit-tree', tree, '-m', world.text()).trim();
      world.git('update-ref', 'refs/worktree/mine', id);
    },
  ],
  'an unborn branch': ['unborn', (world) => void world.git('checkout', '-q', '--orphan', 'fresh')],
  'an unborn branch without files': [
    'unborn',
    (world) => {
      world.git('checkout', '-q', '--orphan', 'fresh');
      world.git('rm', '-rfq', '.');
    },
  ],
  'a merge that waits': [
    'operation',
    (world) => {
      world.user('branch', '-f', 'beside', 'main');
      const tree = world.user('rev-parse', 'main^{tree}').trim();
      const id = world.user('commit-tree', tree, '-p', 'main', '-m', 'beside').trim();
      world.user('branch', '-f', 'beside', id);
      world.git('merge', '-q', '--no-ff', '--no-commit', 'beside');
    },
  ],
  'a lock': ['locked', (world) => void world.git('worktree', 'lock', '--reason', 'mine', '.')],
  'a missing .git': ['unknown', (world) => rmSync(world.path('.git'))],
  'a repository of its own': [
    'unknown',
    (world) => {
      rmSync(world.path('.git'));
      world.git('init', '-q');
    },
  ],
};

export interface Treasure {
  /** Bytes of files, by their path. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly commits: readonly string[];
  readonly blobs: readonly string[];
}

export function treasureOf(world: WorktreeWorld): Treasure {
  const { place } = world.worktree;
  const files = new Map<string, Buffer>();
  const lines = (...args: readonly string[]): string[] => {
    try {
      return world
        .git(...args)
        .split('\n')
        .filter(Boolean);
    } catch {
      return [];
    }
  };
  for (const path of filesBelow(place)) if (path !== '.git') files.set(path, bytesOf(join(place, path)));
  const blobs = lines('ls-files', '-s').flatMap((line) => /^100\d+ (\w+)/.exec(line)?.[1] ?? []);
  const own = lines('for-each-ref', '--format=%(objectname)', 'refs/worktree');
  return { files, blobs, commits: [...lines('rev-list', '--walk-reflogs', 'HEAD'), ...own] };
}

export function lostOf(world: WorktreeWorld, { files, commits, blobs }: Treasure): readonly string[] {
  const listed = world.user('rev-list', '--objects', '--all', '--reflog').split('\n');
  const objects = new Set(listed.map((line) => line.slice(0, 40)));
  const there = filesBelow(world.folder).filter((path) => !path.startsWith('.git/'));
  const texts = new Set(there.map((path) => bytesOf(join(world.folder, path)).toString('latin1')));
  const isKept = (bytes: Buffer): boolean =>
    texts.has(bytes.toString('latin1')) || objects.has(blobId(bytes)) || objects.has(blobId(unixLines(bytes)));
  return [
    ...[...files].filter(([, bytes]) => !isKept(bytes)).map(([path]) => path),
    ...[...commits, ...blobs].filter((id) => !objects.has(id)),
  ];
}

function filesBelow(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

function bytesOf(path: string): Buffer {
  const stats = lstatSync(path);
  assert.ok(!stats.isDirectory());
  return stats.isFile() ? readFileSync(path) : Buffer.from(readlinkSync(path));
}

function blobId(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function unixLines(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}
