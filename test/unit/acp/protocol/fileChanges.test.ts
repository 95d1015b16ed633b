// File changes in tool calls.
import { strict as assert } from 'node:assert';
import { toToolPatch } from '../../../../src/acp/protocol/readContent';
import { sameData } from '../../../support/sameData';

function read(diff: object): unknown {
  const [content] = toToolPatch({ content: [{ type: 'diff', path: 'file:///a/b%23.ts', ...diff }] }).content ?? [];
  return content;
}

describe('a change of a file', () => {
  const path = '/a/b#.ts';
  const deleted = { type: 'diff', path, oldText: 'old\n', newText: '', operation: 'delete' };

  it('is a deletion without a new text, or if `_meta` says so', () => {
    assert.deepEqual(read({ oldText: 'old\n', newText: null }), deleted);
    assert.deepEqual(read({ oldText: 'old\n', newText: 'old\n', _meta: { kind: 'delete' } }), deleted);
    assert.deepEqual(read({ oldText: 'old\n', newText: '', _meta: { kind: 'delete' } }), deleted);
    assert.deepEqual(read({ oldText: null, newText: 'old\n', _meta: { kind: 'delete' } }), deleted);
  });

  it('is a deletion even if the agent omits the old text', () => {
    sameData(read({ newText: null }), { type: 'diff', path, newText: '', operation: 'delete' });
  });

  it('is a new file without an old text', () => {
    sameData(read({ oldText: null, newText: 'new\n' }), { type: 'diff', path, newText: 'new\n' });
    sameData(read({ newText: '', _meta: { kind: 'add' } }), { type: 'diff', path, newText: '' });
  });

  it('is shown raw if it is invalid', () => {
    for (const odd of [{}, { oldText: 1, newText: 'x' }, { oldText: 'x', newText: {} }])
      assert.equal((read(odd) as { type: string }).type, 'unknown', JSON.stringify(odd));
  });
});
