// Telling files that only the agent changed from those that the user edited too.
import { strict as assert } from 'node:assert';
import type { FileChange, FileVersion } from '../../../../src/changes/model/fileChange';
import { AgentEdits } from '../../../../src/changes/restore/agentEdits';
import type { ReviewFile } from '../../../../src/changes/review/reviewFile';

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
  const isEdited = (edits: AgentEdits, path: string, now?: string): boolean =>
    edits.isEdited('/r', path, now === undefined ? undefined : version(now));

  it('are the only ones if each turn starts from the state of the one before', () => {
    const edits = new AgentEdits().add([change('a', '1', '2')]).add([change('b', '2', '3', 'a')]);
    assert.equal(isEdited(edits, 'b', '3'), false);
    assert.equal(isEdited(edits, 'a'), false);
    assert.equal(isEdited(edits, 'b', '4'), true);
    assert.equal(isEdited(edits, 'other', '1'), true);
  });

  it('are not the only ones where the user edited between or during turns', () => {
    const edits = new AgentEdits()
      .add([change('a', '1', '2')])
      .add([change('a', 'mine', '3'), change('b', '1', '2')], new Set(['/r/b']));
    assert.equal(isEdited(edits, 'a', '3'), true);
    assert.equal(isEdited(edits, 'b', '2'), true);
  });

  it('are known if the user undid a part, but not if the user saved too', () => {
    const edits = new AgentEdits().add([change('a', '1', '2'), change('b', '1', '2')]);
    edits.addReview([waiting('a', 'part'), waiting('b', '2', true)]);
    assert.equal(isEdited(edits, 'a', 'part'), false);
    assert.equal(isEdited(edits, 'b', '2'), true);
  });
});
