// Tests the draft and attachments, which belong to the host whatever pages write.
import { strict as assert } from 'node:assert';
import { Unsent } from '../../../../src/client/conversation/unsent';
import type { QueuedAttachment } from '../../../../src/session/queue/queue';

describe('attachments of the next message', () => {
  for (const [title, uris, kept] of [
    ['hold the same lines once, as they were attached last', ['file:///a#L1', 'file:///a#L2', 'file:///a#L1'], '12'],
    ['keep pasted files of the same name', ['attachment:///a.txt', 'attachment:///a.txt'], '01'],
  ] as const)
    it(title, () => {
      const unsent = new Unsent(undefined, () => {});
      for (const [id, uri] of uris.entries()) {
        const forms: QueuedAttachment['forms'] = [{ type: 'resource', uri, text: `${id}` }];
        unsent.attach({ id: `${id}`, kind: 'selection', label: 'a.ts:1', forms });
      }
      assert.equal(unsent.attachments.map(({ id }) => id).join(''), kept);
    });
});

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

  it('is not replaced by an older text, and reports which page changed it', () => {
    for (const revision of [2, 3]) assert.equal(unsent.write({ text: 'old', revision }, view), false);
    assert.equal(unsent.draft.text, 'deploy');
    assert.deepEqual(heard, ['panel: deploy']);
  });

  it('is empty everywhere after it was sent, and newer than what any page has', () => {
    assert.deepEqual(unsent.sent('deploy', 3, panel), { text: '', revision: 4 });
    assert.deepEqual(heard, ['panel: deploy', 'panel: ']);
    assert.equal(unsent.write({ text: 'deploy', revision: 4 }, view), false);
  });

  it('is empty if the page has sent more text than it had reported', () => {
    assert.deepEqual(unsent.sent('deploy and test', 5, panel), { text: '', revision: 6 });
  });

  it('keeps what was typed in another page since', () => {
    unsent.write({ text: 'deploy and test', revision: 5 }, view);
    assert.deepEqual(unsent.sent('deploy', 3, panel), { text: 'and test', revision: 6 });
  });

  it('is cleared with its attachments when it is sent elsewhere, except for later additions', () => {
    const file = (id: string): QueuedAttachment => ({ id, kind: 'file', label: id, forms: [] });
    unsent.attach(file('a'));
    const { draft, attachments } = unsent;
    unsent.attach(file('b'));
    unsent.write({ text: 'deploy and test', revision: 5 }, view);
    unsent.sentElsewhere({ draft, attachments });
    assert.deepEqual([unsent.draft.text, unsent.attachments.map(({ id }) => id)], ['and test', ['b']]);
  });

  it('is kept when a page that hadn’t received it sends its first message', () => {
    assert.deepEqual(unsent.sent('hello', 0, view), { text: 'deploy', revision: 4 });
  });
});
