// Numbers and times in the language of VS Code.
import { strict as assert } from 'node:assert';
import { formatFor, formatNumber, formatTenths, formatTime } from '../../../src/base/localFormat';

describe('numbers and times', () => {
  afterEach(() => formatFor('en'));

  it('are formatted in the language of VS Code', () => {
    const at = new Date(2026, 0, 31, 17, 5).getTime();
    formatFor('de');
    assert.deepEqual([formatNumber(2_000_000), formatNumber(1.25, 1), formatTenths(4)], ['2.000.000', '1,3', '4,0']);
    assert.equal(formatTime(at), '31.01.2026, 17:05');
    formatFor('en');
    assert.deepEqual([formatNumber(2_000_000), formatNumber(1.25, 1), formatTenths(4)], ['2,000,000', '1.3', '4.0']);
    assert.match(formatTime(at), /^Jan 31, 2026, 5:05\sPM$/);
  });

  it('are formatted even if the engine does not support the language', () => {
    for (const tag of ['', 'no such language', 'x'.repeat(1000), 'qps-ploc']) {
      formatFor(tag);
      assert.match(formatTenths(1.5), /^1[.,]5$/);
    }
  });
});
