// Processes are told apart from later ones that got the same number.
import { strict as assert } from 'node:assert';
import { descendantsOf, type ProcessRef, stillAlive } from '../../../src/agents/processTree';

(process.platform === 'win32' ? describe.skip : describe)('a process that is remembered', () => {
  let self: ProcessRef;
  before(async () => {
    const found = (await descendantsOf(process.ppid)).find(({ pid }) => pid === process.pid);
    assert.ok(found);
    self = found;
  });

  it('is alive while it runs', async () => {
    assert.deepEqual(await stillAlive([self]), [self]);
  });

  it('is not alive when its number belongs to another process by now', async () => {
    assert.deepEqual(await stillAlive([{ ...self, started: `1${self.started}` }]), []);
  });
});
