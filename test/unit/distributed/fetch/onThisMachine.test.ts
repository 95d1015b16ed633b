// Which links of a session are of no use to anybody else.
import assert from 'node:assert/strict';
import { exportDescriptor } from '../../../../src/distributed/fetch/descriptor';
import { isOnThisMachine } from '../../../../src/distributed/model/resourceUrl';

describe('a link that leads to the machine that opens it', () => {
  it('is recognized by its host', () => {
    const here = [
      '127.0.0.1:8000',
      '127.1',
      '0x7f000001',
      '[::1]:1',
      'localhost',
      'LOCALHOST.',
      'a.localhost',
      '0.0.0.0',
    ];
    for (const host of here) assert.ok(isOnThisMachine(`http://${host}/x`), host);
  });

  it('is what the user is warned of where it leads elsewhere', () => {
    for (const host of [
      'example.com',
      '192.168.1.5',
      '10.0.0.1',
      '[2001:db8::1]',
      'localhost.example.com',
      '128.0.0.1',
    ])
      assert.ok(!isOnThisMachine(`http://${host}/x`), host);
    assert.ok(!isOnThisMachine('127.0.0.1'));
  });

  it('is counted, with that of the state', () => {
    const history = ['http://127.0.0.1:1/a', 'https://example.com/b'];
    assert.equal(exportDescriptor({ id: 'a', history }).onThisMachine, 1);
    assert.equal(exportDescriptor({ id: 'a', history, state: 'http://localhost/s' }).onThisMachine, 2);
  });
});
