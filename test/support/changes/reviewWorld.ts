// A folder in which an agent and a user work at random, and a review of it whose promises are
// checked after each step.
import { strict as assert } from 'node:assert';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { LineHunk } from '../../../src/base/lineHunks';
import { compareLines, textLines } from '../../../src/changes/lines/hunks';
import { Slices } from '../../../src/changes/lines/slices';
import type { FolderStates, Snapshot } from '../../../src/changes/model/fileChange';
import type { ReviewFile, ReviewTarget, UndoResult } from '../../../src/changes/review/reviewFile';
import { SessionReview } from '../../../src/changes/review/sessionReview';
import { sameData } from '../sameData';
import { filesOf } from './copies';
import { NodeFiles } from './nodeFiles';
import { gitApply, linesOf, patchOf } from './patch';

const PATHS = ['a.txt', 'b', 'sub/c.md', 'sub/deep/d', 'e.bin', 'f'];
const ENDS = ['\n', '\r\n', '\n', '\n'];
const slices = new Slices();

export interface Doing {
  readonly kind: 'edit' | 'create' | 'delete' | 'rename' | 'mode' | 'binary' | 'link' | 'swap';
  readonly file: number;
  readonly at: number;
  readonly drop: number;
  readonly add: number;
}

export type Action =
  | { readonly do: 'turn'; readonly work: readonly Doing[] }
  | { readonly do: 'user'; readonly work: readonly Doing[] }
  | {
      readonly do: 'keep' | 'undo';
      readonly what: 'all' | 'file' | 'hunk' | 'turn';
      readonly n: number;
      readonly m: number;
    }
  | { readonly do: 'restart' };

const doing = (kinds: readonly Doing['kind'][]): fc.Arbitrary<Doing> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    file: fc.nat(20),
    at: fc.nat(40),
    drop: fc.nat(3),
    add: fc.nat(3),
  });

const EDITS: readonly Doing['kind'][] = ['edit', 'edit', 'edit', 'edit'];
const agentWork = doing([...EDITS, 'edit', 'create', 'delete', 'rename', 'mode', 'binary', 'link', 'swap']);
const userWork = doing([...EDITS, ...EDITS, 'create', 'delete', 'mode']);

export function actions(hasUser: boolean, maxLength: number): fc.Arbitrary<readonly Action[]> {
  const turn = fc.record({
    do: fc.constant('turn' as const),
    work: fc.array(agentWork, { minLength: 1, maxLength: 4 }),
  });
  const user = fc.record({
    do: fc.constant('user' as const),
    work: fc.array(userWork, { minLength: 1, maxLength: 2 }),
  });
  const review = fc.record({
    do: fc.constantFrom('keep' as const, 'undo' as const),
    what: fc.constantFrom(...(['all', 'file', 'hunk', 'hunk', 'hunk', 'turn'] as const)),
    n: fc.nat(20),
    m: fc.nat(20),
  });
  const restart = fc.constant({ do: 'restart' as const });
  const other: fc.Arbitrary<Action>[] = [turn, review, review, restart, ...(hasUser ? [user, user] : [])];
  return fc
    .tuple(turn, fc.array(fc.oneof(...other), { minLength: 1, maxLength }))
    .map(([first, rest]) => [first, ...rest]);
}

export class ReviewWorld {
  readonly #root: string;
  readonly #bench: string;
  readonly #states: FolderStates;
  readonly #files = new NodeFiles();
  readonly #turns: { turnId: string; before: Snapshot; after: Snapshot }[] = [];
  #review: SessionReview;
  #saved: unknown;
  #names = 0;
  #hasUser = false;
  readonly #userDeleted = new Set<string>();
  readonly #agentDeleted = new Set<string>();
  readonly #agreed = new Set<string>();

  constructor(root: string, bench: string, states: FolderStates) {
    this.#root = root;
    this.#bench = bench;
    this.#states = states;
    this.#review = this.#open();
  }

