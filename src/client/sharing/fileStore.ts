// Stores one text per conversation, in a file that is either complete or detected as damaged.
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import type { DescriptorPort } from '../http/communicationRecord';
import { diskError, readFramed, writeFramed } from '../ports/resources';

const NAME = /^[0-9a-f]{40}\.json$/;

export class FileStore implements DescriptorPort {
  readonly #folder: string;
  readonly #writes = new KeyedQueue<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws ParleyError `torn`, `store-error` */
  async read(key: string): Promise<string | undefined> {
    try {
      return Buffer.from((await readFramed(this.pathOf(key))).bytes).toString('utf8');
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'not-found') return undefined;
      throw error;
    }
  }

  /** @throws ParleyError `disk-full`, `store-error` */
  async write(key: string, text: string): Promise<void> {
    await this.#writes.run(key, () => writeFramed(this.pathOf(key), Buffer.from(text), {}, { durable: true }));
  }

  /** Ignores missing texts. @throws ParleyError `store-error` */
  async remove(key: string): Promise<void> {
    await this.#writes.run(key, () =>
      rm(this.pathOf(key), { force: true }).catch((error: unknown) => {
        throw diskError(error);
      }),
    );
  }

  /** Skips damaged texts. @throws ParleyError `store-error` */
  async *texts(): AsyncGenerator<string, void, undefined> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw diskError(error);
    });
    for (const name of names.filter((each) => NAME.test(each))) {
      const content = await readFramed(join(this.#folder, name)).catch((error: unknown) => {
        // Damaged, or removed since it was listed.
        if (error instanceof ParleyError && (error.code === 'torn' || error.code === 'not-found')) return undefined;
        throw error;
      });
      if (content) yield Buffer.from(content.bytes).toString('utf8');
    }
  }

  pathOf(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.json`);
  }
}
