// The official JSON Schemas of the protocol as they come with the SDK: what they name, and whether
// a message fits them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { withNewer } from './newerSchema';

export type SchemaName = 'v1' | 'v1 unstable' | 'v2' | 'v2 unstable';

export const schemaNames: readonly SchemaName[] = ['v1', 'v1 unstable', 'v2', 'v2 unstable'];

export interface Definition {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly required?: readonly string[];
  readonly items?: Definition;
  readonly minItems?: number;
  readonly anyOf?: readonly Definition[];
  readonly oneOf?: readonly Definition[];
  readonly allOf?: readonly Definition[];
  readonly not?: Definition;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly additionalProperties?: boolean | Definition;
  readonly description?: string;
  readonly 'x-method'?: string;
  readonly 'x-side'?: string;
}

export interface SchemaMethod {
  readonly method: string;
  readonly side: 'agent' | 'client' | 'both' | 'proxy';
  readonly params: string;
  readonly result?: string;
}

const require = createRequire(import.meta.url);

export class OfficialSchema {
  readonly name: SchemaName;
  readonly defs: Readonly<Record<string, Definition>>;
  readonly methods: readonly SchemaMethod[];
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();

  /** @param newer includes what only newer schemas have */
  constructor(name: SchemaName, newer: boolean) {
    const [version, unstable] = name.split(' ') as ['v1' | 'v2', string?];
    const file = `@agentclientprotocol/sdk/schema/${version}/schema.${unstable ? 'unstable.' : ''}json`;
    const schema = require(file) as { readonly $defs: Readonly<Record<string, Definition>> };
    this.name = name;
    this.defs = unstable && newer ? withNewer(version, schema.$defs) : schema.$defs;
    this.methods = methodsOf(this.defs);
    // Most test processes judge a few messages only: compiling the schemas is what takes time.
    const quick = { validateSchema: false, inlineRefs: false, code: { optimize: false } };
    this.#ajv = new Ajv2020({ strict: false, allErrors: false, logger: false, validateFormats: true, ...quick });
    addFormats.default(this.#ajv as never);
    this.#ajv.addSchema({ ...schema, $defs: this.defs }, 'protocol');
  }

  method(name: string): SchemaMethod | undefined {
    return this.methods.find(({ method }) => method === name);
  }

  /** Returns what a value violates, in words; undefined if it is valid. */
  misfit(definition: string, value: unknown, exactly = false): string | undefined {
    const key = `${definition} ${exactly}`;
    let fits = this.#compiled.get(key);
    if (!fits) {
      const $ref = `protocol#/$defs/${definition}`;
      fits = this.#ajv.compile({ $id: key, allOf: [{ $ref }], ...(exactly && { unevaluatedProperties: false }) });
      this.#compiled.set(key, fits);
    }
    if (fits(value)) return undefined;
    return `${this.name} ${definition}: ${this.#ajv.errorsText(fits.errors)} in ${JSON.stringify(value)?.slice(0, 500)}`;
  }

  get updates(): readonly string[] {
    return variantsOf(this.defs.SessionUpdate, 'sessionUpdate');
  }

  capabilities(side: 'agent' | 'client'): readonly string[] {
    return pathsOf(this.defs, side === 'agent' ? 'AgentCapabilities' : 'ClientCapabilities', [], new Set());
  }
}

const loaded = new Map<SchemaName, OfficialSchema>();

export function officialSchema(name: SchemaName): OfficialSchema {
  const known = loaded.get(name) ?? new OfficialSchema(name, true);
  loaded.set(name, known);
  return known;
}

export function sdkVersion(): string {
  const manifest = readFileSync(join(process.cwd(), 'node_modules/@agentclientprotocol/sdk/package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

export function variantsOf(union: Definition | undefined, key: string): readonly string[] {
  return (union?.oneOf ?? union?.anyOf ?? []).flatMap((variant) => {
    const word = variant.properties?.[key]?.const;
    return typeof word === 'string' ? [word] : [];
  });
}

function methodsOf(defs: Readonly<Record<string, Definition>>): readonly SchemaMethod[] {
  const methods = new Map<string, { side: SchemaMethod['side']; params?: string; result?: string }>();
  for (const [name, definition] of Object.entries(defs)) {
    const method = definition['x-method'];
    if (method === undefined) continue;
    const side = definition['x-side'] === 'protocol' ? 'both' : (definition['x-side'] as SchemaMethod['side']);
    const known = methods.get(method) ?? { side };
    if (known.side !== side) known.side = 'both';
    if (name.endsWith('Response')) known.result = name;
    else if (known.params === undefined || name.endsWith('Request')) known.params = name;
    methods.set(method, known);
  }
  return [...methods].map(([method, { side, params = '', result }]) => ({
    method,
    side,
    params,
    ...(result !== undefined && { result }),
  }));
}

export function resolve(defs: Readonly<Record<string, Definition>>, definition: Definition): Definition {
  if (definition.$ref) return resolve(defs, defs[definition.$ref.split('/').at(-1) ?? ''] ?? {});
  const inner = definition.allOf ?? definition.anyOf;
  const only = inner?.filter((one) => one.type !== 'null');
  return only?.length === 1 && only[0] ? resolve(defs, only[0]) : definition;
}

function pathsOf(
  defs: Readonly<Record<string, Definition>>,
  name: string,
  above: readonly string[],
  seen: ReadonlySet<Definition>,
): string[] {
  const definition = resolve(defs, { $ref: `#/$defs/${name}` });
  const walk = (at: Definition, path: readonly string[], inside: ReadonlySet<Definition>): string[] => {
    const keys = Object.entries(at.properties ?? {}).filter(([key]) => key !== '_meta');
    if (inside.has(at)) return [];
    const deeper = new Set([...inside, at]);
    const below = keys.flatMap(([key, value]) => walk(resolve(defs, value), [...path, key], deeper));
    return path.length > 0 ? [path.join('.'), ...below] : below;
  };
  return walk(definition, above, seen);
}
