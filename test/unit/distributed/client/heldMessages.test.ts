// Held messages that a server's record replaces.
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
  it('stays if another client recorded a message of the same millisecond', () => {
    const held = new HeldMessages();
    held.add(said('ours'));
    assert.equal(held.drop([{ url: 'http://127.0.0.1/1', message: said('theirs') }]), false);
    assert.equal(held.all.length, 1);
  });

  it('is dropped if the record of that time is longer, or has its text in another form', () => {
    for (const recorded of [said('ours, to the end'), said('b3Vycw==', 'application/octet-stream')]) {
      const held = new HeldMessages();
      held.add(said('ours'));
      assert.equal(held.drop([{ url: 'http://127.0.0.1/1', message: recorded }]), true);
      assert.equal(held.all.length, 0);
    }
  });
});
