// Parses the registry of agents. Invalid entries are skipped one by one.

import coerce from 'semver/functions/coerce.js';
import compare from 'semver/functions/compare.js';
import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';
import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { at, parseMessage, wordOf } from '../../base/untrusted';

export interface PackageSource {
  readonly package: string;
  /** Default: the program with the package's name. */
  readonly cmd?: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface BinarySource {
  readonly archive: string;
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of the archive, lower-case hexadecimal. */
  readonly sha256?: string | undefined;
}

/** Texts are untrusted. */
export interface RegistryAgent {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly repository?: string | undefined;
  readonly website?: string | undefined;
  readonly authors: readonly string[];
  /** SPDX identifier, or `proprietary`. */
  readonly license?: string | undefined;
  /** URL of an SVG, possibly relative to the list's. */
  readonly icon?: string | undefined;
  readonly npx?: PackageSource | undefined;
  readonly uvx?: PackageSource | undefined;
  /** By machine, such as `linux-x86_64`. */
  readonly binary: ReadonlyMap<string, BinarySource>;
  /** The same agent in the preview channel. */
  readonly preview?: RegistryAgent | undefined;
  readonly isPreview?: true;
}

/** `problems`: why entries were skipped, for the log. */
export interface ParsedRegistry {
  readonly agents: readonly RegistryAgent[];
  readonly problems: readonly string[];
}

const MAX_ENTRIES = 2_000;
const line = z.string().check(z.minLength(1), z.maxLength(500));
const text = z.string().check(z.minLength(1), z.maxLength(4_000));
const url = z.string().check(z.maxLength(2_000), z.regex(/^https?:\/\//));
const args = z._default(z.array(z.string().check(z.maxLength(4_000))).check(z.maxLength(100)), []);
const env = z._default(
  z
    .record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,200}$/)), z.string().check(z.maxLength(4_000)))
    .check(z.refine((value) => Object.keys(value).length <= 100)),
  {},
);
const packaged = z.object({ package: line, cmd: z.optional(line), args, env });
const target = z.object({
  archive: url,
  cmd: line,
  args,
  env,
  sha256: z.optional(z.string().check(z.regex(/^[0-9a-fA-F]{64}$/))),
});
const version = z.string().check(z.maxLength(100), z.regex(/^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$/));
const distribution = z.object({
  npx: z.optional(packaged),
  uvx: z.optional(packaged),
  // Read separately: invalid targets of other platforms don't matter.
  binary: z.optional(z.record(z.string().check(z.maxLength(100)), z.unknown())),
});
const entry = z.object({
  id: z.string().check(z.maxLength(100), z.regex(/^[a-z][a-z0-9-]*$/)),
  name: line,
  version,
  description: text,
  repository: z.optional(url),
  website: z.optional(url),
  authors: z._default(z.array(line).check(z.maxLength(50)), []),
  license: z.optional(line),
  icon: z.catch(z.optional(z.string().check(z.maxLength(2_000))), undefined),
  distribution,
  preview: z.catch(z.optional(z.object({ version, distribution })), undefined),
});

/** @throws ParleyError `bad-registry`; its message quotes nothing */
export function parseRegistry(json: string): ParsedRegistry {
  let value: unknown;
  try {
    value = parseMessage(json);
  } catch {
    throw new ParleyError('bad-registry', localizable("The answer of the registry isn't JSON."));
  }
  const listed = at(value, 'agents');
  if (!Array.isArray(listed)) throw new ParleyError('bad-registry', localizable("The answer isn't a list of agents."));
  const agents = new Map<string, RegistryAgent>();
  const problems: string[] = [];
  for (const [index, one] of listed.slice(0, MAX_ENTRIES).entries()) {
    const agent = readEntry(one);
    if (typeof agent === 'string') problems.push(`agents[${index}] (${wordOf(at(one, 'id')).slice(0, 100)}): ${agent}`);
    else if (agents.has(agent.id)) problems.push(`agents[${index}] (${agent.id}): duplicate-id`);
    else agents.set(agent.id, agent);
  }
  if (listed.length > MAX_ENTRIES) problems.push(`agents[${MAX_ENTRIES}]: too-many`);
  return { agents: [...agents.values()], problems };
}

function readEntry(value: unknown): RegistryAgent | string {
  const parsed = entry.safeParse(value);
  if (!parsed.success) return problemOf(parsed.error);
  const { distribution, preview, ...facts } = parsed.data;
  const sources = readSources(distribution);
  if (!sources) return 'no-distribution';
  const others = preview && readSources(preview.distribution);
  return {
    ...facts,
    ...sources,
    ...(others && { preview: { ...facts, ...others, version: preview.version, isPreview: true } }),
  };
}

function readSources({
  npx,
  uvx,
  binary: programs = {},
}: z.infer<typeof distribution>): Pick<RegistryAgent, 'npx' | 'uvx' | 'binary'> | undefined {
  const binary = new Map<string, BinarySource>();
  for (const [machine, source] of Object.entries(programs)) {
    const read = target.safeParse(source);
    if (read.success) binary.set(machine, { ...read.data, sha256: read.data.sha256?.toLowerCase() });
  }
  return npx || uvx || binary.size > 0 ? { npx, uvx, binary } : undefined;
}

function problemOf(error: z.core.$ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.map(String).join('.').slice(0, 200) ?? ''} ${issue?.code ?? ''}`;
}

/** Most versions are semantic; `2026.11` is read as `2026.11.0`. */
export function isNewer(listed: string, installed: string): boolean {
  if (valid(listed) && valid(installed)) return gt(listed, installed);
  const [one, other] = [coerce(listed), coerce(installed)];
  const order = one && other ? compare(one, other) : 0;
  return order === 0 ? listed !== installed : order > 0;
}
