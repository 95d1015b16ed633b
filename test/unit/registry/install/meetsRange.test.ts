// Ranges of versions that packages of agents name, read as npm reads them.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { meetsRange } from '../../../../src/registry/install/meetsRange';

const semver = createRequire(import.meta.url)('semver') as {
  satisfies(version: string, range: string, options: { readonly includePrerelease: boolean }): boolean;
};

const VERSIONS = [
  '16.20.2',
  '18.0.0',
  '18.17.1',
  '18.20.8',
  '20.0.0',
  '20.11.1',
  '21.7.3',
  '22.12.0',
  '24.0.0',
  '25.1.0',
];
const RANGES = [
  '>=18',
  '>= 18',
  '>=18.0.0',
  '>=18.17',
  '>18.17.1',
  '>=18 <21',
  '>= 18.17.0 < 22',
  '<=20',
  '<=20.11',
  '<22',
  '18',
  '18.x',
  '18.17',
  '=20.11.1',
  '^20',
  '^18.17.0',
  '~20.11',
  '~20.11.0',
  '^18.18.0 || ^20.9.0 || >=21.1.0',
  '18 || 20 || >=22',
  '16 - 18',
  '18.0.0 - 20.11.1',
  '*',
  'x',
  '',
  '^18||^20',
];

describe('ranges of versions', () => {
  it('are met by the versions that meet them for npm', () => {
    for (const range of RANGES)
      for (const version of VERSIONS)
        assert.equal(
          meetsRange(version, range),
          semver.satisfies(version, range, { includePrerelease: true }),
          `${version} in ${JSON.stringify(range)}`,
        );
  });

  it('are met by a prerelease of a version that meets them', () => {
    assert.equal(meetsRange('25.0.0-nightly20261101', '>=18'), true);
    assert.equal(meetsRange('17.0.0-pre', '>=18'), false);
  });

  it('are met if nobody can read them', () => {
    for (const range of ['node', '>=', '>=a.b', '^', 'lts/*', '\u202e18'])
      assert.equal(meetsRange('20.0.0', range), true);
  });
});