  async begin(): Promise<void> {
    for (const [index, path] of PATHS.slice(0, 4).entries()) {
      const lines = Array.from({ length: 12 }, (_, n) => (n % 5 === 4 ? '\n' : this.#line('o', n + index)));
      await this.#write(path, (index === 1 ? '\ufeff' : '') + lines.join('') + (index === 2 ? 'no end' : ''));
    }
    await this.#write('e.bin', Buffer.from([0, 1, 2, 3]));
    await this.#write('f', '');
  }

  async act(action: Action): Promise<void> {
    if (action.do === 'turn') {
      const before = await this.#states.take();
      await this.#work(action.work, 'a');
      const after = await this.#states.take();
      const turnId = `turn ${this.#turns.length}`;
      this.#turns.push({ turnId, before, after });
      const changes = await this.#states.changes(before, after);
      await this.#review.turnEnded({ turnId, before, after, changes, yours: new Set() });
    } else if (action.do === 'user') {
      this.#hasUser = true;
      await this.#work(action.work, 'u');
    } else if (action.do === 'restart') {
      const before = this.#review.files;
      this.#review = this.#open(this.#saved);
      sameData(this.#review.files, before);
    } else await this.#reviewOne(action);
    await this.#check();
  }

  async #reviewOne(action: Extract<Action, { what: string }>): Promise<void> {
    const removed = await this.#removed();
    await this.#keepOrUndo(action);
    if (action.do === 'undo') return;
    const left = await this.#removed();
    for (const line of removed) if (!left.has(line)) this.#agreed.add(line);
  }

  async #keepOrUndo(action: Extract<Action, { what: string }>): Promise<void> {
    const { files } = this.#review;
    const file = files[action.n % Math.max(1, files.length)];
    let target: ReviewTarget = { kind: 'all' };
    let expected: { path: string; content: Buffer | undefined } | undefined;
    if (action.what === 'file') {
      if (!file) return;
      target = { kind: 'file', id: file.id };
    } else if (action.what === 'hunk') {
      if (!file) return;
      const all = await this.#review.hunks(file.id);
      const hunk = all?.[action.m % Math.max(1, all.length)];
      if (!all || !hunk) return;
      target = { kind: 'hunk', id: file.id, hunk: hunk.id };
      if (action.do === 'undo' && file.base && file.left) {
        const content = await this.#content(file.path);
        const base = await this.#states.read(this.#root, file.base);
        const lines = [...linesOf(content ?? Buffer.alloc(0))];
        const { present } = hunk;
        const old = linesOf(base).slice(hunk.base.start, hunk.base.start + hunk.base.count);
        if (!hunk.isConflict) lines.splice(present.start, present.count, ...old);
        expected = { path: file.path, content: content && Buffer.from(lines.join(''), 'latin1') };
        if (!this.#hasUser) {
          const raw = {
            aStart: hunk.base.start,
            aCount: hunk.base.count,
            bStart: hunk.left.start,
            bCount: hunk.left.count,
          };
          const patch = patchOf(base, content!, [raw], 'take');
          assert.deepEqual(expected.content, gitApply(this.#bench, content!, patch, '-R'));
        }
      } else if (action.do === 'keep' && file.base && file.left) {
        await this.#keepHunk(file, hunk.id, all);
        return;
      }
    } else if (action.what === 'turn') {
      const turn = this.#turns[action.n % this.#turns.length]!;
      target = { kind: 'turn', ...turn };
    }
    const before = await this.#disk();
    if (action.do === 'keep') {
      await this.#review.keep(target);
      assert.deepEqual(await this.#disk(), before);
      if (action.what === 'all') assert.deepEqual(this.#review.files, []);
      return;
    }
    const result = await this.#review.undo(target);
    const after = await this.#disk();
    this.#checkUsers(before, after, await this.#kept());
    assert.deepEqual(result.failed, []);
    // At a place where the lines would run into each other, the hunk is not undone.
    if (expected && result.conflicts.length === 0)
      assert.deepEqual(await this.#content(expected.path), expected.content);
    if (result.conflicts.length > 0 && action.what === 'hunk') assert.deepEqual(after, before);
    if (action.what === 'all' && !this.#hasUser) await this.#checkAll(files, before, after, result);
    if (action.m % 3 === 0) await this.#redo(files, before);
  }

  /** Redo takes exactly the undo back, also after a restart. */
  async #redo(files: readonly ReviewFile[], before: ReadonlyMap<string, string>): Promise<void> {
    this.#review = this.#open(this.#saved);
    const { conflicts, failed } = await this.#review.redo('review');
    assert.deepEqual([conflicts, failed], [[], []]);
    assert.deepEqual(await this.#disk(), before);
    if (!this.#hasUser) sameData(this.#review.files.map(withoutState), files.map(withoutState));
    assert.deepEqual((await this.#review.redo('review')).undone, []);
  }

  async #keepHunk(
    file: ReviewFile,
    id: string,
    all: NonNullable<Awaited<ReturnType<SessionReview['hunks']>>>,
  ): Promise<void> {
    const before = await this.#disk();
    const [base, left] = [
      await this.#states.read(this.#root, file.base!),
      await this.#states.read(this.#root, file.left!),
    ];
    const raw = all
      .filter((one) => one.id === id)
      .map(
        (one): LineHunk => ({
          aStart: one.base.start,
          aCount: one.base.count,
          bStart: one.left.start,
          bCount: one.left.count,
        }),
      );
    await this.#review.keep({ kind: 'hunk', id: file.id, hunk: id });
    assert.deepEqual(await this.#disk(), before);
    const kept = this.#review.files.find((one) => one.id === file.id);
    const now = kept?.base ? await this.#states.read(this.#root, kept.base) : left;
    assert.deepEqual(now, gitApply(this.#bench, base, patchOf(base, left, raw, 'make')));
    const rest = (await this.#review.hunks(file.id)) ?? [];
    if (kept)
      assert.deepEqual(
        rest.map((one) => one.id),
        all.filter((one) => one.id !== id).map((one) => one.id),
      );
  }

  async #checkAll(
    files: readonly ReviewFile[],
    before: ReadonlyMap<string, string>,
    after: ReadonlyMap<string, string>,
    { conflicts }: UndoResult,
  ): Promise<void> {
    if (conflicts.length > 0) {
      assert.deepEqual([...new Set(conflicts.map(({ why }) => why))], ['occupied']);
      return;
    }
    const expected = new Map(before);
    for (const { path } of files) expected.delete(path);
    for (const { path, oldPath, base } of files) {
      if (!base) continue;
      const content = await this.#states.read(this.#root, base);
      expected.set(oldPath ?? path, `${base.mode} ${content.toString('latin1')}`);
    }
    assert.deepEqual(after, new Map([...expected].sort()));
    assert.deepEqual(this.#review.files, []);
  }

  async #removed(): Promise<ReadonlySet<string>> {
    const removed = new Set<string>();
    for (const { base, left } of this.#review.files) {
      const read = async (version: typeof base): Promise<ReadonlySet<string>> =>
        linesIn(version ? (await this.#states.read(this.#root, version)).toString('latin1') : '');
      const after = await read(left);
      for (const line of await read(base)) if (!after.has(line)) removed.add(line);
    }
    return removed;
  }

  async #kept(): Promise<ReadonlyMap<string, string>> {
    const kept = new Map<string, string>();
    for (const { path, base } of this.#review.files)
      if (base) kept.set(path, `${base.mode} ${(await this.#states.read(this.#root, base)).toString('latin1')}`);
    return kept;
  }

  /** Checks that no line of the user is lost, and that none that the user deleted is back. */
  #checkUsers(
    before: ReadonlyMap<string, string>,
    after: ReadonlyMap<string, string>,
    kept: ReadonlyMap<string, string>,
  ): void {
    const [had, has, comesBack] = [allLines(before), allLines(after), allLines(kept)];
    for (const line of had)
      if (line.startsWith('u'))
        assert.ok(has.has(line) || comesBack.has(line) || this.#agreed.has(line), `lost ${line}`);
    for (const line of has) {
      if (this.#userDeleted.has(line) && !this.#agentDeleted.has(line)) assert.ok(had.has(line), `back again: ${line}`);
    }
  }

  async #check(): Promise<void> {
    const disk = await this.#disk();
    for (const { path, oldPath, base, left, added, removed, isBinary } of this.#review.files) {
      assert.ok(base || left);
      assert.ok(oldPath !== undefined || base?.oid !== left?.oid || base?.mode !== left?.mode, path);
      const found = await this.#counted(base, left);
      if (!isBinary) assert.deepEqual([added, removed], found ?? 'not text', path);
      if (this.#hasUser) continue;
      const content = left && (await this.#states.read(this.#root, left));
      assert.equal(disk.get(path), left && `${left.mode} ${content!.toString('latin1')}`, path);
    }
  }

  async #counted(base: ReviewFile['base'], left: ReviewFile['left']): Promise<readonly number[] | undefined> {
    const read = async (version: ReviewFile['base']) =>
      textLines(version ? await this.#states.read(this.#root, version) : Buffer.alloc(0), slices);
    const [a, b] = [await read(base), await read(left)];
    if (!a || !b) return undefined;
    const all = await compareLines(a, b, slices);
    const sum = (of: (hunk: LineHunk) => number): number => all.reduce((total, hunk) => total + of(hunk), 0);
    return [sum(({ bCount }) => bCount), sum(({ aCount }) => aCount)];
  }

  #open(kept?: unknown): SessionReview {
    return new SessionReview({
      states: this.#states,
      files: this.#files,
      kept,
      save: async (json) => {
        this.#saved = JSON.parse(JSON.stringify(json));
      },
    });
  }

  async #work(work: readonly Doing[], who: 'a' | 'u'): Promise<void> {
    const before = await this.#disk();
    for (const one of work) await this.#do(one, who);
    const after = await this.#disk();
    const all = allLines(after);
    for (const [path, file] of before) {
      const has = linesIn(after.get(path) ?? '');
      for (const line of linesIn(file)) {
        // The agent may also have moved it.
        if (who === 'a' && !has.has(line)) this.#agentDeleted.add(line);
        if (who === 'u' && !all.has(line)) this.#userDeleted.add(line);
      }
    }
  }

  async #do({ kind, file, at, drop, add }: Doing, who: 'a' | 'u'): Promise<void> {
    const there = [...(await this.#disk()).keys()];
    const path = kind === 'create' || there.length === 0 ? PATHS[file % PATHS.length]! : there[file % there.length]!;
    const content = await this.#content(path);
    const stat = await this.#files.read(join(this.#root, path));
    const fresh = Array.from({ length: add }, (_, n) => this.#line(who, n + at));
    switch (kind) {
      case 'edit': {
        if (!content || stat?.mode === '120000' || content.includes(0)) return;
        const lines = [...linesOf(content)];
        lines.splice(at % (lines.length + 1), drop, ...fresh);
        return this.#write(path, Buffer.from(lines.join(''), 'latin1'));
      }
      case 'create':
        return content ? undefined : this.#write(path, fresh.join(''));
      case 'delete':
        return content && rm(join(this.#root, path));
      case 'mode':
        return stat && stat.mode !== '120000' ? chmod(join(this.#root, path), at % 2 === 0 ? 0o755 : 0o644) : undefined;
      case 'binary':
        return this.#write(path, Buffer.from([0, at, file, drop]));
      case 'link':
        if (content) await rm(join(this.#root, path));
        return symlink(`to ${at}`, join(this.#root, path)).catch(() => undefined);
      case 'rename':
      case 'swap': {
        const to = kind === 'rename' ? `new-${at % 3}` : PATHS[at % PATHS.length]!;
        if (!content || (kind === 'rename' && there.includes(to))) return;
        await mkdir(dirname(join(this.#root, to)), { recursive: true });
        return rename(join(this.#root, path), join(this.#root, to));
      }
    }
  }

  #line(who: string, n: number): string {
    return `${who}${this.#names++}${ENDS[n % ENDS.length]}`;
  }

  async #write(path: string, content: string | Buffer): Promise<void> {
    await mkdir(dirname(join(this.#root, path)), { recursive: true });
    const found = await this.#files.read(join(this.#root, path));
    if (found?.mode === '120000') await rm(join(this.#root, path));
    await writeFile(join(this.#root, path), content);
  }

  async #content(path: string): Promise<Buffer | undefined> {
    return (await this.#files.read(join(this.#root, path)))?.content;
  }

  async #disk(): Promise<ReadonlyMap<string, string>> {
    return new Map([...(await filesOf(this.#root))].sort());
  }
}

function withoutState({ state: _state, ...file }: ReviewFile): Omit<ReviewFile, 'state'> {
  return file;
}

function allLines(disk: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...disk.values()].flatMap((file) => [...linesIn(file)]));
}

function linesIn(file: string): ReadonlySet<string> {
  return new Set(file.match(/[oau]\d+(?=\r?\n|$)/g));
}
