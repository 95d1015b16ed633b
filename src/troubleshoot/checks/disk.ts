// Checks the free space of the disk with the sessions, and the size of what Parley has stored.
import { lstat, opendir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { formatTenths } from '../../base/localFormat';
import { type Check, check, type Finding } from './check';

const MB = 1024 * 1024;
/** Free space below which there is a warning, and a problem; in bytes. */
const LOW = 1024 * MB;
const FULL = 64 * MB;
const MAX_FILES = 50_000;

export interface DiskCheckOptions {
  /** Folder of Parley's storage; absolute. */
  readonly folder: string;
  readonly freeBytes?: (folder: string) => Promise<number>;
}

export function diskCheck({ folder, freeBytes = freeBytesOf }: DiskCheckOptions): Check {
  return check('disk', l10n.t('Disk'), 20_000, async (signal) => {
    const [free, used] = await Promise.all([freeBytes(folder), usedBytes(folder, signal)]);
    const facts: Finding['facts'] = [
      [l10n.t('Storage'), folder],
      [l10n.t('Free'), megabytes(free)],
      [l10n.t('Used by Parley'), used.isWhole ? megabytes(used.bytes) : l10n.t('at least {0}', megabytes(used.bytes))],
    ];
    if (free >= LOW) return { outcome: 'ok', found: l10n.t('The disk has {0} free.', megabytes(free)), facts };
    return {
      outcome: free < FULL ? 'problem' : 'warning',
      found: l10n.t('The disk has only {0} free.', megabytes(free)),
      advice: l10n.t('Free up space. Parley can keep fewer old sessions.'),
      action: 'openHistorySettings',
      facts,
    };
  });
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function usedBytes(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly isWhole: boolean }> {
  let bytes = 0;
  let files = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await opendir(next).catch(() => undefined);
    if (!entries) continue;
    for await (const entry of entries) {
      signal.throwIfAborted();
      if (++files > MAX_FILES) return { bytes, isWhole: false };
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else
        bytes += await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
    }
  }
  return { bytes, isWhole: true };
}

function megabytes(bytes: number): string {
  const value = bytes / MB;
  return value >= 1024 ? l10n.t('{0} GB', formatTenths(value / 1024)) : l10n.t('{0} MB', Math.ceil(value));
}
