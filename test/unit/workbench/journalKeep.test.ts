// What is kept of a session in which the user has said nothing yet.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../src/base/log';
import type { Journal } from '../../../src/store/journal';
import { JournalKeep } from '../../../src/workbench/journalKeep';
import { retainedBytes } from '../../support/heap';

describe('what an agent says before the user does', () => {
  it('takes a bounded number of bytes', () => {
    const session = { key: 'k', agentId: 'a', cwd: '/w', roots: ['/w'] };
    const keep = new JournalKeep({ journal: {} as Journal, log: silentLog, windowId: 'w', session }, false);
    const bytes = retainedBytes(() => {
      for (let n = 0; n < 200; n++) {
        const text = JSON.parse(`"${'x'.repeat(500_000)}${n}"`) as string;
        keep.events([{ at: 1, event: { type: 'message_chunk', role: 'agent', block: { type: 'text', text } } }]);
      }
      return keep;
    });
    assert.ok(bytes < 12 * 1024 * 1024, `${bytes} bytes`);
  });
});
