// Converts MCP servers in the format of VS Code's mcp.json
// (https://code.visualstudio.com/docs/copilot/reference/mcp-configuration) to what an agent
// receives: variables replaced, commands absolute. An invalid entry does not affect the others.

import { basename, resolve } from 'node:path';
import * as z from 'zod/mini';
import type { McpServer } from '../../acp/protocol/dialect';
import { errorText, ParleyError } from '../../base/errors';
import { isHeaderName, isHeaderValue } from '../../base/httpHeader';
import { framed, type LocalizableText, localizable, withoutFullStop } from '../../base/localizable';
import { head } from '../../base/text';
import { own } from '../../base/untrusted';

/** Shell line that runs a program in a folder: `$0` is the folder, the rest the program. */
const IN_FOLDER = 'cd -- "$0" && exec "$@"';

const MAX_SERVERS = 100;

const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const stdioSchema = z.object({
  type: z.optional(z.literal('stdio')),
  command: z.string().check(z.minLength(1)),
  args: z.optional(z.array(z.string())),
  env: z.optional(z.record(z.string(), z.nullable(z.union([z.string(), z.number(), z.boolean()])))),
  envFile: z.optional(z.string()),
  cwd: z.optional(z.string()),
});
const remoteSchema = z.object({
  type: z.optional(z.enum(['http', 'sse'])),
  url: z.string(),
  headers: z.optional(texts),
});
const inputSchema = z.object({
  id: z.string(),
  type: z.string(),
  description: z.optional(z.string()),
  password: z.optional(z.boolean()),
  default: z.optional(z.string()),
  options: z.optional(z.array(z.string())),
});

export type McpInput = z.infer<typeof inputSchema>;

export type McpEntry = { readonly name: string } & (z.infer<typeof stdioSchema> | z.infer<typeof remoteSchema>);

export interface McpConfig {
  readonly entries: readonly McpEntry[];
  readonly inputs: readonly McpInput[];
  readonly problems: readonly LocalizableText[];
}

export interface McpSurroundings {
  readonly workspaceFolder: string;
  readonly userHome: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: (id: string) => Promise<string | undefined>;
  readonly resolve: (command: string) => Promise<string>;
  readonly platform: string;
}

export function parseMcpConfig(value: unknown): McpConfig {
  const { servers = {}, inputs = [] } = (typeof value === 'object' && value !== null ? value : {}) as {
    servers?: unknown;
    inputs?: unknown;
  };
  const entries: McpEntry[] = [];
  const problems: LocalizableText[] = [];
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) {
    return { entries, inputs: [], problems: [localizable('“servers” must be an object from names to servers.')] };
  }
  for (const [name, entry] of Object.entries(servers).slice(0, MAX_SERVERS)) {
    const isRemote = typeof entry === 'object' && entry !== null && 'url' in entry;
    const parsed = (isRemote ? remoteSchema : stdioSchema).safeParse(entry);
    if (parsed.success) entries.push({ name, ...parsed.data });
    else {
      const issue = parsed.error.issues[0];
      const field = issue?.path.map(String).join('.') || 'it';
      problems.push(framed('{0}: {1}: {2}.', name, field, issue?.message ?? localizable('invalid')));
    }
  }
  const asked = (Array.isArray(inputs) ? inputs.slice(0, MAX_SERVERS) : []).flatMap((input) => {
    const parsed = inputSchema.safeParse(input);
    return parsed.success ? [parsed.data] : [];
  });
  return { entries, inputs: asked, problems };
}

export interface McpSource {
  readonly folder: string;
  readonly config: McpConfig;
  readonly isOfUser?: true;
}

/**
 * Returns a unique name for each server, since agents keep one of each name. A folder can't replace
 * a user's server, so its own of that name is absent; a second folder's gets the folder's name.
 */
