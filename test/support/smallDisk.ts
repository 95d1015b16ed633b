// A folder on a separate, small disk, for tests that fill it; needs root on Linux.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static mount(folder: string, megabytes: number): SmallDisk | string {
    if (process.platform !== 'linux') return 'no tmpfs here';
    mkdirSync(folder, { recursive: true });
    const { status, stderr, error } = mount('-o', `size=${megabytes}m,mode=700`, '-t', 'tmpfs', 'tmpfs', folder);
    return status === 0 ? new SmallDisk(folder) : `a disk cannot be mounted: ${error?.message ?? stderr}`;
  }

  grow(megabytes: number): void {
    const { status, stderr } = mount('-o', `remount,size=${megabytes}m`, this.#folder);
    if (status !== 0) throw new Error(stderr);
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.#folder]);
  }
}

function mount(...args: readonly string[]) {
  return spawnSync('mount', args, { encoding: 'utf8' });
}
