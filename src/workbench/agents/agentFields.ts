// Edits common properties of `parley.agents` entries; the rest is edited in settings.json.
import { commands, env, l10n, Range, type TextDocument, window, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { secretName } from '../../agents/agentImport';
import {
  addressProblem,
  commandProblem,
  fitsInLine,
  folderProblem,
  headerProblem,
  headerValueProblem,
  lineOf,
  nameProblem,
  variableProblem,
  wordsOf,
} from '../../agents/agentInput';
import { entryOffset } from '../../agents/settingsText';
import { isSecretName } from '../../base/redactJson';
import { within } from '../../base/within';
import { openAgentSettings } from '../config/settings';
import type { Entries } from '../registry/agentEntries';
import { askLine } from '../ui/input';
import { after, type EditorServices, type Page, type PageRow, section, showPage, withIcon } from './pages';

export const REMOTE_SCHEMES = ['wss:', 'ws:', 'https:', 'http:'] as const;
export const HTTP_SCHEMES = ['https:', 'http:'] as const;

/** Timeout for VS Code to show the settings file, ms. */
const SHOWN_MS = 10_000;

type Changes = Readonly<Record<string, unknown>>;

interface Field {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly empty?: string;
  readonly problem: (line: string) => string | undefined;
  readonly read?: (line: string) => Changes;
}

export function fieldRows(agent: AgentDefinition, services: EditorServices, back: Page): readonly PageRow[] {
  const isProgram = agent.type === 'process';
  const names = Object.keys(valuesOf(agent));
  return [
    ...fieldsOf(agent).map(
      ({ id, label, value, empty, problem, read }): PageRow => ({
        id,
        label: withIcon('edit', label),
        description: value || empty,
        go: async () => {
          const line = await askFor(label, value, problem);
          if (line !== undefined) await change(agent, read?.(line) ?? { [id]: line.trim() || undefined }, services);
          return back;
        },
      }),
    ),
    {
      id: 'values',
      label: withIcon('symbol-variable', isProgram ? l10n.t('Environment variables') : l10n.t('Headers')),
      description: names.length === 0 ? l10n.t('none') : names.join(', '),
      go: valuesPage(agent.id, services, back),
    },
    {
      id: 'json',
      label: withIcon('json', l10n.t('Edit in settings.json')),
      description: l10n.t('protocol version, access to files and terminals, and more'),
      go: after(() => openEntry(agent.id)),
    },
  ];
}

function fieldsOf(agent: AgentDefinition): readonly Field[] {
  const name: Field = { id: 'name', label: l10n.t('Name'), value: agent.name, problem: nameProblem };
  if (agent.type !== 'process') {
    const schemes = agent.type === 'remote' ? REMOTE_SCHEMES : HTTP_SCHEMES;
    return [
      name,
      { id: 'url', label: l10n.t('Address'), value: agent.url, problem: (text) => addressProblem(text, schemes) },
    ];
  }
  const words = [agent.command, ...agent.args];
  const command: Field = {
    id: 'command',
    label: l10n.t('Command and arguments'),
    value: lineOf(words),
    problem: commandProblem,
    read: (line) => {
      const [program, ...args] = wordsOf(line) ?? [];
      return { command: program, args: args.length > 0 ? args : undefined };
    },
  };
  return [
    name,
    ...(fitsInLine(words) ? [command] : []),
    {
      id: 'cwd',
      label: l10n.t('Folder'),
      value: agent.cwd ?? '',
      empty: l10n.t('folder of the session'),
      problem: folderProblem,
    },
  ];
}

async function change({ id }: AgentDefinition, changes: Changes, { registry }: EditorServices): Promise<void> {
  const { entries } = registry;
  await entries.set(id, changed(entries.all()[id], changes));
}

function changed(entry: unknown, changes: Changes): Entries {
  const before = typeof entry === 'object' && entry !== null ? (entry as Entries) : {};
  const all = Object.entries({ ...before, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

export function askFor(
  prompt: string,
  value: string,
  validate: (text: string) => string | undefined,
): Promise<string | undefined> {
  return askLine({ prompt, value, validate });
}

export async function openEntry(id?: string): Promise<void> {
  if (id === undefined) return openAgentSettings();
  const file = env.remoteName === undefined ? 'openSettingsJson' : 'openRemoteSettingsFile';
  const documentOf = (): TextDocument | undefined =>
    workspace.textDocuments.find(({ uri }) => /\/(?!\.vscode)[^/]*\/settings\.json$/.test(uri.path));
  const { promise, resolve } = Promise.withResolvers<void>();
  // VS Code reports the document shortly after showing it.
  const listening = workspace.onDidOpenTextDocument(() => documentOf() && resolve());
  await commands.executeCommand(`workbench.action.${file}`);
  if (!documentOf()) await within(SHOWN_MS, promise);
  listening.dispose();
  const document = documentOf();
  const offset = document && entryOffset(document.getText(), id);
  if (!document || offset === undefined) return;
  const start = document.positionAt(offset);
  await window.showTextDocument(document, { selection: new Range(start, start) });
}

function valuesPage(id: string, services: EditorServices, back: Page): Page {
  const again: Page = async () => {
    const agent = services.catalog.find(id);
    if (!agent) return back();
    const isProgram = agent.type === 'process';
    return showPage({
      title: agent.name,
      placeholder: isProgram ? l10n.t('Environment variables') : l10n.t('Headers'),
      back,
      rows: () => [
        ...Object.entries(valuesOf(agent)).map(
          ([name, value]): PageRow => ({
            id: `value ${name}`,
            label: withIcon('symbol-variable', name),
            description: isSecret(name, value) ? l10n.t('in plain text in your settings') : value,
            go: after(() => changeValue(agent, name, value, services), again),
          }),
        ),
        ...section('', [
          {
            id: 'add',
            label: withIcon('add', isProgram ? l10n.t('Add a variable…') : l10n.t('Add a header…')),
            go: async () => {
              const prompt = isProgram ? l10n.t('Name of the variable') : l10n.t('Name of the header');
              const name = (await askFor(prompt, '', isProgram ? variableProblem : headerProblem))?.trim();
              if (name) await changeValue(agent, name, '', services);
              return again;
            },
          },
        ]),
      ],
    });
  };
  return again;
}

function valuesOf(agent: AgentDefinition): Readonly<Record<string, string>> {
  return agent.type === 'process' ? agent.env : agent.headers;
}

function isSecret(name: string, value: string): boolean {
  return isSecretName(name) && !value.includes('${');
}

async function changeValue(
  agent: AgentDefinition,
  name: string,
  value: string,
  services: EditorServices,
): Promise<void> {
  const secret = isSecret(name, value);
  const entered = await askLine({
    prompt: secret
      ? l10n.t("Value of {0}, saved in VS Code's secret storage", name)
      : l10n.t('Value of {0}. Leave empty to remove it.', name),
    value: secret ? undefined : value,
    secret,
    validate: agent.type === 'process' ? undefined : headerValueProblem,
  });
  if (entered === undefined || (secret && entered === '')) return;
  const write = (written: string | undefined): Promise<void> => {
    const values = changed(valuesOf(agent), { [name]: written });
    const all = Object.keys(values).length === 0 ? undefined : values;
    return change(agent, { [agent.type === 'process' ? 'env' : 'headers']: all }, services);
  };
  if (!secret) return write(entered || undefined);
  if (agent.type === 'process') {
    await services.keys.save(agent, { kind: 'variable', name }, entered);
    return write(undefined);
  }
  const id = secretName(name);
  await services.remote.save(new URL(agent.url).origin, id, entered);
  return write(`\${secret:${id}}`);
}
