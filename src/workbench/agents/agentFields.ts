// The properties of an entry of `parley.agents`, each with its own input box.
import { l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import {
  addressProblem,
  argumentsProblem,
  commandProblem,
  fitsInLine,
  folderProblem,
  lineOf,
  nameProblem,
  wordsOf,
} from '../../agents/agentInput';
import type { Entries } from '../registry/agentEntries';
import { askLine, pick } from '../ui/input';

export const REMOTE_SCHEMES = ['wss:', 'ws:', 'https:', 'http:'] as const;
export const HTTP_SCHEMES = ['https:', 'http:'] as const;

/** Changes of an entry; undefined removes the property. */
export type Changes = Readonly<Record<string, unknown>>;

/** The value of `protocol` that leaves the choice to Parley. */
const AUTO = 'auto';

export interface Field {
  readonly id: string;
  readonly label: string;
  /** Label of the value. */
  readonly value: string;
  /** Asks for another value. @returns undefined if the user cancelled */
  readonly ask: () => Promise<Changes | undefined>;
}

/** Returns the properties that fit into one box or list. */
export function fieldsOf(agent: AgentDefinition): readonly Field[] {
  return [
    lineField('name', l10n.t('Name'), agent.name, nameProblem),
    ...(agent.type === 'process' ? programFields(agent) : addressFields(agent)),
    ...(agent.type === 'communication' ? [] : [protocolField(agent)]),
  ];
}

/** Returns an entry with changes. Other properties keep their order. */
export function changed(entry: unknown, changes: Changes): Entries {
  const before = typeof entry === 'object' && entry !== null ? (entry as Entries) : {};
  const all = Object.entries({ ...before, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

function programFields(agent: Extract<AgentDefinition, { type: 'process' }>): readonly Field[] {
  const { command, args, cwd = '' } = agent;
  return [
    ...(fitsInLine([command])
      ? [
          {
            ...lineField('command', l10n.t('Command'), lineOf([command]), oneWordProblem),
            ask: async (): Promise<Changes | undefined> => {
              const line = await askFor(l10n.t('Command'), lineOf([command]), oneWordProblem);
              return line === undefined ? undefined : { command: wordsOf(line)?.[0] };
            },
          },
        ]
      : []),
    ...(fitsInLine(args)
      ? [
          {
            id: 'args',
            label: l10n.t('Arguments'),
            value: lineOf(args),
            ask: async (): Promise<Changes | undefined> => {
              const line = await askFor(
                l10n.t('Arguments, with quotation marks around spaces'),
                lineOf(args),
                argumentsProblem,
              );
              if (line === undefined) return undefined;
              const words = wordsOf(line) ?? [];
              return { args: words.length === 0 ? undefined : words };
            },
          },
        ]
      : []),
    lineField('cwd', l10n.t('Folder'), cwd, folderProblem, l10n.t('folder of the session')),
  ];
}

function addressFields(agent: Exclude<AgentDefinition, { type: 'process' }>): readonly Field[] {
  const schemes = agent.type === 'remote' ? REMOTE_SCHEMES : HTTP_SCHEMES;
  const address = lineField('url', l10n.t('Address'), agent.url, (text) => addressProblem(text, schemes));
  if (agent.type === 'communication')
    return [address, lineField('agent', l10n.t('Name on the server'), agent.agent, nameProblem)];
  const { allow } = agent;
  const allowField = (what: 'files' | 'terminals', label: string): Field => ({
    id: `allow.${what}`,
    label,
    value: allow[what] ? l10n.t('allowed') : l10n.t('not allowed'),
    ask: async () => {
      const items = [
        { id: 'no', label: l10n.t('Not allowed'), picked: !allow[what] },
        { id: 'yes', label: l10n.t('Allowed'), picked: allow[what] },
      ];
      const chosen = await pick(items, label, { ignoreFocusOut: true });
      return chosen === undefined ? undefined : { allow: { ...allow, [what]: chosen === 'yes' } };
    },
  });
  return [
    address,
    allowField('files', l10n.t('Files of the workspace')),
    allowField('terminals', l10n.t('Commands on this machine')),
  ];
}

function protocolField({ protocol }: AgentDefinition): Field {
  return {
    id: 'protocol',
    label: l10n.t('Protocol version'),
    value: String(protocol),
    ask: async () => {
      const items = [
        { id: AUTO, label: AUTO, description: l10n.t('recommended'), picked: protocol === AUTO },
        { id: '1', label: '1', picked: protocol === 1 },
        { id: '2', label: '2', description: l10n.t('experimental draft'), picked: protocol === 2 },
      ];
      const chosen = await pick(items, l10n.t('Protocol version'), { ignoreFocusOut: true });
      if (chosen === undefined) return undefined;
      return { protocol: chosen === AUTO ? undefined : Number(chosen) };
    },
  };
}

/** @param empty what is shown in place of no value */
function lineField(
  id: string,
  label: string,
  value: string,
  problem: (text: string) => string | undefined,
  empty = '',
): Field {
  return {
    id,
    label,
    value: value || empty,
    ask: async () => {
      const line = await askFor(label, value, problem);
      return line === undefined ? undefined : { [id]: line.trim() || undefined };
    },
  };
}

export function askFor(
  prompt: string,
  value: string,
  validate: (text: string) => string | undefined,
): Promise<string | undefined> {
  return askLine({ prompt, value, validate });
}

/** A path with spaces is one word in quotation marks. */
function oneWordProblem(line: string): string | undefined {
  const words = wordsOf(line) ?? [];
  return (
    commandProblem(line) ??
    (words.length > 1 ? l10n.t('Put a path with spaces in quotation marks. Arguments have their own row.') : undefined)
  );
}
