// A disk for a process that is killed at a certain step: from then on, nothing it does has an
// effect.
import * as fs from 'node:fs/promises';
import type { Disk } from '../../../src/changes/restore/disk';

const WRITES = {
  chmod: fs.chmod,
  mkdir: fs.mkdir,
  rename: fs.rename,
  rmdir: fs.rmdir,
  symlink: fs.symlink,
  unlink: fs.unlink,
  writeFile: fs.writeFile,
};

export class Killed extends Error {
  readonly code = 'EKILLED';
}

/**
 * Makes a disk that ends at a step that writes; of a file that is written just then, the half is
 * there. Steps count from 1.
 */
export function killedDisk(step: number): { readonly disk: Disk; readonly steps: () => number } {
  let count = 0;
  const disk: Record<string, unknown> = {
    lstat: fs.lstat,
    open: fs.open,
    readFile: fs.readFile,
    readlink: fs.readlink,
  };
  for (const [name, run] of Object.entries(WRITES)) {
    disk[name] = async (path: string, ...rest: unknown[]) => {
      count++;
      if (count === step && name === 'writeFile') {
        const [content, options] = rest as [Buffer | string, { flag?: string }];
        const bytes = Buffer.from(content as string);
        await fs.writeFile(path, bytes.subarray(0, bytes.length / 2), options);
      }
      if (count >= step) throw new Killed('killed');
      return (run as (...all: unknown[]) => Promise<unknown>)(path, ...rest);
    };
  }
  return { disk: disk as unknown as Disk, steps: () => count };
}
