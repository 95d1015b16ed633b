// Telling files that only the agent changed from those that the user edited too.
import { strict as assert } from 'node:assert';
import type { FileChange, FileVersion } from '../../../../src/changes/model/fileChange';
import { AgentEdits, type Owner } from '../../../../src/changes/restore/agentEdits';
import type { ReviewFile } from '../../../../src/changes/review/reviewFile';
import { fileId } from '../../../../src/changes/review/waitingFiles';

const version = (oid: string): FileVersion => ({ oid, mode: '100644', size: 1 });
const change = (path: string, before?: string, after?: string, oldPath?: string): FileChange => ({
  root: '/r',
  path,
  ...(oldPath !== undefined && { oldPath }),
  ...(before !== undefined && { before: version(before) }),
  ...(after !== undefined && { after: version(after) }),
  added: 0,
  removed: 0,
});
const waiting = (path: string, left: string, alsoYours?: true): ReviewFile => ({
  id: path,
  root: '/r',
  path,
  left: version(left),
  added: 0,
  removed: 0,
  state: 'unreviewed',
  ...(alsoYours && { alsoYours }),
});

describe('the edits of the agent', () => {
  const ownerOf = (
    edits: AgentEdits,
    path: string,
    now?: string,
    target: Record<string, string | undefined> = {},
  ): Owner =>
    edits.ownerOf(
      '/r',
      path,
      now === undefined ? undefined : version(now),
      new Map(
        Object.entries(target).map(([at, oid]) => [fileId('/r', at), oid === undefined ? undefined : version(oid)]),
      ),
    );

  it('are the only ones if each turn starts from the state of the one before', () => {
    const edits = new AgentEdits().add([change('a', '1', '2')]).add([change('b', '2', '3', 'a')]);
    const target = { a: '1', b: undefined };
    assert.equal(ownerOf(edits, 'b', '3', target), 'agent');
    assert.equal(ownerOf(edits, 'a', undefined, target), 'agent');
    assert.equal(ownerOf(edits, 'b', '4', target), 'user');
    assert.equal(ownerOf(edits, 'other', '1', { other: '2' }), 'user');
  });

  it('are not the only ones where the user edited between or during turns', () => {
    const edits = new AgentEdits()
      .add([change('a', '1', '2')])
      .add([change('a', 'mine', '3'), change('b', '1', '2')], new Set(['/r/b']));
    assert.equal(ownerOf(edits, 'a', '3', { a: '1' }), 'user');
    assert.equal(ownerOf(edits, 'b', '2', { b: '1' }), 'user');
  });

  it('are not the only ones where the first turn found another version than the target has', () => {
    const target = { changed: '1', made: undefined, gone: '1', old: undefined, fresh: undefined };
    const edits = new AgentEdits().add([
      change('changed', 'mine', '2'),
      change('made', 'mine', '2'),
      change('gone', 'mine'),
      change('fresh', 'mine', '2', 'old'),
    ]);
    assert.deepEqual(
      [
        ownerOf(edits, 'changed', '2', target),
        ownerOf(edits, 'made', '2', target),
        ownerOf(edits, 'gone', undefined, target),
        ownerOf(edits, 'fresh', '2', target),
      ],
      ['user', 'user', 'user', 'user'],
    );
  });

  it('are asked about where nothing that the agent did named the file', () => {
    const edits = new AgentEdits().add([change('a', '1', '2')], new Set(), new Set(['/r/a']));
    assert.equal(ownerOf(edits, 'a', '2', { a: '1' }), 'unnamed');
  });

  it('are known if the user undid a part, but not if the user saved too', () => {
    const edits = new AgentEdits().add([change('a', '1', '2'), change('b', '1', '2')]);
    edits.addReview([waiting('a', 'part'), waiting('b', '2', true)]);
    assert.equal(ownerOf(edits, 'a', 'part', { a: '1' }), 'agent');
    assert.equal(ownerOf(edits, 'b', '2', { b: '1' }), 'user');
  });
});
