// What a keeper holds for the next window: how to talk to the agent, and which
// prompts have left. It goes to the keeper in one frame with the message that it is about.
import * as z from 'zod/mini';
import type { RpcConnection } from '../../acp/jsonrpc/rpcConnection';
import { type KeptAgent, type KeptSession, MAX_FACTS_BYTES } from '../ports/keptAgent';

const factsSchema = z.object({
  version: z.literal(1),
  /** The agent's answer to `initialize`. */
  initialize: z.unknown(),
  /** The id of the next request. */
  nextId: z.number(),
  /** JSON-RPC ids of prompts without an answer, by prompt. */
  prompts: z.record(z.string(), z.string()),
});

export type KeptFacts = z.infer<typeof factsSchema>;

/** Reads the facts that an earlier window has left; undefined where they are not of this form. */
export function readFacts(bytes: Uint8Array | undefined): KeptFacts | undefined {
  if (!bytes) return undefined;
  try {
    return factsSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}

export class KeptLink implements KeptSession {
  readonly agent: KeptAgent;
  readonly detach: () => Promise<void>;
  readonly earlier: KeptSession['earlier'];
  sessionId: string | undefined;
  readonly #rpc: () => RpcConnection;
  #initialize: unknown;
  #prompts: () => ReadonlyMap<string, string> = () => new Map();

  /** @param detach lets go of the agent and closes the connection */
  constructor(
    agent: KeptAgent,
    rpc: () => RpcConnection,
    detach: () => Promise<void>,
    earlier?: KeptSession['earlier'],
  ) {
    this.earlier = earlier;
    this.agent = agent;
    this.#rpc = rpc;
    this.detach = detach;
  }

  /** The agent has answered `initialize`. */
  initialized(raw: unknown): void {
    this.#initialize = raw;
  }

  promptsFrom(source: () => ReadonlyMap<string, string>): void {
    this.#prompts = source;
  }

  /** Tells the keeper what it has to hold; with the message that leaves next, if any. */
  tell(): void {
    if (this.#initialize === undefined) return;
    const facts: KeptFacts = {
      version: 1,
      initialize: this.#initialize,
      nextId: this.#rpc().nextId,
      prompts: Object.fromEntries(this.#prompts()),
    };
    const bytes = Buffer.from(JSON.stringify(facts));
    // An agent that describes itself in a megabyte ends with its window.
    if (bytes.length <= MAX_FACTS_BYTES) this.agent.setFacts(bytes);
  }
}
