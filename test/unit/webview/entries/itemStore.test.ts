// The panel's items and the operations that change them.
import assert from 'node:assert/strict';
import type { ItemView } from '../../../../src/panel/contract';
import { ItemStore } from '../../../../src/webview/entries/itemStore';

const message = (id: string, text: string): ItemView => ({
  kind: 'agent',
  id,
  turnId: 't1',
  at: 100,
  duration: 0,
  content: [{ type: 'text', text }],
});
const textOf = (store: ItemStore, index: number): string => {
  const item = store.get(index)?.item;
  return item?.kind === 'agent' ? item.content.map((block) => (block.type === 'text' ? block.text : '')).join('|') : '';
};

describe('webview/itemStore', () => {
  it('appends to the last text block, or adds one after another kind of block', () => {
    const store = new ItemStore();
    store.reset(0, 0, [], 1);
    store.apply({ op: 'put', index: 0, item: message('a', 'one') }, 2);
    store.apply({ op: 'append', index: 0, text: ' two', until: 350 }, 2);
    assert.equal(textOf(store, 0), 'one two');
    const { item } = store.get(0)!;
    assert.equal(item.kind === 'agent' && item.duration, 250);
    const image = { type: 'image', data: '', mimeType: 'image/png' } as const;
    store.apply({ op: 'put', index: 1, item: { ...message('b', ''), content: [image] } as ItemView }, 2);
    store.apply({ op: 'append', index: 1, text: 'after', until: 0 }, 2);
    assert.equal(textOf(store, 1), '|after');
  });

  it('adds blocks to a loaded message', () => {
    const store = new ItemStore();
    store.reset(0, 0, [], 1);
    store.apply({ op: 'put', index: 0, item: message('a', 'one') }, 2);
    const image = { type: 'image', data: '', mimeType: 'image/png' } as const;
    const blocks = [image, { type: 'text', text: 'two' }] as const;
    assert.deepEqual(store.apply({ op: 'blocks', index: 0, from: 1, blocks, until: 350 }, 2), [
      { type: 'blocks', index: 0, from: 1 },
    ]);
    assert.equal(textOf(store, 0), 'one||two');
    const { item } = store.get(0)!;
    assert.equal(item.kind === 'agent' && item.duration, 250);
    assert.deepEqual(store.apply({ op: 'blocks', index: 1, from: 1, blocks, until: 350 }, 2), []);
  });

  it('appends to a terminal wherever it is shown, and drops its start', () => {
    const store = new ItemStore();
    const terminal = { id: 't', output: 'abc', truncated: false, running: true, openable: true };
    const tool: ItemView = {
      kind: 'tool',
      id: 'c',
      at: 0,
      title: '',
      toolKind: 'execute',
      status: 'in_progress',
      content: [{ type: 'terminal', terminal }],
      locations: [],
      hasRaw: false,
    };
    store.reset(2, 0, [tool, { ...tool, id: 'd' }], 1);
    const changes = store.apply({ op: 'terminal', terminalId: 't', text: 'def', drop: 2 }, 2);
    assert.deepEqual(
      changes.map(({ index }) => index),
      [0, 1],
    );
    const { item } = store.get(1)!;
    assert.deepEqual(item.kind === 'tool' && item.content[0], {
      type: 'terminal',
      terminal: { ...terminal, output: 'cdef', truncated: true },
    });
  });
});
