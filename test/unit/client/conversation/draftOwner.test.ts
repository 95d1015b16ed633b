// The draft in the host: one owner, whatever pages write in it.
import assert from 'node:assert/strict';
import { Unsent } from '../../../../src/client/conversation/unsent';

describe('the draft of a session', () => {
  const panel = 'panel';
  const view = 'view';
  let unsent: Unsent;
  let heard: string[];

  beforeEach(() => {
    unsent = new Unsent(undefined, () => {});
    heard = [];
    unsent.onDidChangeDraft(({ draft, by }) => heard.push(`${by}: ${draft.text}`));
    assert.ok(unsent.write({ text: 'deploy', revision: 3 }, panel));
  });

  it('is told to the other pages, with the one that has changed it', () => {
    assert.deepEqual(heard, ['panel: deploy']);
  });

  it('is not replaced by an older text', () => {
    for (const revision of [2, 3]) assert.equal(unsent.write({ text: 'old', revision }, view), false);
    assert.equal(unsent.draft.text, 'deploy');
    assert.deepEqual(heard, ['panel: deploy']);
  });

  it('is empty everywhere after it was sent, and newer than what any page has', () => {
    assert.deepEqual(unsent.sent('deploy', 3, panel), { text: '', revision: 4 });
    assert.deepEqual(heard, ['panel: deploy', 'panel: ']);
    assert.equal(unsent.write({ text: 'deploy', revision: 4 }, view), false);
  });

  it('is empty where the page has sent more than it had told of', () => {
    assert.deepEqual(unsent.sent('deploy and test', 5, panel), { text: '', revision: 6 });
  });

  it('keeps what was typed in another page since', () => {
    unsent.write({ text: 'deploy and test', revision: 5 }, view);
    assert.deepEqual(unsent.sent('deploy', 3, panel), { text: 'and test', revision: 6 });
  });

  it('is not touched by a first message from a page that did not know it', () => {
    assert.deepEqual(unsent.sent('hello', 0, view), { text: 'deploy', revision: 4 });
  });
});
