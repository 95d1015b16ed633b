// Which messages a server's record takes the place of.
import assert from 'node:assert/strict';
import { HeldMessages } from '../../../../src/distributed/client/heldMessages';
import type { Message } from '../../../../src/distributed/model/model';

const SAID_AT = '2026-11-22T12:00:00.000Z';
const said = (content: string, content_type = 'text/plain'): Message => ({
  role: 'user',
  parts: [{ content_type, content, content_encoding: 'plain' }],
  created_at: SAID_AT,
});

describe('a held message', () => {
  it('stays while another client is recorded with words of the same millisecond', () => {
    const held = new HeldMessages();
    held.add(said('ours'));
    assert.equal(held.drop([{ url: 'http://127.0.0.1/1', message: said('theirs') }]), false);
    assert.equal(held.all.length, 1);
  });

  it('is dropped where the record of that time has more of it, or its words in another form', () => {
    for (const recorded of [said('ours, to the end'), said('b3Vycw==', 'application/octet-stream')]) {
      const held = new HeldMessages();
      held.add(said('ours'));
      assert.equal(held.drop([{ url: 'http://127.0.0.1/1', message: recorded }]), true);
      assert.equal(held.all.length, 0);
    }
  });
});
