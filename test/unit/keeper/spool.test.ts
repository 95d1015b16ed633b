// The agent's output retained by a keeper: lines that are not stored, or still open.
import { strict as assert } from 'node:assert';
import { SEGMENT_BYTES, Spool } from '../../../src/keeper/spool';
import { removeScratch, scratchFolder } from '../../support/scratch';

describe('the output retained by a keeper', () => {
  let spool: Spool;
  beforeEach(async () => {
    spool = new Spool({ folder: await scratchFolder(), maxBytes: 8 * SEGMENT_BYTES, onRoom() {} });
  });
  afterEach(removeScratch);

  const first = '{"id":1,"method":"session/request_permission"}\n';

  function append(): void {
    spool.append(Buffer.from(first));
    spool.append(Buffer.from(`${'x'.repeat(SEGMENT_BYTES)}\n`));
  }
  const lineOne = async (): Promise<string | undefined> => (await spool.line(1))?.toString();

  it('contains each line until a window has stored it', async () => {
    append();
    assert.equal(await lineOne(), first);
    spool.store({ line: 2, open: [] });
    assert.equal(await lineOne(), undefined);
    assert.equal(spool.isEmpty, true);
  });

  it('contains a stored request of the agent until it is answered', async () => {
    append();
    spool.store({ line: 2, open: [1] });
    assert.equal(await lineOne(), first);
    spool.store({ line: 2, open: [] });
    assert.equal(await lineOne(), undefined);
  });

  it('never un-stores a line', async () => {
    append();
    spool.store({ line: 2, open: [] });
    spool.store({ line: 1, open: [1] });
    assert.deepEqual(spool.stored, { line: 2, open: [] });
  });
});
