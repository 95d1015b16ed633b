// The ring behind "Show Protocol Traffic".
import { strict as assert } from 'node:assert';
import { TrafficRing } from '../../../../src/workbench/log/trafficRing';
import { retainedBytes } from '../../../support/heap';

describe('the ring of protocol traffic', () => {
  it('keeps the beginnings of long messages and nothing of the rest', () => {
    const ring = new TrafficRing();
    const bytes = retainedBytes(() => {
      for (let n = 0; n < 200; n++) ring.note('s', 'in', JSON.parse(`"${'x'.repeat(800_000)}${n}"`), 0);
      return ring;
    });
    assert.ok(bytes < 200 * 5000 * 1.2 + 500_000, `${bytes} bytes`);
  });

  it('shows the last thousand messages in order and says how long a cut one was', () => {
    const ring = new TrafficRing();
    for (let n = 0; n < 1500; n++) ring.note('s', n % 2 ? 'in' : 'out', `message ${n}`, 0);
    ring.note('s', 'in', 'x'.repeat(5000), 0);
    const lines = ring.text().split('\n');
    assert.equal(lines.length, 1000);
    assert.match(lines[0] ?? '', /<- message 501$/);
    assert.match(lines.at(-1) ?? '', /x… \(5000 characters\)$|x{4000} … \(5000 characters\)$/);
  });
});

describe('secrets in the ring', () => {
  it('are found where the shown part of a line ends', () => {
    const ring = new TrafficRing();
    const secret = 'correct-horse-battery-staple';
    ring.note('s', 'out', `${'x'.repeat(3_990)}${secret}${'y'.repeat(5_000)}`, 0);
    const text = ring.text((line) => line.replace(secret, '[redacted]'));
    assert.doesNotMatch(text, /correct/);
    assert.match(text, /x\[redacted\].* … \(9018 characters\)$/m);
  });
});
