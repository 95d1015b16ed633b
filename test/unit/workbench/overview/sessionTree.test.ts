// The rows of the list of sessions: groups, order, pages and updates.
import { strict as assert } from 'node:assert';
import type { SessionStatus } from '../../../../src/client/view/sessionStatus';
import {
  type MarkedQuery,
  type MarkedSession,
  NO_MARKS,
  type SessionMarks,
} from '../../../../src/store/sessions/sessionMarks';
import type { LiveSession } from '../../../../src/workbench/overview/liveSessions';
import { type Grouping, type ListNode, SessionTree } from '../../../../src/workbench/overview/sessionTree';

describe('the session list', () => {
  class World {
    rows: LiveSession[] = [];
    stored: MarkedSession[] = [];
    others: { session: MarkedSession; status: SessionStatus }[] = [];
    marks = new Map<string, SessionMarks>();
    read = 0;

    add(key: string, status: SessionStatus, more: Partial<LiveSession> = {}): void {
      const base = { unread: false, agentId: 'one', agentName: 'One', cwd: '/work', at: 1, files: 0 };
      this.rows = [...this.rows.filter((one) => one.key !== key), { key, status, title: key, ...base, ...more }];
    }

    keep(key: string, more: Partial<MarkedSession> = {}): MarkedSession {
      const times = { createdAt: 1, updatedAt: this.stored.length + 1, lastSeq: 1, bytes: 1 };
      const place = { agentId: 'one', cwd: '/work', roots: ['/work'], protocol: 1 as const };
      const session = { key, ...place, ...times, title: key, marks: NO_MARKS, ...more };
      this.stored.unshift(session);
      return session;
    }

    tree(grouping: Grouping = 'state'): SessionTree {
      const matching = ({ archived, pinned, agentId, cwd, text }: Omit<MarkedQuery, 'limit'>): MarkedSession[] =>
        this.stored.filter(
          (one) =>
            (archived ?? one.marks.archived) === one.marks.archived &&
            (pinned ?? one.marks.pinned) === one.marks.pinned &&
            (agentId ?? one.agentId) === one.agentId &&
            (cwd ?? one.cwd) === one.cwd &&
            (one.title ?? '').includes(text ?? ''),
        );
      const tree: SessionTree = new SessionTree(
        {
          live: this,
          stored: () => ({
            list: ({ limit, before, ...filter }) => {
              const all = matching(filter);
              const from = before ? all.findIndex(({ key }) => key === before.key) + 1 : 0;
              const page = all.slice(from, from + limit);
              this.read += page.length;
              return page;
            },
            groups: (by, filter) => [
              ...new Set(matching(filter).map(({ agentId, cwd }) => (by === 'agent' ? agentId : cwd))),
            ],
            of: (key) => this.marks.get(key) ?? NO_MARKS,
          }),
          others: () => this.others,
          titleOf: ({ title }) => title ?? '',
          agentName: (id) => id,
        },
        grouping,
        (node) => (node.kind === 'session' ? JSON.stringify(tree.entry(node.session)) : node.id),
      );
      return tree;
    }
  }

  function shown(tree: SessionTree, node?: ListNode, indent = ''): string[] {
    return tree.children(node).flatMap((row) => {
      const name = row.kind === 'group' ? `[${row.name}]` : row.kind === 'session' ? row.session : `<${row.kind}>`;
      return [
        `${indent}${name}`,
        ...(row.kind === 'group' || row.kind === 'together' ? shown(tree, row, `${indent} `) : []),
      ];
    });
  }

  it('lists agents that work or ask without a window among those of this window', () => {
    const world = new World();
    world.add('here', 'working');
    world.keep('old');
    world.others = [
      { session: world.keep('alone', { updatedAt: 9 }), status: 'working' },
      { session: world.keep('asks'), status: 'needsYou' },
      { session: world.keep('here'), status: 'working' },
    ];
    const rows = ['[needsYou]', ' asks', '[working]', ' alone', ' here', '[ended]', ' old'];
    assert.deepEqual(shown(world.tree()), rows);
    assert.deepEqual(shown(world.tree('none')), ['asks', 'alone', 'here', 'old']);
  });

  it('lists sessions that need the user first, then working ones, and stored ones last', () => {
    const world = new World();
    world.add('ready', 'ready');
    world.add('works', 'working');
    world.add('asks', 'needsYou');
    world.add('failed', 'failed');
    world.keep('old');
    const other = world.keep('other');
    world.others = [{ session: other, status: 'otherWindow' }];
    assert.deepEqual(shown(world.tree()), [
      '[needsYou]',
      ' asks',
      '[working]',
      ' works',
      '[failed]',
      ' failed',
      '[ready]',
      ' ready',
      '[otherWindow]',
      ' other',
      '[ended]',
      ' old',
    ]);
    world.others = [{ session: other, status: 'needsYou' }];
    world.add('asks', 'needsYou', { at: 9 });
    world.add('ready', 'ready', { at: 8 });
    assert.deepEqual(shown(world.tree('none')), ['asks', 'other', 'works', 'ready', 'failed', 'old']);
  });

  it('is grouped by agent or folder, with the stored sessions of each', () => {
    const world = new World();
    world.add('a', 'ready', { agentId: 'two', cwd: '/x' });
    world.keep('b', { agentId: 'two' });
    world.keep('c');
    assert.deepEqual(shown(world.tree('agent')), ['[two]', ' a', ' b', '[one]', ' c']);
    assert.deepEqual(shown(world.tree('folder')), ['[/x]', ' a', '[/work]', ' c', ' b']);
  });

  it('reads 10,000 stored sessions page by page', () => {
    const world = new World();
    for (let index = 0; index < 10_000; index++) world.keep(`s${index}`);
    const tree = world.tree();
    const rows = shown(tree);
    assert.equal(rows.length, 52);
    assert.equal(rows.at(-1), ' <more>');
    assert.ok(world.read < 200, `${world.read} sessions read`);
    const [group] = tree.children(undefined);
    assert.ok(group);
    const more = tree.children(group).at(-1);
    assert.ok(more?.kind === 'more');
    assert.deepEqual(tree.more(more), [group]);
    assert.equal(tree.children(group).length, 101);
    world.read = 0;
    tree.update(false);
    assert.ok(world.read < 200, 'a change of a row reads no page');
  });

  it("finds a session's row once drawn", () => {
    const world = new World();
    world.add('a', 'ready');
    const tree = world.tree();
    assert.equal(tree.find('a'), undefined);
    shown(tree);
    assert.deepEqual(tree.find('a'), { kind: 'session', id: 'session:a', session: 'a' });
  });

  it('redraws only rows that look different', () => {
    const world = new World();
    for (let index = 0; index < 20; index++) world.add(`s${index}`, 'working', { at: index });
    const tree = world.tree();
    shown(tree);
    assert.deepEqual(tree.update(false), []);
    world.add('s5', 'working', { at: 5, title: 'New title' });
    const [row, ...others] = tree.update(false) as readonly ListNode[];
    assert.deepEqual([row?.id, others.length], ['session:s5', 0]);
    assert.deepEqual(tree.update(false), []);
  });

  it('redraws a group if rows were added or removed, and everything if groups were', () => {
    const world = new World();
    for (const key of ['a', 'b', 'c']) world.add(key, 'working');
    const tree = world.tree();
    shown(tree);
    world.add('d', 'working');
    assert.deepEqual(
      (tree.update(false) as readonly ListNode[]).map(({ id }) => id),
      ['state:working'],
    );
    shown(tree);
    world.add('a', 'needsYou');
    assert.equal(tree.update(false), 'all');
  });

  it('excludes filtered sessions, in this window and in the store', () => {
    const world = new World();
    world.add('fix parser', 'working');
    world.add('write docs', 'ready');
    world.keep('parser, again');
    world.keep('hidden parser', { marks: { ...NO_MARKS, archived: true } });
    const tree = world.tree();
    tree.arrange('none', { text: 'parser' });
    assert.deepEqual(shown(tree), ['fix parser', 'parser, again']);
    tree.arrange('none', { states: ['ready'] });
    assert.deepEqual(shown(tree), ['write docs']);
    tree.arrange('none', { archived: true });
    assert.deepEqual(shown(tree), ['hidden parser']);
  });

  it('lists pinned sessions first, and each session once', () => {
    const world = new World();
    world.add('a', 'ready');
    world.keep('a');
    world.keep('pinned', { marks: { ...NO_MARKS, pinned: true } });
    world.keep('b');
    assert.deepEqual(shown(world.tree('none')), ['pinned', 'a', 'b']);
  });

  it('has one row above sessions that were asked together, at the place of the most urgent', () => {
    const world = new World();
    const marks = { ...NO_MARKS, together: 't' };
    for (const key of ['a', 'b']) world.marks.set(key, marks);
    world.add('a', 'working');
    world.add('b', 'needsYou');
    world.add('c', 'working');
    const tree = world.tree();
    assert.deepEqual(shown(tree), ['[needsYou]', ' <together>', '  b', '  a', '[working]', ' c']);
    const [group] = tree.children(undefined);
    assert.equal(tree.children(group)[0]?.kind, 'together');
    assert.ok(group?.kind === 'group');
    assert.equal(tree.count(group), 1, 'one of them needs the user');
    const ids = shown(tree).filter((row) => !row.includes('['));
    assert.equal(new Set(ids.map((row) => row.trim())).size, ids.length, 'no session has two rows');
  });
});
