// Checks the integrity of the session database, in a thread because SQLite reads the whole file.
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import * as l10n from '@vscode/l10n';
import { formatTenths } from '../../base/localFormat';
import { at } from '../../base/untrusted';
import { type Check, check, type Finding } from './check';

/** Size above which only the central tables are checked, bytes. */
const MAX_WHOLE = 256 * 1024 * 1024;
/** Age of the last heartbeat after which a window of another machine counts as gone, in ms. */
const SILENT_MS = 60_000;

/** Source of the thread, which only reads. */
const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const { path, isLarge, since, host, pid: own } = workerData;
const isRunning = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const database = new DatabaseSync(path, { readOnly: true });
try {
  database.exec('PRAGMA busy_timeout = 2000');
  const checks = isLarge ? ['quick_check(sessions)', 'quick_check(queue)'] : ['quick_check(3)'];
  const problems = checks.flatMap((check) =>
    database.prepare('PRAGMA ' + check).all().map((row) => String(Object.values(row)[0])).filter((word) => word !== 'ok'));
  const { count: sessions } = database.prepare('SELECT count(*) AS count FROM sessions').get();
  const leases = database.prepare('SELECT DISTINCT window, pid, host FROM leases WHERE host = ? OR heartbeat > ?');
  const windows = leases.all(host, since).filter((row) => row.host !== host || (row.pid !== own && isRunning(row.pid)));
  parentPort.postMessage({ problems, sessions, windows: windows.length });
} finally {
  database.close();
}
`;

export interface JournalCheckOptions {
  readonly folder: string;
  readonly problem: string | undefined;
  readonly now: () => number;
}

export function journalCheck({ folder, problem, now }: JournalCheckOptions): Check {
  const path = join(folder, 'parley.db');
  return check('journal', l10n.t('Session history'), 30_000, async (signal) => {
    if (problem !== undefined)
      return {
        outcome: 'problem',
        found: problem,
        advice: l10n.t('Sessions are kept in memory until then.'),
        action: 'showLog',
      };
    const size = await sizeOf(path);
    if (size === undefined) return { outcome: 'ok', found: l10n.t('No sessions are stored yet.') };
    const log = (await sizeOf(`${path}-wal`)) ?? 0;
    const facts: Finding['facts'] = [
      [l10n.t('File'), path],
      [l10n.t('Size'), l10n.t('{0} MB', formatTenths((size + log) / (1024 * 1024)))],
    ];
    let answer: unknown;
    try {
      const reader = { since: now() - SILENT_MS, host: hostname(), pid: process.pid };
      answer = await inThread({ path, isLarge: size > MAX_WHOLE, ...reader }, signal);
    } catch (error) {
      signal.throwIfAborted();
      return {
        outcome: 'problem',
        found: l10n.t("The session history can't be opened: {0}", error instanceof Error ? error.message : ''),
        advice: l10n.t('Reload the window: a damaged file is kept under another name and replaced.'),
        action: 'showLog',
        facts,
      };
    }
    const problems = at(answer, 'problems');
    const more: Finding['facts'] = [
      ...facts,
      [l10n.t('Sessions'), String(at(answer, 'sessions'))],
      [l10n.t('Other windows with open sessions'), String(at(answer, 'windows'))],
    ];
    if (Array.isArray(problems) && problems.length > 0)
      return {
        outcome: 'problem',
        found: l10n.t('The session history is damaged: {0}', problems.join('; ')),
        advice: l10n.t('Reload the window: a damaged file is kept under another name and replaced.'),
        action: 'showLog',
        facts: more,
      };
    return { outcome: 'ok', found: l10n.t('The session history opens and is sound.'), facts: more };
  });
}

async function inThread(data: unknown, signal: AbortSignal): Promise<unknown> {
  const worker = new Worker(SOURCE, { eval: true, workerData: data });
  return new Promise((resolve, reject) => {
    let answer: unknown;
    const end = (): void => {
      reject(signal.reason);
      // Not awaited: SQLite may be reading.
      void worker.terminate();
    };
    signal.addEventListener('abort', end, { once: true });
    worker.once('message', (message: unknown) => {
      answer = message;
    });
    worker.once('error', reject);
    // Resolves after the exit, when the file is closed: an open one keeps windows from cleaning up.
    worker.once('exit', () => {
      signal.removeEventListener('abort', end);
      if (answer === undefined) reject(new Error(l10n.t('the check ended without an answer')));
      else resolve(answer);
    });
  });
}

function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
