// Writes the files of an archive into a folder. Refuses the whole archive if a path leaves the
// folder, if it contains links, devices or a file twice, or if it exceeds the limits.

import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as l10n from '@vscode/l10n';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { oneLine } from '../../base/text';

/** Limits of an archive. */
export interface UnpackLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** Agents include whole runtimes: the largest known ones unpack to half a gigabyte. */
const MAX_BYTES = 4_000_000_000;
const MAX_ENTRIES = 200_000;
/** Maximum compression ratio. Programs have about 3; more suggests an attempt to fill the disk. */
const MAX_RATIO = 50;
/** Size in bytes up to which the ratio does not matter. */
const HARMLESS_BYTES = 50_000_000;

/** @param size of the archive, in bytes */
export function limitsFor(size: number): UnpackLimits {
  return { maxBytes: Math.min(MAX_BYTES, HARMLESS_BYTES + MAX_RATIO * size), maxEntries: MAX_ENTRIES };
}

const MAX_NAME = 1_000;
/** Names of devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export class UnpackTarget {
  readonly #folder: string;
  readonly #limits: UnpackLimits;
  #bytes = 0;
  #entries = 0;

  /** @param folder an empty folder of our own, absolute */
  constructor(folder: string, limits: UnpackLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Creates a folder. @throws ParleyError `evil-archive` */
  async folder(name: string): Promise<void> {
    await mkdir(this.#enter(name), { recursive: true });
  }

  /**
   * Writes a file. Resolves when it is written.
   * @throws ParleyError `evil-archive`; the reason of `signal`
   */
  async file(name: string, isExecutable: boolean, content: Readable, signal: AbortSignal): Promise<void> {
    const path = this.#enter(name);
    if (path === this.#folder) throw evil(l10n.t('it contains an invalid name (“{0}”)', oneLine(name, 100)));
    await mkdir(dirname(path), { recursive: true });
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#bytes += chunk.length;
        if (this.#bytes <= this.#limits.maxBytes) return done(null, chunk);
        return done(evil(l10n.t('it unpacks to more than {0} MB', Math.floor(this.#limits.maxBytes / 1e6))));
      },
    });
    const mode = isExecutable ? 0o755 : 0o644;
    try {
      await pipeline(content, counted, createWriteStream(path, { flags: 'wx', mode }), { signal });
    } catch (error) {
      signal.throwIfAborted();
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw evil(l10n.t('it contains “{0}” twice', oneLine(name, 100)));
      throw error;
    }
  }

  /** Returns the path for a name in the archive. */
  #enter(name: string): string {
    this.#entries += 1;
    if (this.#entries > this.#limits.maxEntries)
      throw evil(l10n.t('it contains more than {0} files', this.#limits.maxEntries));
    const parts = pathParts(name);
    if (parts === undefined) throw evil(l10n.t('it contains an invalid name (“{0}”)', oneLine(name, 100)));
    return join(this.#folder, ...parts);
  }
}

/**
 * Returns the segments of a relative path, with either kind of slash; undefined if it leaves its
 * folder.
 */
export function pathParts(name: string): readonly string[] | undefined {
  if (name.length > MAX_NAME || /[\p{Cc}:]/u.test(name) || /^[/\\]/.test(name)) return undefined;
  const parts = name.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  return parts.some((part) => part === '..' || DEVICE.test(part) || /[. ]$/.test(part)) ? undefined : parts;
}

/** Returns the error for a refused archive. @param why completes a sentence */
export function evil(why: string): ParleyError {
  return new ParleyError('evil-archive', localizable('The archive was refused: {0}.', why), {
    hint: localizable('Report this to the maker of the agent.'),
  });
}
