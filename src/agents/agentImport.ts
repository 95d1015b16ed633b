// Imports agents from the settings of other editors: Zed's and JetBrains' `agent_servers`, and the
// lists of other VS Code extensions. Entries are only suggested; nothing in them is trusted.
import * as l10n from '@vscode/l10n';
import { isSecretName } from '../base/redactJson';
import { at } from '../base/untrusted';
import { type AgentDefinition, parseAgents } from './agentDefinition';
import { idFrom } from './agentInput';

const MAX_AGENTS = 200;
const MAX_NAME = 100;
const MAX_ENTRY = 20_000;

export interface ImportedAgent {
  readonly id: string;
  readonly agent: AgentDefinition;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly variables: Readonly<Record<string, string>>;
  /** Secret headers; the entry refers to them as `${secret:NAME}`. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ImportResult {
  readonly agents: readonly ImportedAgent[];
  readonly skipped: readonly string[];
}

export function readAgents(value: unknown): ImportResult {
  const agents: ImportedAgent[] = [];
  const skipped: string[] = [];
  for (const [key, entry] of entriesOf(value)) {
    const read = readAgent(key, entry);
    if (typeof read === 'string') skipped.push(`${key.slice(0, MAX_NAME)}: ${read}.`);
    else agents.push(read);
  }
  return { agents, skipped };
}

function entriesOf(value: unknown): readonly (readonly [key: string, entry: unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  const all: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((entry, index) => [textAt(entry, 'id') ?? textAt(entry, 'name') ?? String(index + 1), entry])
    : Object.entries(value);
  return all.slice(0, MAX_AGENTS);
}

function readAgent(key: string, raw: unknown): ImportedAgent | string {
  const name = (textAt(raw, 'name') ?? textAt(raw, 'displayName') ?? key).trim().slice(0, MAX_NAME) || key;
  const command = at(raw, 'command');
  // The format of earlier versions of Zed.
  const nested = typeof command === 'object' ? command : raw;
  const entry = present({
    name,
    command: typeof command === 'object' ? at(command, 'path') : command,
    args: at(nested, 'args'),
    env: at(nested, 'env'),
    // Variables are not expanded: without a folder, the agent starts in the session's.
    cwd: String(at(raw, 'cwd')).includes('${') ? undefined : at(raw, 'cwd'),
    url: at(raw, 'url'),
    headers: at(raw, 'headers'),
  });
  if (entry.command === undefined && entry.url === undefined)
    return l10n.t('no command is set, as the editor installs this agent itself');
  if (JSON.stringify(entry).length > MAX_ENTRY) return l10n.t('its entry is too long');
  const [read] = parseAgents({ new: entry }).agents;
  if (!read) return l10n.t('its entry is not valid');
  const id = idFrom(textAt(raw, 'id') ?? key);
  if (read.type === 'process') {
    const { secrets, others } = divided(read.env);
    const { env: _env, ...rest } = entry;
    const clean = { ...rest, ...(Object.keys(others).length > 0 && { env: others }) };
    return { id, agent: read, entry: clean, variables: secrets, headers: {} };
  }
  const { secrets, others } = divided(read.headers);
  const named = Object.keys(secrets).map((header) => [header, `\${secret:${secretName(header)}}`]);
  const headers = { ...others, ...Object.fromEntries(named) };
  const { headers: _headers, ...rest } = entry;
  return {
    id,
    agent: read,
    entry: { ...rest, ...(Object.keys(headers).length > 0 && { headers }) },
    variables: {},
    headers: Object.fromEntries(Object.entries(secrets).map(([header, value]) => [secretName(header), value])),
  };
}

export function secretName(header: string): string {
  return header.replace(/[^\w.-]/g, '-').slice(0, 100);
}

/** Splits values into plain and secret ones. References such as `${env:KEY}` are not secrets. */
function divided(values: Readonly<Record<string, string>>): {
  readonly secrets: Readonly<Record<string, string>>;
  readonly others: Readonly<Record<string, string>>;
} {
  const isSecret = ([name, value]: [string, string]): boolean =>
    isSecretName(name) && value !== '' && !value.includes('${') && !value.startsWith('$');
  const all = Object.entries(values);
  return {
    secrets: Object.fromEntries(all.filter(isSecret)),
    others: Object.fromEntries(all.filter((pair) => !isSecret(pair))),
  };
}

function textAt(value: unknown, key: string): string | undefined {
  const text = at(value, key);
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

function present(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null));
}
