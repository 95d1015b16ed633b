// A folder in which an agent and a user work at random, before undos and restores: afterwards the
// user's text must be there, and text that only the agent wrote must not.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileChange, FolderStates, Snapshot } from '../../../src/changes/model/fileChange';
import { AgentEdits } from '../../../src/changes/restore/agentEdits';
import { Restore, type RestoreResult } from '../../../src/changes/restore/restore';
import type { UndoResult } from '../../../src/changes/review/reviewFile';
import { SessionReview } from '../../../src/changes/review/sessionReview';
import { filesOf } from './copies';
import { NodeFiles } from './nodeFiles';

const TICK_MS = 12;
const VISIBLE = [
  'a.txt',
  'b.txt',
  'crlf.txt',
  'latin.txt',
  'sub/c.txt',
  'sub/deep/d.txt',
  'lib/l.txt',
  'bin.dat',
  'empty',
];
const IGNORED = ['.env', 'private/p.txt', 'private/q/r.txt', 'x.log', 'sub/y.log', 'lib/key'];
const FRESH = ['n1.txt', 'n2.txt', 'sub/n3.txt', 'new/n4.txt', 'lib/n5.txt'];
const RULES = ['.env', 'private/', '*.log'];

/** All files but those of git, by path: their modes and bytes. */
type Disk = ReadonlyMap<string, string>;

interface Turn {
  readonly turnId: string;
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly changes: readonly FileChange[];
  readonly unnamed: ReadonlySet<string>;
  readonly yours: ReadonlySet<string>;
  readonly disk: Disk;
  readonly pure: ReadonlySet<string>;
}

export interface OwnerCounts {
  kept: number;
  undone: number;
  left: Map<string, number>;
}

export class OwnerWorld {
  readonly counts: OwnerCounts = { kept: 0, undone: 0, left: new Map() };
  readonly #root: string;
  readonly #log: string;
  readonly #states: FolderStates;
  readonly #hasGit: boolean;
  readonly #files = new NodeFiles();
  #random: (below: number) => number = () => 0;
  #names = 0;
  #turns: Turn[] = [];
  #review!: SessionReview;
  /** Paths that the user changed since the first turn. */
  #touched = new Set<string>();
  #steps: string[] = [];

  /** @param hasGit states are git's: else only named files are known */
  constructor(root: string, log: string, states: FolderStates, hasGit: boolean) {
    this.#root = root;
    this.#log = log;
    this.#states = states;
    this.#hasGit = hasGit;
  }

