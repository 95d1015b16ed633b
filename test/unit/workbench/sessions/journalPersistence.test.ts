// The stored part of a session: bounded before the first message, and without secrets.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../../src/base/log';
import { knownSecrets } from '../../../../src/base/redact';
import type { TimedEvent } from '../../../../src/session/events/event';
import type { Journal } from '../../../../src/store/journal';
import { JournalPersistence } from '../../../../src/workbench/sessions/journalPersistence';
import { retainedBytes } from '../../../support/heap';

describe("an agent's messages before the user's first one", () => {
  it('are limited in bytes', () => {
    const session = { key: 'k', agentId: 'a', cwd: '/w', roots: ['/w'] };
    const persistence = new JournalPersistence(
      { journal: {} as Journal, log: silentLog, windowId: 'w', session },
      false,
    );
    const bytes = retainedBytes(() => {
      for (let n = 0; n < 200; n++) {
        const text = JSON.parse(`"${'x'.repeat(500_000)}${n}"`) as string;
        persistence.events([{ at: 1, event: { type: 'message_chunk', role: 'agent', block: { type: 'text', text } } }]);
      }
      return persistence;
    });
    assert.ok(bytes < 12 * 1024 * 1024, `${bytes} bytes`);
  });
});

describe("an agent's messages", () => {
  it('are stored without a secret split between two chunks', () => {
    knownSecrets.add('two-pieces-of-a-secret');
    const session = { key: 'k', agentId: 'a', cwd: '/w', roots: ['/w'] };
    const written: TimedEvent[] = [];
    const append = (_key: string, events: readonly TimedEvent[]): void => void written.push(...events);
    const journal = { saveSession() {}, claim() {}, append } as unknown as Journal;
    const persistence = new JournalPersistence({ journal, log: silentLog, windowId: 'w', session }, false);
    const turn = { turnId: 't', at: 1 } as const;
    persistence.events([{ at: 1, event: { type: 'turn_started', origin: 'user', ...turn } }]);
    for (const text of ['the key is two-pieces', '-of-a-secret, so.'])
      persistence.events([{ at: 1, event: { type: 'message_chunk', role: 'agent', block: { type: 'text', text } } }]);
    persistence.events([
      { at: 1, event: { type: 'turn_ended', stopReason: 'end_turn', barrier: 'response', ...turn } },
    ]);
    const said = written.map(({ event }) =>
      event.type === 'message_chunk' && event.block.type === 'text' ? event.block.text : event.type,
    );
    assert.deepEqual(said, ['turn_started', 'the key is ', '[redacted], so.', 'turn_ended']);
  });
});
