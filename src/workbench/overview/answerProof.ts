// Proves that an answer was given in a window of this user. Any process of the user can write to the
// journal, including agents. The key is in VS Code's secret storage.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretStorage } from 'vscode';

const KEY = 'parley.inboxKey';

export interface SignedAnswer {
  readonly key: string;
  readonly id: string;
  readonly windowId: string;
  readonly json: string;
  /** Index among its choices. */
  readonly choice: number;
}

export class AnswerProof {
  readonly #secrets: Pick<SecretStorage, 'get' | 'store'>;

  constructor(secrets: Pick<SecretStorage, 'get' | 'store'>) {
    this.#secrets = secrets;
  }

  async prepare(): Promise<void> {
    await this.#key();
  }

  async sign(answer: SignedAnswer): Promise<string> {
    return proofOf(await this.#key(), answer).toString('hex');
  }

  async verify(answer: SignedAnswer, proof: string): Promise<boolean> {
    const expected = proofOf(await this.#key(), answer);
    const given = Buffer.from(proof, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  /** Reads the key each time, as another window may have created it. */
  async #key(): Promise<string> {
    const known = await this.#secrets.get(KEY);
    if (known !== undefined && /^[0-9a-f]{64}$/.test(known)) return known;
    const made = randomBytes(32).toString('hex');
    await this.#secrets.store(KEY, made);
    return (await this.#secrets.get(KEY)) ?? made;
  }
}

function proofOf(secret: string, { key, id, windowId, json, choice }: SignedAnswer): Buffer {
  const digest = createHash('sha256').update(json).digest('hex');
  const signed = JSON.stringify(['answer', key, id, windowId, digest, choice]);
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(signed).digest();
}