  /** Plays one history. @throws AssertionError with the history */
  async play(seed: number): Promise<void> {
    let state = (seed * 7919) >>> 0;
    this.#random = (below) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    this.#steps = [];
    try {
      await this.#begin();
      for (let turn = 1 + this.#random(2); turn >= 0; turn--) {
        if (this.#random(2) === 0) await this.#userWorks(this.#touched);
        if (turn > 0) await this.#turn();
      }
      await this.#takeBack();
    } catch (error) {
      if (error instanceof Error) error.message = `seed ${seed}: ${error.message}\n${this.#steps.join('\n')}`;
      throw error;
    }
  }

  async #begin(): Promise<void> {
    for (const name of await readdir(this.#root)) await rm(join(this.#root, name), { recursive: true });
    this.#turns = [];
    this.#touched = new Set();
    this.#files.dirty.clear();
    this.#review = new SessionReview({ states: this.#states, files: this.#files, save: async () => {} });
    if (this.#hasGit) {
      this.#git('init', '-q');
      await mkdir(join(this.#root, 'lib'));
      this.#git('init', '-q', 'lib');
      await this.#write('lib/.git/info/exclude', 'key\n');
    }
    for (const path of [...VISIBLE, ...IGNORED]) await this.#write(path, this.#fresh('o', path));
    await this.#write('.gitignore', `${RULES.join('\n')}\n`);
    if (this.#hasGit && this.#random(2) === 0) {
      this.#git('add', '.gitignore', 'a.txt', 'b.txt', 'sub');
      this.#git('commit', '-qm', 'first');
    }
    if (this.#random(3) === 0) await this.#states.take();
  }

  async #turn(): Promise<void> {
    const before = await this.#states.take();
    const disk = await filesOf(this.#root);
    await sleep(TICK_MS);
    const named = new Set<string>();
    const silent = new Set<string>();
    const moved = new Set<string>();
    for (let work = 1 + this.#random(4); work > 0; work--) await this.#agentWorks(named, silent, moved);
    const yours = new Set<string>();
    const others = new Set<string>();
    if (this.#random(3) === 0) await this.#userWorks(this.#random(2) === 0 ? yours : others, named);
    for (const path of [...yours, ...others]) this.#touched.add(path);
    const after = await this.#states.take();
    const changes = await this.#states.changes(before, after);
    const absolute = (paths: Iterable<string>): ReadonlySet<string> =>
      new Set(Array.from(paths, (path) => this.#at(path)));
    const pathsIn = (change: FileChange): string[] => [change.path, change.oldPath ?? change.path];
    const unnamed = absolute(changes.flatMap(pathsIn).filter((path) => !isBelowOne(path, named)));
    const pure = new Set(
      [...named].filter(
        (path) => !silent.has(path) && !isBelowOne(path, moved) && !yours.has(path) && !others.has(path),
      ),
    );
    const turnId = `turn ${this.#turns.length}`;
    const turn = { turnId, before, after, changes, unnamed, yours: absolute(yours), disk, pure };
    this.#turns.push(turn);
    await this.#review.turnEnded(turn);
  }

  async #agentWorks(named: Set<string>, silent: Set<string>, moved: Set<string>): Promise<void> {
    const disk = await filesOf(this.#root);
    const isSilent = this.#random(5) === 0;
    const note = (...paths: readonly string[]): void => {
      for (const path of paths) (isSilent ? silent : named).add(path);
      if (!isSilent) for (const path of paths) this.#states.name(this.#at(path));
    };
    const any = this.#pick([...disk.keys()]);
    const kind = this.#random(this.#hasGit ? 16 : 8);
    const say = (what: string): void => void this.#steps.push(`agent${isSilent ? ' silently' : ''}: ${what}`);
    const begin = async (what: string, ...paths: readonly string[]): Promise<void> => {
      note(...paths);
      // Without git, a file is known from the state after it was named.
      if (!this.#hasGit) await this.#states.take();
      say(what);
    };
    switch (kind) {
      case 0:
      case 1:
      case 2: {
        const path = this.#pick(VISIBLE.filter((one) => disk.has(one)));
        if (path === undefined) return;
        await begin(`edits ${path}`, path);
        return this.#edit(path, 'a');
      }
      case 3:
      case 4: {
        const path = this.#pick(FRESH)!;
        if (disk.has(path)) return;
        await begin(`makes ${path}`, path);
        return this.#write(path, this.#fresh('a', path));
      }
      case 5: {
        if (any === undefined || !VISIBLE.includes(any)) return;
        await begin(`deletes ${any}`, any);
        return rm(this.#at(any));
      }
      case 6: {
        const path = this.#pick(FRESH)!;
        if (disk.has(path)) return;
        await begin(`links ${path}`, path);
        await mkdir(dirname(this.#at(path)), { recursive: true });
        return symlink(`to-${this.#names++}`, this.#at(path));
      }
      case 7: {
        if (any === undefined || !VISIBLE.includes(any) || disk.get(any)?.startsWith('120000')) return;
        await begin(`changes the mode of ${any}`, any);
        return chmod(this.#at(any), this.#random(2) === 0 ? 0o755 : 0o644);
      }
      case 8:
      case 9: {
        // Without git, nothing is known of a file that moves.
        const to = this.#pick(FRESH)!;
        if (any === undefined || disk.has(to)) return;
        note(any, to);
        moved.add(any).add(to);
        say(`moves ${any} to ${to}`);
        await mkdir(dirname(this.#at(to)), { recursive: true });
        return rename(this.#at(any), this.#at(to));
      }
      case 10: {
        if (![...disk.keys()].some((path) => path.startsWith('private/'))) return;
        if ([...disk.keys()].some((path) => path.startsWith('public/'))) return;
        note('private', 'public');
        moved.add('private').add('public');
        say('moves private to public');
        return rename(this.#at('private'), this.#at('public'));
      }
      case 11:
      case 12: {
        const rules = RULES.filter(() => this.#random(2) === 0);
        if (this.#random(4) === 0) rules.push('n1.txt', 'a.txt');
        note('.gitignore');
        say(`ignores ${rules.join(' ')}`);
        return this.#write('.gitignore', `${rules.join('\n')}\n`);
      }
      case 13: {
        const path = this.#pick(IGNORED.filter((one) => disk.has(one)));
        if (path === undefined) return;
        note(path);
        moved.add(path);
        say(`edits ${path}`);
        return this.#edit(path, 'a');
      }
      case 14: {
        moved.add('lib');
        const isThere = await lstat(this.#at('lib/.git')).then(
          () => true,
          () => false,
        );
        say(isThere ? 'removes lib/.git' : 'makes lib a repository');
        if (isThere) return rm(this.#at('lib/.git'), { recursive: true });
        await mkdir(this.#at('lib'), { recursive: true });
        return this.#git('init', '-q', 'lib');
      }
      default: {
        say('makes the repository again');
        await rm(this.#at('.git'), { recursive: true, force: true });
        if (this.#random(2) === 0) this.#git('init', '-q');
      }
    }
  }

  async #userWorks(touched: Set<string>, except: ReadonlySet<string> = new Set()): Promise<void> {
    for (let work = 1 + this.#random(3); work > 0; work--) {
      const disk = await filesOf(this.#root);
      const free = [...disk.keys()].filter((path) => !isBelowOne(path, except) && path !== '.gitignore');
      const path = this.#random(3) === 0 ? this.#pick(FRESH) : this.#pick(free);
      if (path === undefined || isBelowOne(path, except)) continue;
      touched.add(path);
      if (!disk.has(path)) {
        this.#steps.push(`user makes ${path}`);
        await this.#write(path, this.#fresh('u', path));
      } else if (this.#random(5) === 0) {
        this.#steps.push(`user deletes ${path}`);
        await rm(this.#at(path));
      } else if (this.#random(6) === 0) {
        const to = this.#pick(FRESH)!;
        if (disk.has(to) || isBelowOne(to, except)) continue;
        this.#steps.push(`user moves ${path} to ${to}`);
        touched.add(to);
        await mkdir(dirname(this.#at(to)), { recursive: true });
        await rename(this.#at(path), this.#at(to));
      } else {
        this.#steps.push(`user edits ${path}`);
        await this.#edit(path, 'u');
      }
    }
    await sleep(TICK_MS);
  }

  async #takeBack(): Promise<void> {
    const first = this.#random(this.#turns.length);
    const turn = this.#turns[first]!;
    const before = await filesOf(this.#root);
    // Documents with unsaved text.
    if (this.#random(4) === 0)
      for (const path of this.#sample([...before.keys()])) this.#files.dirty.add(this.#at(path));
    const dirty = new Set(this.#files.dirty);
    // Without git, no files are restored.
    const how = this.#random(this.#hasGit ? 3 : 2);
    if (how === 0) {
      this.#steps.push('undo all');
      const comesBack = await this.#keptTokens();
      const result = await this.#review.undo({ kind: 'all' });
      this.#checkUndo(result, before, await filesOf(this.#root), comesBack, this.#turns, this.#turns[0]!);
      return;
    }
    if (how === 1) {
      this.#steps.push(`undo ${turn.turnId}`);
      const { turnId, unnamed } = turn;
      const target = { kind: 'turn', turnId, before: turn.before, after: turn.after, unnamed } as const;
      const comesBack = await this.#keptTokens();
      const result = await this.#review.undo(target);
      const isLast = first === this.#turns.length - 1;
      this.#checkUndo(result, before, await filesOf(this.#root), comesBack, isLast ? [turn] : [], turn);
      return;
    }
    this.#steps.push(`restore to before ${turn.turnId}`);
    const edits = new AgentEdits();
    for (const { changes, yours, unnamed } of this.#turns.slice(first)) edits.add(changes, yours, unnamed);
    edits.addReview(this.#review.files);
    const { result, left } = await this.#restore(turn.before, edits);
    const after = await filesOf(this.#root);
    const byUser = new Set([...this.#touched]);
    this.#checkTokens(before, after, new Set());
    this.#checkUntouched(before, after, this.#turns.slice(first));
    this.#checkPure(after, this.#turns.slice(first), turn, new Set([...left, ...byUser, ...this.#relative(dirty)]));
    for (const path of this.#relative(dirty))
      assert.equal(after.get(path), before.get(path), `${path} has unsaved text`);
    this.#steps.push('undo restore');
    this.#files.dirty.clear();
    const revived = [...tokensOf(after)].filter((token) => !tokensOf(before).has(token));
    if (this.#random(2) === 0) await this.#userWorks(new Set());
    const between = await filesOf(this.#root);
    await this.#restore(result.now, new AgentEdits().add(result.done));
    const end = await filesOf(this.#root);
    this.#checkTokens(between, end, new Set(revived));
    if (!sameDisk(between, after)) return;
    // A restored file that is ignored again at its new place is not seen there.
    for (const path of this.#visibleIn(result))
      if (before.has(path)) assert.equal(end.get(path), before.get(path), `${path} is as before the restore`);
  }

  async #restore(target: Snapshot, edits: AgentEdits): Promise<{ result: RestoreResult; left: readonly string[] }> {
    const isProtected = async (): Promise<boolean> => false;
    const restore = new Restore({ states: this.#states, files: this.#files, log: this.#log, isProtected });
    const plan = await restore.plan(target, await this.#states.take(), edits);
    const result = await restore.run(plan, new Set(), new AbortController().signal, () => {});
    const left = [...plan.skipped, ...result.failed].flatMap(({ change, why }) => {
      this.#count(why);
      return [change.path, change.oldPath ?? change.path];
    });
    return { result, left };
  }

  #checkUndo(
    result: UndoResult,
    before: Disk,
    after: Disk,
    comesBack: ReadonlySet<string>,
    turns: readonly Turn[],
    from: Turn,
  ): void {
    const problems = [...result.conflicts, ...result.failed];
    for (const { why } of problems) this.#count(why);
    this.#checkTokens(before, after, comesBack);
    this.#checkUntouched(before, after, this.#turns);
    this.#checkPure(after, turns, from, new Set([...this.#touched, ...this.#relative(this.#files.dirty)]));
  }

  #checkTokens(before: Disk, after: Disk, except: ReadonlySet<string>): void {
    const has = tokensOf(after);
    for (const token of tokensOf(before)) {
      if (token.startsWith('a')) continue;
      assert.ok(has.has(token) || except.has(token), `lost ${token}`);
      this.counts.kept++;
    }
  }

  /** What no turn changed is byte for byte as it was. */
  #checkUntouched(before: Disk, after: Disk, turns: readonly Turn[]): void {
    const changed = new Set(
      turns.flatMap(({ changes }) => changes.flatMap(({ path, oldPath }) => [path, oldPath ?? path])),
    );
    for (const [path, file] of before)
      if (!changed.has(path)) assert.equal(after.get(path), file, `${path} is untouched`);
    for (const path of after.keys()) assert.ok(before.has(path) || changed.has(path), `${path} was not there`);
  }

  #checkPure(after: Disk, turns: readonly Turn[], from: Turn, except: ReadonlySet<string>): void {
    const changed = new Map(turns.flatMap(({ changes }) => changes.map((change) => [change.path, change] as const)));
    for (const [path, change] of changed) {
      if (except.has(path) && (this.#touched.has(path) || this.#files.dirty.size > 0)) continue;
      const isPure = turns.every(
        (turn) => turn.pure.has(path) || !turn.changes.some((one) => one.path === path || one.oldPath === path),
      );
      // A file that was ignored when the agent wrote it is not known.
      const wasKnown =
        from.disk.has(path) ===
        (turns.find((turn) => turn.changes.some((one) => one.path === path))?.changes.find((one) => one.path === path)
          ?.before !==
          undefined);
      if (!isPure || change.oldPath !== undefined || !wasKnown || IGNORED.includes(path)) continue;
      assert.equal(after.get(path), from.disk.get(path), `${path} is the agent's`);
      this.counts.undone++;
    }
  }

  async #keptTokens(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const { root, base } of this.#review.files)
      if (base && !base.isHashOnly)
        for (const token of tokensIn((await this.#states.read(root, base)).toString('latin1'))) found.add(token);
    return found;
  }

  #visibleIn({ done }: RestoreResult): readonly string[] {
    return done.flatMap(({ path, oldPath }) => [path, oldPath ?? path]);
  }

  #count(why: string): void {
    this.counts.left.set(why, (this.counts.left.get(why) ?? 0) + 1);
  }

  #relative(paths: Iterable<string>): readonly string[] {
    return Array.from(paths, (path) => path.slice(this.#root.length + 1));
  }

  #sample(paths: readonly string[]): readonly string[] {
    return paths.filter(() => this.#random(4) === 0);
  }

  #pick<T>(all: readonly T[]): T | undefined {
    return all[this.#random(Math.max(1, all.length))];
  }

  #at(path: string): string {
    return join(this.#root, path);
  }

  #git(...args: string[]): void {
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', '-c', 'gc.auto=0', ...args], {
      cwd: this.#root,
      stdio: 'ignore',
    });
  }

  #token(who: string): string {
    return `${who}${this.#names++}.`;
  }

  #fresh(who: string, path: string): string {
    if (path === 'empty') return '';
    const end = path.startsWith('crlf') ? '\r\n' : '\n';
    const lines = Array.from({ length: 6 }, () => `${path.startsWith('latin') ? '\xe9t\xe9 ' : ''}${this.#token(who)}`);
    return `${path === 'bin.dat' ? '\0\xff' : ''}${lines.join(end)}${path === 'b.txt' ? '' : end}`;
  }

  async #edit(path: string, who: string): Promise<void> {
    const found = await lstat(this.#at(path));
    if (!found.isFile()) return;
    const text = await readFile(this.#at(path), 'latin1');
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const lines = text.split(end);
    // The agent takes lines away; the user only adds some, so that all of theirs can be counted.
    lines.splice(this.#random(lines.length), who === 'a' ? this.#random(2) : 0, this.#token(who));
    await writeFile(this.#at(path), Buffer.from(lines.join(end), 'latin1'));
  }

  async #write(path: string, text: string): Promise<void> {
    await mkdir(dirname(this.#at(path)), { recursive: true });
    await writeFile(this.#at(path), Buffer.from(text, 'latin1'));
  }
}

function sameDisk(one: Disk, two: Disk): boolean {
  return one.size === two.size && [...one].every(([path, file]) => two.get(path) === file);
}

function isBelowOne(path: string, places: ReadonlySet<string>): boolean {
  return [...places].some((place) => path === place || path.startsWith(`${place}/`));
}

function tokensOf(disk: Disk): ReadonlySet<string> {
  return new Set([...disk.values()].flatMap((file) => [...tokensIn(file)]));
}

function tokensIn(file: string): readonly string[] {
  return file.match(/[oau]\d+\./g) ?? [];
}