export function serverNames(sources: readonly McpSource[]): ReadonlyMap<McpEntry, string> {
  const names = new Map<McpEntry, string>();
  const ofUser = new Set(
    sources.flatMap(({ config, isOfUser }) => (isOfUser ? config.entries.map(({ name }) => name) : [])),
  );
  const taken = new Set<string>();
  for (const { folder, config, isOfUser } of sources) {
    const usable = config.entries.filter(({ name }) => isOfUser || !ofUser.has(name));
    const isFree = new Set(usable.map(({ name }) => name).filter((name) => !taken.has(name)));
    for (const name of isFree) taken.add(name);
    for (const entry of usable) {
      let name = entry.name;
      for (let count = 1; !isFree.has(entry.name) && taken.has(name); count++)
        name = `${entry.name}-${basename(folder)}${count > 1 ? `-${count}` : ''}`;
      taken.add(name);
      names.set(entry, name);
    }
  }
  return names;
}

/** @throws Error with the reason that it can't be used (protocol.md 1.13) */
async function toMcpServer(entry: McpEntry, surroundings: McpSurroundings): Promise<McpServer> {
  const { name } = entry;
  const fill = (text: string): Promise<string> => fillIn(text, surroundings);
  const fillAll = async (record: Readonly<Record<string, unknown>> = {}): Promise<Record<string, string>> => {
    const filled: [string, string][] = [];
    for (const [key, value] of Object.entries(record))
      if (value !== null) filled.push([key, await fill(String(value))]);
    return Object.fromEntries(filled);
  };
  if ('url' in entry) {
    const url = await fill(entry.url);
    if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol))
      throw new ParleyError('mcp-invalid', localizable("its url doesn't begin with http: or https:"));
    const headers = await fillAll(entry.headers);
    for (const [header, value] of Object.entries(headers)) {
      if (!isHeaderName(header) || !isHeaderValue(value))
        throw new ParleyError('mcp-invalid', localizable("the header “{0}” can't be set", head(header, 50)));
    }
    return { name, type: entry.type ?? 'http', url, headers };
  }
  if (entry.envFile !== undefined)
    throw new ParleyError('mcp-invalid', localizable("envFile isn't supported; use env"));
  const args: string[] = [];
  for (const arg of entry.args ?? []) args.push(await fill(arg));
  const env = await fillAll(entry.env);
  const command = await surroundings.resolve(await fill(entry.command));
  if (entry.cwd === undefined) return { name, type: 'stdio', command, args, env };
  // The protocol has no such field, and agents start servers in a folder of their choice.
  if (surroundings.platform === 'win32')
    throw new ParleyError('mcp-invalid', localizable("cwd isn't supported on Windows"));
  const cwd = resolve(surroundings.workspaceFolder, await fill(entry.cwd));
  return { name, type: 'stdio', command: '/bin/sh', args: ['-c', IN_FOLDER, cwd, command, ...args], env };
}

/** One at a time, as the user may be asked. */
export async function toMcpServers(
  entries: readonly McpEntry[],
  surroundings: McpSurroundings,
): Promise<{ servers: McpServer[]; problems: LocalizableText[] }> {
  const servers: McpServer[] = [];
  const problems: LocalizableText[] = [];
  for (const entry of entries) {
    try {
      servers.push(await toMcpServer(entry, surroundings));
    } catch (error) {
      problems.push(framed('{0}: {1}.', entry.name, withoutFullStop(errorText(error))));
    }
  }
  return { servers, problems };
}

async function fillIn(text: string, surroundings: McpSurroundings): Promise<string> {
  let filled = '';
  let from = 0;
  for (const found of text.matchAll(/\$\{([^}]*)\}/g)) {
    filled += text.slice(from, found.index) + (await meaningOf(found[1] ?? '', surroundings));
    from = found.index + found[0].length;
  }
  return filled + text.slice(from);
}

async function meaningOf(variable: string, surroundings: McpSurroundings): Promise<string> {
  const { workspaceFolder, userHome, env, input } = surroundings;
  if (variable === 'workspaceFolder') return workspaceFolder;
  if (variable === 'userHome') return userHome;
  const [, kind, key = ''] = /^(env|input):(.*)$/.exec(variable) ?? [];
  if (kind === 'env') return own(env, key) ?? '';
  if (kind !== 'input') throw new ParleyError('mcp-invalid', localizable('unknown variable {0}', `\${${variable}}`));
  const value = await input(key);
  if (value === undefined) throw new ParleyError('mcp-invalid', localizable('no value for the input “{0}”', key));
  return value;
}
