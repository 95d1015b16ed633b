// Parses the setting `parley.agents`: id → agent. Entries are parsed one by one, so that an invalid
// one does not affect the others.
import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';

interface AgentCommon {
  readonly id: string;
  readonly name: string;
  readonly protocol: 'auto' | 1 | 2;
}

export interface ProcessAgent extends AgentCommon {
  readonly type: 'process';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export type AgentProgram = Pick<ProcessAgent, 'command' | 'args' | 'env'>;

export const DEMO_COMMAND = 'parley-demo';

export interface RemoteAgent extends AgentCommon {
  readonly type: 'remote';
  readonly url: string;
  /** Values may contain `${secret:NAME}`, a secret stored for the origin of the URL. */
  readonly headers: Readonly<Record<string, string>>;
  /** Access to this machine; none by default. */
  readonly allow: { readonly files: boolean; readonly terminals: boolean };
}

export interface CommunicationAgent extends AgentCommon {
  readonly type: 'communication';
  readonly url: string;
  readonly agent: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type AgentDefinition = ProcessAgent | RemoteAgent | CommunicationAgent;

export interface ParsedAgents {
  readonly agents: AgentDefinition[];
  readonly problems: string[];
}

// Functions, because the language is not known yet when this module loads.
const isText = { error: (): string => l10n.t('must be a string') };
const isFlag = { error: (): string => l10n.t('must be true or false') };
const text = z.string(isText).check(z.minLength(1, { error: () => l10n.t('must not be empty') }));
// People write `PORT` and `DEBUG` as numbers and booleans.
const scalars = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()], isText), {
  error: () => l10n.t('must be an object of strings'),
});
const common = {
  name: z.optional(text),
  protocol: z.optional(
    z.union([z.literal('auto'), z.literal(1), z.literal(2)], { error: () => l10n.t('must be "auto", 1 or 2') }),
  ),
};
const processSchema = z.object({
  ...common,
  command: text,
  args: z.optional(z.array(z.string(isText), { error: () => l10n.t('must be a list of strings') })),
  env: z.optional(scalars),
  cwd: z.optional(text),
});
const flag = z.optional(z.boolean(isFlag));
const remoteSchema = z.object({
  ...common,
  url: text,
  headers: z.optional(scalars),
  allow: z.optional(z.object({ files: flag, terminals: flag }, { error: () => l10n.t('must be an object') })),
});
const communicationSchema = z.object({ ...common, url: text, agent: text, headers: z.optional(scalars) });
const kindSchema = z.looseObject({ type: z.optional(z.string(isText)) });

/**
 * Parses `parley.agents`. Ignores unknown keys, as other editors use the same entries (`"type":
 * "custom"`). Never throws: invalid entries are skipped and reported.
 */
export function parseAgents(setting: unknown): ParsedAgents {
  const agents: AgentDefinition[] = [];
  const problems: string[] = [];
  if (setting === undefined || setting === null) return { agents, problems };
  if (typeof setting !== 'object' || Array.isArray(setting)) {
    return { agents, problems: ['The setting parley.agents must be an object from ids to agents.'] };
  }
  for (const [id, entry] of Object.entries(setting)) {
    const parsed = parseAgent(id, entry);
    if (typeof parsed === 'string') problems.push(`The agent "${id}" in parley.agents was skipped: ${parsed}.`);
    else agents.push(parsed);
  }
  return { agents, problems };
}

export function withDemo(agent: AgentDefinition, demo: AgentProgram): AgentDefinition {
  if (agent.type !== 'process' || agent.command !== DEMO_COMMAND) return agent;
  const { command, args, env } = demo;
  return { ...agent, command, args: [...args, ...agent.args], env: { ...env, ...agent.env } };
}

export function entryProblem(id: string, entry: unknown): string | undefined {
  const parsed = parseAgent(id, entry);
  return typeof parsed === 'string' ? parsed : undefined;
}

function parseAgent(id: string, entry: unknown): AgentDefinition | string {
  if (id.trim() === '') return l10n.t('its id is empty');
  const kind = kindSchema.safeParse(entry);
  if (!kind.success) return problemOf(kind.error);
  const { type, command, url } = kind.data;
  if (type === 'communication') return parseCommunication(id, entry);
  if (type !== undefined && type !== 'custom') return l10n.t('its type "{0}" is not "custom" or "communication"', type);
  if (command !== undefined && url !== undefined) return l10n.t('it has both a command and a url');
  if (command === undefined && url === undefined) return l10n.t('it needs a command or a url');
  return url === undefined ? parseProcess(id, entry) : parseRemote(id, entry);
}

function parseProcess(id: string, entry: unknown): AgentDefinition | string {
  const parsed = processSchema.safeParse(entry);
  if (!parsed.success) return problemOf(parsed.error);
  const { command, args = [], env = {}, cwd } = parsed.data;
  return {
    ...commonOf(id, parsed.data),
    type: 'process',
    command,
    args,
    env: strings(env),
    cwd,
  };
}

function parseRemote(id: string, entry: unknown): AgentDefinition | string {
  const parsed = remoteSchema.safeParse(entry);
  if (!parsed.success) return problemOf(parsed.error);
  const { url, headers = {}, allow } = parsed.data;
  const problem = urlProblem(url, ['ws:', 'wss:', 'http:', 'https:']);
  return (
    problem ?? {
      ...commonOf(id, parsed.data),
      type: 'remote',
      url,
      headers: strings(headers),
      allow: { files: allow?.files ?? false, terminals: allow?.terminals ?? false },
    }
  );
}

function parseCommunication(id: string, entry: unknown): AgentDefinition | string {
  const parsed = communicationSchema.safeParse(entry);
  if (!parsed.success) return problemOf(parsed.error);
  const { url, agent, headers = {} } = parsed.data;
  const problem = urlProblem(url, ['http:', 'https:']);
  return problem ?? { ...commonOf(id, parsed.data), type: 'communication', url, agent, headers: strings(headers) };
}

function commonOf(id: string, data: { name?: string | undefined; protocol?: 'auto' | 1 | 2 | undefined }): AgentCommon {
  return { id, name: data.name ?? id, protocol: data.protocol ?? 'auto' };
}

function strings(record: Readonly<Record<string, string | number | boolean>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, String(value)]));
}

function urlProblem(url: string, schemes: readonly string[]): string | undefined {
  const scheme = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (scheme === undefined) return l10n.t('its url is not a URL');
  return schemes.includes(scheme)
    ? undefined
    : l10n.t('its url must begin with {0}', schemes.map((one) => `${one}//`).join(', '));
}

function problemOf(error: z.core.$ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join('.') ?? '';
  if (path === '') return l10n.t('it must be an object');
  return l10n.t('its "{0}" {1}', path, issue?.message ?? '');
}
