// Comments stored in the workspace state: bounded, validated, and placed again by their lines.
import { strict as assert } from 'node:assert';
import { findLines, type KeptThread, keepComments, readComments } from '../../../../src/workbench/chat/keptComments';

describe('stored comments', () => {
  let stored: unknown;
  const memento = {
    get: (): unknown => stored,
    update: async (_key: string, value: unknown): Promise<void> => {
      stored = value;
    },
  };
  const thread = (more: Partial<KeptThread> = {}): KeptThread => ({
    session: 'a',
    uri: 'file:///w/a.ts',
    first: 1,
    last: 2,
    lines: ['one', 'two'],
    comments: ['Why?'],
    ...more,
  });
  const kept = (threads: readonly KeptThread[]): readonly KeptThread[] => {
    keepComments(memento, threads);
    return readComments(memento as Parameters<typeof readComments>[0]);
  };

  it('are read as written, and take no space once there are none', () => {
    const threads = [thread(), thread({ session: 'b' })];
    assert.deepEqual(kept(threads), threads);
    assert.deepEqual(kept([]), []);
    assert.equal(stored, undefined);
  });

  it('are limited to the newest two hundred threads', () => {
    const threads = Array.from({ length: 250 }, (_, index) => thread({ first: index, last: index }));
    assert.deepEqual(kept(threads), threads.slice(50));
  });

  it('are limited to the newest that fit, skipping one that does not', () => {
    const long = (size: number, session: string): KeptThread => thread({ session, comments: ['x'.repeat(size)] });
    const threads = [long(100_000, 'a'), long(100_000, 'b'), long(1_000_000, 'c'), long(100_000, 'd')];
    assert.deepEqual(
      kept(threads).map(({ session }) => session),
      ['b', 'd'],
    );
  });

  it('are empty if something else is stored', () => {
    for (const wrong of [null, 7, 'x', {}, [thread(), { session: 1 }], [thread({ first: -1 })]]) {
      stored = wrong;
      assert.deepEqual(readComments(memento as Parameters<typeof readComments>[0]), [], JSON.stringify(wrong));
    }
    stored = [thread({ first: 5, last: 2 }), thread()];
    assert.deepEqual(readComments(memento as Parameters<typeof readComments>[0]), [thread()]);
  });
});

describe('lines searched in a changed text', () => {
  const find = (text: string, lines: readonly string[], first: number): number | undefined => {
    const all = text.split(' ');
    return findLines((line) => all[line], lines, first);
  };

  it('are found at their old place, otherwise at the nearest', () => {
    assert.equal(find('a b c', ['b', 'c'], 1), 1);
    assert.equal(find('x x a b c', ['b', 'c'], 1), 3);
    assert.equal(find('b c x x x x b c', ['b', 'c'], 4), 6);
    assert.equal(find('b c', ['b', 'c'], 900), 0);
  });

  it('are not found if one of them has changed, or their text is unknown', () => {
    assert.equal(find('a b d', ['b', 'c'], 1), undefined);
    assert.equal(find('a b', ['b', 'c'], 1), undefined);
    assert.equal(find('a b', [], 1), undefined);
  });
});
