// Changes that the user edits before they are made: the whole file, and the message to the agent.
import assert from 'node:assert/strict';
import { editMessage, editsIn, proposalIn, proposalOf } from '../../../../src/client/requests/editedProposal';
import type { ToolContent } from '../../../../src/session/events/content';
import { SessionModel } from '../../../../src/session/model/model';

describe('a change that the user edits first', () => {
  const change = (oldText: string | undefined, newText: string): ToolContent => ({
    type: 'diff',
    path: '/w/a.ts',
    newText,
    ...(oldText !== undefined && { oldText }),
  });
  function asked(content: readonly ToolContent[], kinds = ['allow_once', 'reject_once'] as const): SessionModel {
    const model = new SessionModel();
    const options = kinds.map((kind) => ({ optionId: kind, name: kind, kind }));
    const events = [
      { type: 'tool_call', toolCallId: 'c', patch: { title: 'Edit', content }, announced: true },
      { type: 'permission_asked', permissionId: 'p', toolCallId: 'c', title: 'Edit?', options },
    ] as const;
    for (const event of events) model.apply(event, 1);
    return model;
  }
  const whole = (content: ToolContent, text: string | undefined): string | undefined =>
    proposalIn(asked([content]), 'p')?.in(text);

  it('must be the only one in a request that can be rejected', () => {
    const one = change('a', 'b');
    assert.equal(proposalOf(asked([one]), 'p'), 0);
    assert.equal(proposalOf(asked([one, one]), 'p'), undefined);
    assert.equal(proposalOf(asked([]), 'p'), undefined);
    assert.equal(proposalOf(asked([one], ['allow_once', 'allow_once'] as never), 'p'), undefined);
    assert.equal(proposalOf(asked([one]), 'another'), undefined);
    assert.equal(proposalIn(asked([one]), 'another'), undefined);
  });

  it('is applied if the replaced part occurs exactly once', () => {
    assert.equal(whole(change('two', 'zwei'), 'one\ntwo\nthree\n'), 'one\nzwei\nthree\n');
    assert.equal(whole(change('one\r\ntwo', 'eins'), 'one\ntwo\nthree\n'), 'eins\nthree\n');
    assert.equal(whole(change('one\ntwo\n', '$& $1'), 'one\ntwo\n'), '$& $1', 'the whole file');
    assert.equal(whole(change(undefined, 'new\n'), undefined), 'new\n', 'a new file');
    assert.equal(whole(change(undefined, 'new\n'), 'old\n'), 'new\n', 'over an old one');
    assert.equal(whole(change('two', 'zwei'), 'two two'), undefined, 'twice');
    assert.equal(whole(change('two', 'zwei'), 'one'), undefined, 'nowhere');
    assert.equal(whole(change('two', 'zwei'), undefined), undefined, 'no file');
  });

  it('is reported to the agent with the user’s edits', () => {
    const said = editMessage('/w/a.ts', 'one\n```\nthree\n', 'one\n```\ndrei\n');
    assert.match(said, /^I edited your change of \/w\/a\.ts and saved it myself, so do not make it again\./);
    assert.match(said, /\n````diff\n@@ -1 \+1 @@\n one\n ```\n-three\n\+drei\n````$/);
    assert.deepEqual(editsIn(said), {
      path: '/w/a.ts',
      hunks: [{ oldStart: 1, newStart: 1, lines: [' one', ' ```', '-three', '+drei'] }],
    });
    assert.deepEqual(editsIn(editMessage('a.ts', 'same', 'same')), { path: 'a.ts', hunks: [] });
    assert.equal(editsIn(`${said}\nand more`), undefined, 'only what Parley wrote');
    assert.doesNotMatch(editMessage('/w/a.ts', 'a', `${'b'.repeat(1000)}\n`.repeat(100)), /diff/, 'bounded');
  });
});
