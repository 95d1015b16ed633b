// What passes between the client and an agent process, held against the official schemas: every
// message of the client must fit, and what was driven is written down.
import { STEERING } from '../../../src/acp/proposals/steering';
import { at } from '../../../src/base/untrusted';
import { withoutLaterFields } from './laterSchema';
import { officialSchema, type SchemaName } from './officialSchema';

const proposals: ReadonlySet<string> = new Set(['session/ready', STEERING]);

/**
 * Set while a test that proves something runs: it hears of all that any of its conversations
 * drives.
 */
let listening: Set<string> | undefined;

export async function drivenBy(run: () => unknown): Promise<ReadonlySet<string>> {
  const heard = new Set<string>();
  listening = heard;
  try {
    await run();
  } finally {
    listening = undefined;
  }
  return heard;
}

export class WireAccount {
  readonly problems: string[] = [];
  /**
   * What has passed: `v1:session/load` (a request that was answered with a result, or a
   * notification), `v2:update/notice`, `v1:agent/loadSession` (a capability that the agent has
   * said), `v1:client/fs.readTextFile`.
   */
  readonly driven = new Set<string>();
  readonly #ours = new Map<string, { readonly method: string; readonly params: unknown }>();
  readonly #theirs = new Map<string, string>();
  #version: 1 | 2 = 1;

  note(dir: 'in' | 'out', line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line.replace(/^\uFEFF/, ''));
    } catch {
      if (dir === 'out') this.problems.push(`not JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (dir === 'out') this.#sent(message);
    else this.#received(message);
  }

  #sent(message: unknown): void {
    const { method, id, params } = fieldsOf(message);
    if (typeof method !== 'string') {
      this.#answered(String(id), message);
      return;
    }
    if (id !== undefined) this.#ours.set(String(id), { method, params });
    if (method === 'initialize') return; // judged when its answer tells the version
    this.#judge(method, 'params', params);
    if (id === undefined) this.#drive(method);
  }

  #received(message: unknown): void {
    const { method, id, params, result } = fieldsOf(message);
    if (typeof method === 'string') {
      if (id !== undefined) this.#theirs.set(String(id), method);
      else if (method === 'session/update') {
        const word = at(params, 'update', 'sessionUpdate');
        if (typeof word === 'string') this.#drive(`update/${word}`);
        this.#drive(method);
      } else this.#drive(method);
      return;
    }
    const asked = this.#ours.get(String(id));
    this.#ours.delete(String(id));
    if (!asked || result === undefined) return;
    if (asked.method === 'initialize') this.#initialized(asked.params, result);
    this.#drive(asked.method);
  }

  #initialized(params: unknown, result: unknown): void {
    this.#version = at(result, 'protocolVersion') === 2 ? 2 : 1;
    const offered = at(params, 'protocolVersion');
    if (offered === 1) this.#judge('initialize', 'params', params);
    else {
      // One that offers version 2 has to read as the other version too: the agent chooses.
      for (const name of ['v1', 'v2'] as const) this.#note(officialSchema(name).misfit('InitializeRequest', params));
    }
    const [theirs, ours] =
      this.#version === 2 ? ['capabilities', 'capabilities'] : ['agentCapabilities', 'clientCapabilities'];
    const schema = this.#schemas().unstable;
    for (const [side, said] of [
      ['agent', at(result, theirs as string)],
      ['client', at(params, ours as string)],
    ] as const) {
      for (const path of schema.capabilities(side)) {
        const value = at(said, ...path.split('.'));
        if (value === true || (typeof value === 'object' && value !== null)) this.#drive(`${side}/${path}`);
      }
    }
  }

  #answered(id: string, message: unknown): void {
    const method = this.#theirs.get(id);
    this.#theirs.delete(id);
    const { error, result } = fieldsOf(message);
    if (error !== undefined) {
      this.#note(this.#schemas().unstable.misfit('Error', error));
      return;
    }
    if (method === undefined) return; // answers nothing; the agents' referees judge that
    if (method.startsWith('_')) return; // an extension of the agent's own
    this.#judge(method, 'result', result);
    this.#drive(method);
  }

  #judge(method: string, part: 'params' | 'result', value: unknown): void {
    if (proposals.has(method)) return;
    const { stable, unstable } = this.#schemas();
    const definition = unstable.method(method)?.[part];
    if (definition === undefined) {
      this.problems.push(`${method}: ${unstable.name} has no such method`);
      return;
    }
    // Keys that no version has are a slip of ours; those of the unstable schema may be sent to an
    // agent that advertises them.
    const known = withoutLaterFields(this.#version, definition, value);
    this.#note(unstable.misfit(definition, known, true));
    if (stable.method(method)) this.#note(stable.misfit(definition, withoutAcpServers(known)));
  }

  #schemas(): Record<'stable' | 'unstable', ReturnType<typeof officialSchema>> {
    const name = `v${this.#version}` as SchemaName;
    return { stable: officialSchema(name), unstable: officialSchema(`${name} unstable` as SchemaName) };
  }

  #note(problem: string | undefined): void {
    if (problem !== undefined) this.problems.push(problem);
  }

  #drive(item: string): void {
    const name = `v${this.#version}:${item}`;
    this.driven.add(name);
    listening?.add(name);
  }
}

function fieldsOf(message: unknown): Partial<Record<string, unknown>> {
  return typeof message === 'object' && message !== null ? (message as Partial<Record<string, unknown>>) : {};
}

function withoutAcpServers(value: unknown): unknown {
  const servers = (value as { mcpServers?: readonly { type?: string }[] } | undefined)?.mcpServers;
  if (!servers?.some(({ type }) => type === 'acp')) return value;
  return { ...(value as object), mcpServers: servers.filter(({ type }) => type !== 'acp') };
}
