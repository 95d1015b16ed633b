// Ranges of versions of Node.js that packages of agents name.
import assert from 'node:assert/strict';
import { meetsRange } from '../../../../src/registry/install/installer';

describe('meetsRange', () => {
  it('reads a range as npm does', () => {
    for (const range of ['>= 18.17.0 < 22', '18 || 20 || >=22', '^20', '20.x', '18.0.0 - 20', '<=20', '*', ''])
      assert.equal(meetsRange('20.11.1', range), true, range);
    for (const range of ['>=20.12', '>18 <20', '^18||^22', '18.x', '16 - 18', '20.12', '<20'])
      assert.equal(meetsRange('20.11.1', range), false, range);
  });

  it('orders a prerelease before its release', () => {
    assert.equal(meetsRange('25.0.0-nightly20261101', '>=18'), true);
    assert.equal(meetsRange('17.0.0-pre', '>=18'), false);
  });

  it('is met by any version if npm cannot read the range', () => {
    for (const range of ['node', '>=', '>=a.b', '^', 'lts/*', '\u202e18'])
      assert.equal(meetsRange('20.0.0', range), true, range);
  });
});
