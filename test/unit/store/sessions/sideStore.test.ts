// Drafts are kept with exactly the attachments that they have.
import { strict as assert } from 'node:assert';
import type { QueuedAttachment } from '../../../../src/session/queue/queue';
import type { Journal } from '../../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal } from '../../../support/store/journals';

describe('the draft of a session', () => {
  let folder: string;
  let journal: Journal;

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder);
    journal.saveSession(newSession('a'));
  });
  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  const file = (id: string): QueuedAttachment => ({
    id,
    kind: 'file',
    label: id,
    forms: [{ type: 'text', text: `content of ${id}` }],
  });

  it('gains and loses attachments one by one, also across a restart', () => {
    const steps = [['x'], ['x', 'y'], ['y'], ['y', 'z'], []];
    for (const [revision, ids] of steps.entries()) {
      const draft = { text: 'see', attachments: ids.map(file), revision };
      journal.side.saveDraft('a', draft);
      assert.deepEqual(journal.side.draft('a'), draft);
      journal.dispose();
      journal = openJournal(folder);
      assert.deepEqual(journal.side.draft('a'), draft);
    }
  });

  it('is empty after it was sent, and keeps its revision', () => {
    journal.side.saveDraft('a', { text: 'see', attachments: [file('x')], revision: 1 });
    journal.side.saveDraft('a', { text: '', attachments: [], revision: 2 });
    assert.deepEqual(journal.side.draft('a'), { text: '', attachments: [], revision: 2 });
  });
});
