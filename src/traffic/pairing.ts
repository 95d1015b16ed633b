// Finds the request that a response answers.
import type { TrafficRow } from '../panel/trafficContract';
import type { LineFacts } from './readRow';
import type { TrafficEntry } from './trafficLog';

/** Maximum requests without a response: an agent may never answer. */
const MAX_OPEN = 5_000;

interface OpenRequest {
  readonly seq: number;
  readonly at: number;
  readonly method: string;
}

export class Pairing {
  readonly #open = new Map<string, OpenRequest>();

  get size(): number {
    return this.#open.size;
  }

  pair(
    { seq, at, key, kind }: Pick<TrafficEntry, 'seq' | 'at' | 'key' | 'kind'>,
    facts: LineFacts,
  ): Partial<Pick<TrafficRow, 'method' | 'ms' | 'request'>> {
    if (facts.kind === 'request') {
      const name = nameOf(key, kind, facts);
      // A restarted agent uses the same ids again: the newest request counts.
      this.#open.delete(name);
      this.#open.set(name, { seq, at, method: facts.method });
      const [oldest] = this.#open.keys();
      if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
      return {};
    }
    if (facts.kind !== 'response') return {};
    const name = nameOf(key, kind === 'in' ? 'out' : 'in', facts);
    const request = this.#open.get(name);
    if (!request) return {};
    this.#open.delete(name);
    return { method: request.method, ms: Math.max(0, at - request.at), request: request.seq };
  }

  clear(): void {
    this.#open.clear();
  }
}

/** Requests to an HTTP agent have no id. Some agents answer "1" to 1. */
function nameOf(key: string, sender: string, { id, method }: LineFacts): string {
  return JSON.stringify(id === undefined ? [key, sender, null, method] : [key, sender, id]);
}
