// Updates that the registry has for an installed agent.
import assert from 'node:assert/strict';
import { isNewer } from '../../../../src/registry/list/registryAgent';

describe('isNewer', () => {
  it('orders semantic versions', () => {
    assert.equal(isNewer('1.10.0', '1.9.0'), true);
    assert.equal(isNewer('1.9.0', '1.10.0'), false);
    assert.equal(isNewer('1.0.0', '1.0.0-beta.2'), true);
    assert.equal(isNewer('1.0.0', '1.0.0'), false);
  });

  it('offers any other version that differs', () => {
    assert.equal(isNewer('1.0.0rc2', '1.0.0rc1'), true);
    assert.equal(isNewer('2026.1', '2026.1'), false);
    assert.equal(isNewer('2026.2', '2026.11'), false);
  });
});
