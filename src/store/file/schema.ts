// The tables of the journal by version. Released versions never change; changes are migrations.
import type { Sql } from './sql';
import { StorageError } from './sqlError';

export const TOKENIZER = 'unicode61 remove_diacritics 2';

/**
 * Each entry migrates a file from its index to the next version. A window of the previous version
 * may be open, so migrations only add, and that window's writes are kept.
 * - `events` is clustered by session, so that pages are contiguous if many sessions write in
 * parallel.
 * - `last_seq` is the newest event of a session, `indexed_seq` the newest one whose text is
 * searchable, `cleared_seq` the newest `cleared`.
 * - `texts` has one row per message (more for long ones); `texts_fts` is its index, without a copy
 * of the text.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    key TEXT PRIMARY KEY, agent TEXT NOT NULL, agent_session TEXT, cwd TEXT NOT NULL, roots TEXT NOT NULL,
    title TEXT, preview TEXT, protocol TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0, ended_at INTEGER, ended_why TEXT, queue_paused TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0, indexed_seq INTEGER NOT NULL DEFAULT 0,
    cleared_seq INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX sessions_by_time ON sessions (updated DESC, key DESC);
  CREATE INDEX sessions_unindexed ON sessions (key) WHERE indexed_seq < last_seq;

  CREATE TABLE events (
    key TEXT NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, until REAL, type TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (key, seq)
  ) WITHOUT ROWID;

  CREATE TABLE turns (
    key TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, origin TEXT NOT NULL,
    first_seq INTEGER NOT NULL, started REAL NOT NULL, first_output REAL, ended REAL, reason TEXT, barrier TEXT,
    note TEXT, tokens INTEGER, cost TEXT, tools INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (key, id)
  ) WITHOUT ROWID;
  CREATE INDEX turns_by_seq ON turns (key, first_seq);
  CREATE INDEX turns_open ON turns (key) WHERE ended IS NULL;

  CREATE TABLE queue (
    key TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, position INTEGER NOT NULL,
    state TEXT NOT NULL, held INTEGER NOT NULL, reason TEXT, sender TEXT, text TEXT NOT NULL, attachments TEXT NOT NULL,
    PRIMARY KEY (key, id)
  );
  CREATE TABLE drafts (key TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, json TEXT NOT NULL);
  CREATE TABLE views (key TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, json TEXT NOT NULL);
  CREATE TABLE decisions (
    key TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, permission TEXT NOT NULL, at REAL NOT NULL,
    json TEXT NOT NULL, PRIMARY KEY (key, permission)
  );
  CREATE TABLE leases (
    key TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, window TEXT NOT NULL, pid INTEGER NOT NULL,
    host TEXT NOT NULL, since REAL NOT NULL, heartbeat REAL NOT NULL
  );

  CREATE TABLE texts (id INTEGER PRIMARY KEY, key TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL);
  CREATE INDEX texts_by_session ON texts (key, seq);
  CREATE VIRTUAL TABLE texts_fts USING fts5 (
    text, content = 'texts', content_rowid = 'id', tokenize = '${TOKENIZER}'
  );
  CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN
    INSERT INTO texts_fts (rowid, text) VALUES (new.id, new.text);
  END;
  CREATE TRIGGER texts_removed AFTER DELETE ON texts BEGIN
    INSERT INTO texts_fts (texts_fts, rowid, text) VALUES ('delete', old.id, old.text);
  END;
  `,
  // Version 1 marked a doubtful message by its reason, and a resent prompt by the suffix of its id.
  `
  ALTER TABLE queue ADD COLUMN doubtful INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE queue ADD COLUMN repeats TEXT;
  UPDATE queue SET doubtful = 1, repeats = CASE WHEN id LIKE '%-again' THEN substr(id, 1, length(id) - 6) END
    WHERE state = 'failed' AND reason = 'it is not known whether the agent got this';
  `,
  // Version 2 identified a lease's process by its id only, which is reused after a restart, and
  // deleted expired sessions immediately, even with a wrong clock.
  `
  ALTER TABLE leases ADD COLUMN boot TEXT;
  ALTER TABLE leases ADD COLUMN started TEXT;
  ALTER TABLE leases ADD COLUMN ticks REAL;
  CREATE TABLE expiring (key TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, since REAL NOT NULL);
  `,
  // Rows have their transcript position, so that the end can be read first. Sessions count writes,
  // so that the rest of a killed process is imported once. Attachments of a draft have separate
  // rows, so that typing does not rewrite images. `turns`, `decisions`, `sessions.archived` and
  // `queue.sender` are unused, but windows of the previous version still write them.
  `
  ALTER TABLE events ADD COLUMN mark TEXT;
  ALTER TABLE sessions ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
  DELETE FROM turns;
  DELETE FROM decisions;
  CREATE TABLE draft_attachments (
    key TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, position INTEGER NOT NULL,
    json TEXT NOT NULL, PRIMARY KEY (key, id)
  );
  `,
  // Earlier versions stored the reasons of paused queues as displayed sentences instead of codes.
  `
  UPDATE sessions SET queue_paused = CASE queue_paused
    WHEN 'by you' THEN 'by-user'
    WHEN 'you stopped the turn' THEN 'stopped'
    WHEN 'the window ended; look through what waits, then go on' THEN 'window-ended'
    WHEN 'the agent asks something first' THEN 'agent-asks'
    WHEN 'the agent did not answer when asked whether it is there' THEN 'agent-silent'
    WHEN 'the agent gave the message back' THEN 'given-back'
    WHEN 'the agent no longer has this session' THEN 'session-lost'
    ELSE 'agent-ended: ' || queue_paused END
    WHERE queue_paused IS NOT NULL;
  UPDATE queue SET reason = CASE doubtful WHEN 1 THEN 'in-doubt' ELSE 'refused: ' || reason END
    WHERE reason IS NOT NULL;
  `,
  // `tools_seq` is the newest event up to which tool calls are searchable. Older events are indexed
  // gradually.
  `
  ALTER TABLE sessions ADD COLUMN tools_seq INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_tools_unindexed ON sessions (key) WHERE tools_seq < last_seq;
  `,
  // Marks of sessions for their list, and the open questions of windows with answers of other
  // windows.
  `
  CREATE TABLE session_marks (
    key TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, pinned INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0, unread INTEGER NOT NULL DEFAULT 0, files INTEGER NOT NULL DEFAULT 0,
    together TEXT, deleted REAL
  ) WITHOUT ROWID;
  CREATE TABLE questions (
    key TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, window TEXT NOT NULL,
    at REAL NOT NULL, json TEXT NOT NULL, answer TEXT, PRIMARY KEY (key, id)
  ) WITHOUT ROWID;
  CREATE INDEX questions_answered ON questions (window) WHERE answer IS NOT NULL;
  `,
  // How far the lines of a background agent were read; changes together with their events.
  `
  CREATE TABLE progress (key TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, json TEXT NOT NULL);
  `,
];

export const SIDE_TABLES = [
  'queue',
  'drafts',
  'draft_attachments',
  'views',
  'leases',
  'session_marks',
  'progress',
] as const;

/**
 * Runs each step in a transaction, so that a failure leaves the file unchanged.
 * @throws StorageError `newer` for a later version
 */
export function migrate(sql: Sql, migrations: readonly string[] = MIGRATIONS): void {
  while (sql.pragma('user_version') !== migrations.length) {
    sql.transaction(() => {
      // Another window may have done this step while this one waited for the lock.
      const version = sql.pragma('user_version');
      if (version > migrations.length) throw new StorageError('newer');
      const step = migrations[version];
      if (step === undefined) return;
      sql.exec(step);
      sql.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
}
