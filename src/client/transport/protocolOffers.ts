// Chooses the protocol version to offer each agent. With `auto`: version 1, until a comparison
// shows that the agent loses nothing in version 2. Each version of an agent is compared once.
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { ProtocolVersion } from '../../acp/initialize';
import type { AgentDescription, AgentFeatures } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { FactStore } from '../ports/ports';

const MAX_AGENTS = 200;
const STORED_AS = 'protocolOffers';

const recordSchema = z.object({
  version: z.optional(z.string()),
  offer: z.union([z.literal(1), z.literal(2)]),
  /** Absent: version 2 was not compared yet. */
  why: z.optional(z.enum(['only', 'keeps-all', 'loses'])),
  lost: z.optional(z.array(z.string())),
  /** Services that it has done without the client. */
  alone: z.optional(z.array(z.string())),
});

type OfferRecord = z.infer<typeof recordSchema>;

export interface ProtocolChoice {
  readonly offer: ProtocolVersion;
  /** `set`: by the user. `undecided`: not compared. */
  readonly why: 'set' | 'undecided' | NonNullable<OfferRecord['why']>;
  readonly lost: readonly string[];
}

/** What an agent of version 1 may ask the client to do. */
export type ClientService = 'files' | 'terminals';

export class ProtocolOffers {
  readonly #store: FactStore;
  readonly #records: Map<string, OfferRecord>;
  readonly #comparing = new Set<string>();

  constructor(store: FactStore = new Map<string, unknown>()) {
    this.#store = store;
    const stored = z.array(z.tuple([z.string(), recordSchema])).safeParse(store.get(STORED_AS));
    this.#records = new Map(stored.data);
  }

  choiceOf(agent: AgentDefinition): ProtocolChoice {
    const { offer, why, lost = [] } = this.#records.get(keyOf(agent)) ?? { offer: configuredVersion(agent) };
    return { offer, why: why ?? (agent.protocol === 'auto' ? 'undecided' : 'set'), lost };
  }

  /**
   * The agent has accepted an offer.
   * @param version of the agent; a changed one is compared again
   */
  learned(agent: AgentDefinition, offer: ProtocolVersion, version: string | undefined): void {
    const key = keyOf(agent);
    const record = this.#records.get(key);
    if (record?.version === version && record?.offer === offer) return;
    if (record && record.version !== version) this.#begin(key, agent, version);
    else if (offer !== this.choiceOf(agent).offer) this.#setRecord(key, { version, offer, why: 'only' });
    else this.#begin(key, agent, version);
  }

  used(agent: AgentDefinition, method: string): void {
    const service = method.startsWith('fs/') ? 'files' : method.startsWith('terminal/') ? 'terminals' : undefined;
    const record = this.#autoRecord(agent);
    if (service && record && !record.lost?.includes(service)) this.#lose(agent, record, [service]);
  }

  /**
   * The agent has done something itself that the client could have done.
   * @returns whether to compare it now; {@link release} must follow
   */
  didAlone(agent: AgentDefinition, services: readonly ClientService[]): boolean {
    const record = this.#autoRecord(agent);
    if (!record || record.why !== undefined) return false;
    const { alone: earlier = [] } = record;
    const alone = [...new Set([...earlier, ...services])];
    const key = keyOf(agent);
    if (alone.length > earlier.length) this.#setRecord(key, { ...record, alone });
    if (alone.length < 2 || this.#comparing.has(key)) return false;
    this.#comparing.add(key);
    return true;
  }

  release(agent: AgentDefinition): void {
    this.#comparing.delete(keyOf(agent));
  }

  /**
   * @param inV2 the agent's description in version 2; undefined: it failed
   * @param extra features in version 1 that its description lacks
   */
  compared(agent: AgentDefinition, inV1: AgentDescription, inV2: AgentDescription | undefined, extra: string[]): void {
    const record = this.#autoRecord(agent);
    if (!record || record.version !== inV1.version) return;
    if (inV2?.protocol === 1) this.#setRecord(keyOf(agent), { ...record, why: 'only' });
    else if (!inV2) this.#lose(agent, record, ['initialize']);
    else {
      const lost = [...lostFeatures(inV1, inV2), ...extra];
      if (lost.length > 0) this.#lose(agent, record, lost);
      else this.#setRecord(keyOf(agent), { ...record, offer: 2, why: 'keeps-all' });
    }
  }

  /** The agent did not start with an offer that was chosen here. */
  failed(agent: AgentDefinition, offer: ProtocolVersion): void {
    const record = this.#autoRecord(agent);
    if (offer === 2 && record?.why === 'keeps-all') this.#lose(agent, record, ['initialize']);
  }

  /** Undefined if there is nothing to decide. */
  #autoRecord(agent: AgentDefinition): OfferRecord | undefined {
    const record = agent.protocol === 'auto' ? this.#records.get(keyOf(agent)) : undefined;
    return record?.why === 'only' ? undefined : record;
  }

  #lose(agent: AgentDefinition, record: OfferRecord, lost: readonly string[]): void {
    this.#setRecord(keyOf(agent), { ...record, offer: 1, why: 'loses', lost: [...(record.lost ?? []), ...lost] });
  }

  #setRecord(key: string, record: OfferRecord): void {
    this.#records.delete(key);
    this.#records.set(key, record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > MAX_AGENTS && oldest !== undefined) this.#records.delete(oldest);
    this.#store.set(STORED_AS, [...this.#records]);
  }

  #begin(key: string, agent: AgentDefinition, version: string | undefined): void {
    if (agent.protocol === 'auto') this.#setRecord(key, { version, offer: 1 });
    else if (this.#records.delete(key)) this.#store.set(STORED_AS, [...this.#records]);
  }
}

const IN_OTHER_FORM: Partial<Record<keyof AgentFeatures, (v2: AgentFeatures) => unknown>> = {
  load: ({ resume }) => resume?.replay,
  turnComplete: ({ states }) => states,
};

function lostFeatures(inV1: AgentDescription, inV2: AgentDescription): readonly string[] {
  const { prompt, ...features } = inV1.features;
  const names = Object.keys(features) as (keyof typeof features)[];
  const kinds = (['image', 'audio', 'embeddedContext'] as const).filter((kind) => prompt[kind]);
  const ways = new Set(inV2.authMethods.map(({ id }) => id));
  return [
    ...names.filter((name) => !(IN_OTHER_FORM[name]?.(inV2.features) ?? inV2.features[name])),
    ...kinds.filter((kind) => !inV2.features.prompt[kind]),
    ...inV1.authMethods.flatMap(({ id }) => (ways.has(id) ? [] : [id])),
  ];
}

function configuredVersion({ protocol }: AgentDefinition): ProtocolVersion {
  return protocol === 2 ? 2 : 1;
}

/** Hash of the command or address that identifies an agent; arguments can be secret. */
function keyOf(agent: AgentDefinition): string {
  const target = agent.type === 'process' ? [agent.command, ...agent.args] : [agent.url];
  const text = JSON.stringify([agent.id, agent.protocol, ...target]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
