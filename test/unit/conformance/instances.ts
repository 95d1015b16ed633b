// Instances of the official schemas' definitions: minimal, maximal, and one per branch of a union.
import type { Definition, OfficialSchema } from '../../support/protocol/officialSchema';

/** Depth up to which optional fields are filled in. */
const FULL_DEPTH = 4;

export function instancesOf(schema: OfficialSchema, name: string, size: 'least' | 'all'): readonly unknown[] {
  return build(schema, schema.defs[name] ?? {}, size === 'all' ? FULL_DEPTH : 0);
}

function build(schema: OfficialSchema, definition: Definition, depth: number): unknown[] {
  if (definition.const !== undefined) return [definition.const];
  if (definition.enum) return [...definition.enum];
  if (definition.$ref) return build(schema, schema.defs[definition.$ref.split('/').at(-1) ?? ''] ?? {}, depth);
  const branches = definition.oneOf ?? definition.anyOf;
  const parts = [...(definition.allOf ?? [])].map((part) => build(schema, part, depth));
  if (branches) parts.push(branches.filter(isOpen).flatMap((branch) => build(schema, branch, depth)));
  if (definition.properties) parts.push(records(schema, definition, depth));
  if (parts.length === 0) return primitives(schema, definition, depth);
  return parts.reduce((whole, part) => joined(whole, part));
}

function isOpen(branch: Definition): boolean {
  return branch.not === undefined && branch.type !== 'null';
}

function records(schema: OfficialSchema, { properties = {}, required = [] }: Definition, depth: number): unknown[] {
  const fields = Object.entries(properties).flatMap(([key, value]): (readonly [string, readonly unknown[]])[] => {
    if (!required.includes(key) && depth <= 0) return [];
    if (key === '_meta') return [[key, [{ vendor: { note: 'kept' } }]]];
    const values = build(schema, value, required.includes(key) ? depth : depth - 1);
    return values.length > 0 ? [[key, values]] : [];
  });
  const first = Object.fromEntries(fields.map(([key, [value]]) => [key, value]));
  return [first, ...fields.flatMap(([key, [, ...others]]) => others.map((value) => ({ ...first, [key]: value })))];
}

function joined(left: readonly unknown[], right: readonly unknown[]): unknown[] {
  if (left.length === 0) return [...right];
  if (right.length === 0) return [...left];
  const merge = (one: unknown, other: unknown): unknown =>
    isRecord(one) && isRecord(other) ? { ...one, ...other } : other;
  return [...right.map((value) => merge(left[0], value)), ...left.slice(1).map((value) => merge(value, right[0]))];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function primitives(schema: OfficialSchema, definition: Definition, depth: number): unknown[] {
  const { type, items, minItems = 0, minimum = 0, maximum = 7, format } = definition;
  const [kind] = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  switch (kind) {
    case 'string':
      return [format === 'uri' ? 'https://example.org/x' : format === 'date-time' ? '2026-11-21T10:00:00Z' : 'words'];
    case 'integer':
    case 'number':
      return [Math.max(minimum, Math.min(maximum, 7))];
    case 'boolean':
      return [true, false];
    case 'array': {
      const one = items && (depth > 0 || minItems > 0) ? build(schema, items, depth - 1) : [];
      return [one];
    }
    case 'object':
      return [definition.additionalProperties ? { key: 'value' } : {}];
    default:
      return ['anything'];
  }
}
