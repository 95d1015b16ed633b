// Facts that a keeper stores for the next window: the agent's description and the sent prompts.
// They go to the keeper in one frame with the message that they are about.
import * as z from 'zod/mini';
import type { RpcConnection } from '../../acp/jsonrpc/rpcConnection';
import { at, parsedJson } from '../../base/untrusted';
import type { TimedEvent } from '../../session/events/event';
import { type KeptAgent, type KeptSession, MAX_FACTS_BYTES } from '../ports/keptAgent';

const factsSchema = z.object({
  version: z.literal(1),
  initialize: z.unknown(),
  nextId: z.number(),
  prompts: z.record(z.string(), z.string()),
  /** Ends of texts that the journal lacks, by step. */
  heldBack: z.array(z.object({ step: z.number(), events: z.array(z.custom<TimedEvent>(isTimed)) })),
});

function isTimed(value: unknown): boolean {
  return typeof at(value, 'at') === 'number' && typeof at(value, 'event', 'type') === 'string';
}

export type KeptFacts = z.infer<typeof factsSchema>;

export function readFacts(bytes: Uint8Array | undefined): KeptFacts | undefined {
  return bytes && factsSchema.safeParse(parsedJson(Buffer.from(bytes).toString('utf8'))).data;
}

export class KeptLink implements KeptSession {
  readonly agent: KeptAgent;
  readonly detach: () => Promise<void>;
  readonly earlier: KeptSession['earlier'];
  sessionId: string | undefined;
  /** Ascending: the steps that the journal may not have reached yet, and the one before. */
  #heldBack: KeptFacts['heldBack'];
  readonly #rpc: () => RpcConnection;
  #initialize: unknown;
  /** JSON-RPC ids of sent prompts whose end the journal does not have, by prompt. */
  readonly #sentPrompts: Map<string, string>;
  #prompts: () => ReadonlyMap<string, string> = () => new Map();

  constructor(agent: KeptAgent, rpc: () => RpcConnection, detach: () => Promise<void>, facts?: KeptFacts) {
    this.earlier = facts && { prompts: new Map(Object.entries(facts.prompts)) };
    this.#sentPrompts = new Map(this.earlier?.prompts);
    this.#heldBack = facts?.heldBack ?? [];
    this.agent = agent;
    this.#rpc = rpc;
    this.detach = detach;
  }

  initialized(raw: unknown): void {
    this.#initialize = raw;
  }

  takeHeldBack(step: number): readonly TimedEvent[] {
    const last = this.#heldBack.findLast((entry) => entry.step <= step);
    this.#heldBack = last ? [last] : [];
    return last?.events ?? [];
  }

  holdBack(step: number, events: readonly TimedEvent[]): void {
    if (this.#heldBack.length === 0 && events.length === 0) return;
    this.#heldBack = [...this.#heldBack, { step, events: [...events] }];
    this.sendFacts(true);
  }

  settled(awaited: ReadonlySet<string>): readonly string[] {
    return [...this.#sentPrompts.keys()].filter((id) => !awaited.has(id));
  }

  stored(step: number, settled: readonly string[]): void {
    for (const id of settled) this.#sentPrompts.delete(id);
    const last = this.#heldBack.findLastIndex((entry) => entry.step <= step);
    if (last > 0) this.#heldBack = this.#heldBack.slice(last);
    if (this.#heldBack.length === 1 && this.#heldBack[0]?.events.length === 0) this.#heldBack = [];
  }

  promptsFrom(source: () => ReadonlyMap<string, string>): void {
    this.#prompts = source;
  }

  /**
   * Sends the facts to the keeper, with the next message.
   * @param now before anything else happens
   */
  sendFacts(now = false): void {
    if (this.#initialize === undefined) return;
    for (const [id, requestId] of this.#prompts()) this.#sentPrompts.set(id, requestId);
    const facts: KeptFacts = {
      version: 1,
      initialize: this.#initialize,
      nextId: this.#rpc().nextId,
      prompts: Object.fromEntries(this.#sentPrompts),
      heldBack: this.#heldBack,
    };
    const bytes = Buffer.from(JSON.stringify(facts));
    // An agent with an oversized description ends with its window.
    if (bytes.length <= MAX_FACTS_BYTES) this.agent.setFacts(bytes, now);
  }
}
