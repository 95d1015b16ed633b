// One text for each conversation in a folder, each in a file of its own that is whole or recognised as damaged.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ParleyError } from '../base/errors';
import { KeyedQueue } from '../base/keyedQueue';
import { readFramed, writeFramed } from '../distributed/framedFile';
import type { DescriptorPort } from './communicationRecord';

export class FileShelf implements DescriptorPort {
  readonly #folder: string;
  readonly #writes = new KeyedQueue<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws ParleyError `torn`, `store-error` */
  async read(key: string): Promise<string | undefined> {
    try {
      return Buffer.from((await readFramed(this.#pathOf(key))).bytes).toString('utf8');
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'not-found') return undefined;
      throw error;
    }
  }

  /** @throws ParleyError `disk-full`, `store-error` */
  async write(key: string, text: string): Promise<void> {
    await this.#writes.run(key, () => writeFramed(this.#pathOf(key), Buffer.from(text), {}, { durable: true }));
  }

  #pathOf(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.json`);
  }
}
