// What a window has on disk when it is killed: events that others depend on, from the moment when they are appended.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../src/session/events/event';
import { thisMachine } from '../../../src/store/file/machine';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, said, timed } from '../../support/store/journals';

describe('a window that is killed', () => {
  let folder: string;
  let journal: Journal;

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder);
    journal.saveSession(newSession('a'));
    journal.append('a', timed(1, { type: 'turn_started', turnId: 't', origin: 'user', at: 1 }));
  });
  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  function found(): string[] {
    const other = openJournal(folder, { machine: { ...thisMachine, isAlive: () => false } });
    try {
      return other.events('a').events.map(({ event }) => event.type);
    } finally {
      other.dispose();
    }
  }

  const events: readonly SessionEvent[] = [
    { type: 'prompt_sent', turnId: 't', promptId: 'q1', content: [{ type: 'text', text: 'Do it' }] },
    { type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 2 },
    { type: 'cancel_requested', turnId: 't' },
    { type: 'permission_closed', permissionId: 'p', outcome: 'selected', optionId: 'yes', by: 'user' },
    { type: 'cleared', replay: true },
  ];
  for (const event of events)
    it(`has stored ${event.type}, with what came before it`, () => {
      journal.append('a', timed(2, said('Before')));
      journal.append('a', timed(3, event));
      assert.deepEqual(found(), ['turn_started', 'message_chunk', event.type]);
    });
});
