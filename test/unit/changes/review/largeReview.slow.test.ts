// Large files and many files: the review yields to other work, and its stored state is bounded.
import { strict as assert } from 'node:assert';
import { hunks } from '../../../../src/changes/lines/hunks';
import type { FileChange, Snapshot } from '../../../../src/changes/model/fileChange';
import { SessionReview } from '../../../../src/changes/review/sessionReview';
import { MemoryStates } from '../../../support/changes/memoryStates';

const NO_STATE: Snapshot = { folders: [], gaps: [] };

/** Counts how often a computation yields to other work. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0;
  let isOn = true;
  const tick = (): void => {
    turns++;
    if (isOn) setImmediate(tick);
  };
  setImmediate(tick);
  const result = await work();
  isOn = false;
  return { result, turns };
}

function review(count: number) {
  const states = new MemoryStates(['/root']);
  const disk = new Map<string, Buffer>();
  let stored = 0;
  const files = {
    read: async (path: string) => {
      const content = disk.get(path);
      return content && { content, mode: '100644' as const, isDirty: false };
    },
    apply: async (edits: readonly { path: string; content?: Buffer }[]) => {
      for (const { path, content } of edits) if (content) disk.set(path, content);
      return [];
    },
  };
  const save = async (kept: unknown): Promise<void> => {
    stored = JSON.stringify(kept).length;
  };
  const session = new SessionReview({ states, files, save });
  const turn = async (): Promise<void> => {
    const changes: FileChange[] = [];
    for (let n = 0; n < count; n++) {
      const path = `a folder/of some depth/file ${n}.ts`;
      const [before, after] = [Buffer.from(`old ${n}\nsame\n`), Buffer.from(`new ${n}\nsame\n`)];
      disk.set(`/root/${path}`, after);
      const versions = {
        before: await states.write('', before, '100644'),
        after: await states.write('', after, '100644'),
      };
      changes.push({ root: '/root', path, ...versions, added: 1, removed: 1 });
    }
    await session.turnEnded({ turnId: 't', before: NO_STATE, after: NO_STATE, changes, yours: new Set() });
  };
  return { session, disk, turn, stored: () => stored };
}

describe('a large review', () => {
  it('yields to other work while finding 100,000 hunks in a file of 20 MB', async function () {
    this.timeout(120_000);
    const line = (n: number, isNew: boolean): string =>
      `${isNew && n % 4 === 0 ? 'NEW' : 'old'} line ${n} of about fifty bytes in all, more or less\n`;
    const numbers = Array.from({ length: 400_000 }, (_, n) => n);
    const [before, after] = [false, true].map((isNew) => Buffer.from(numbers.map((n) => line(n, isNew)).join('')));
    assert.ok(before!.length > 20 * 1024 * 1024);
    const { result, turns } = await turnsDuring(() => hunks(before!, after!));
    assert.equal(result?.length, 100_000);
    assert.ok(turns >= 20, `${turns} turns`);
  });

  it('undoes 2,000 files in one step, and stores a bounded state', async function () {
    this.timeout(60_000);
    const { session, disk, turn, stored } = review(2000);
    await turn();
    assert.equal(session.files.length, 2000);
    assert.ok(stored() < 2000 * 400, `${stored()} characters`);
    const { undone } = await session.undo({ kind: 'all' });
    assert.equal(undone.length, 2000);
    assert.deepEqual(session.files, []);
    assert.ok([...disk.values()].every((content) => content.toString().startsWith('old')));
    assert.equal(session.stateOf('/root', 'a folder/of some depth/file 7.ts'), 'undone');
  });

  it('stores at most 5,000 files, and reports that there are more', async function () {
    this.timeout(60_000);
    const { session, turn, stored } = review(6000);
    await turn();
    assert.equal(session.files.length, 5000);
    assert.equal(session.isIncomplete, true);
    assert.ok(stored() < 5000 * 400, `${stored()} characters`);
  });
});
