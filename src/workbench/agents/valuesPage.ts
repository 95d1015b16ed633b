// The variables or headers of an agent: listed, added, changed and removed one by one. Values that
// look like secrets go to VS Code's secret storage.
import { l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { secretName } from '../../agents/agentImport';
import { headerProblem, headerValueProblem, variableProblem } from '../../agents/agentInput';
import { isSecretName } from '../../base/redactJson';
import { askLine, pick } from '../ui/input';
import { askFor, changed } from './agentFields';
import { type EditorServices, type Page, type PageRow, section, showPage, withIcon } from './pages';

type Values = Readonly<Record<string, string>>;

/** @param back the page of the agent */
export function valuesPage(id: string, services: EditorServices, back: Page): Page {
  const again: Page = async () => {
    const agent = services.catalog.find(id);
    if (!agent) return back();
    const isProgram = agent.type === 'process';
    return showPage({
      title: agent.name,
      placeholder: isProgram ? l10n.t('Environment variables') : l10n.t('Headers'),
      back,
      rows: () => [
        ...Object.entries(valuesOf(agent)).map(([name, value]) => valueRow(agent, name, value, services, again)),
        ...section('', [
          {
            id: 'add',
            label: withIcon('add', isProgram ? l10n.t('Add a variable…') : l10n.t('Add a header…')),
            go: async () => {
              await addValue(agent, services);
              return again;
            },
          },
        ]),
      ],
    });
  };
  return again;
}

/** The names of an agent's variables or headers, in one line. */
export function valuesText(agent: AgentDefinition): string {
  const names = Object.keys(valuesOf(agent));
  return names.length === 0 ? l10n.t('none') : names.join(', ');
}

function valuesOf(agent: AgentDefinition): Values {
  return agent.type === 'process' ? agent.env : agent.headers;
}

function valueRow(agent: AgentDefinition, name: string, value: string, services: EditorServices, again: Page): PageRow {
  const isProgram = agent.type === 'process';
  const isHidden = isSecretName(name) && !value.includes('${');
  return {
    id: `value ${name}`,
    label: withIcon('symbol-variable', name),
    description: isHidden ? l10n.t('in plain text in your settings') : value,
    go: async () => {
      const action = await pick(
        [
          { id: 'change', label: l10n.t('Change…') },
          ...(isHidden ? [{ id: 'hide', label: l10n.t('Move to the secret storage') }] : []),
          { id: 'remove', label: l10n.t('Remove') },
        ],
        name,
        { ignoreFocusOut: true },
      );
      if (action === 'change') {
        const entered = isHidden
          ? await askLine({ prompt: name, secret: true, validate: !isProgram ? headerValueProblem : undefined })
          : await askFor(name, value, isProgram ? () => undefined : headerValueProblem);
        if (entered !== undefined && !(isHidden && entered === '')) await write(agent, { [name]: entered }, services);
      }
      if (action === 'hide') await hide(agent, name, value, services);
      if (action === 'remove') await write(agent, { [name]: undefined }, services);
      return again;
    },
  };
}

async function addValue(agent: AgentDefinition, services: EditorServices): Promise<void> {
  const isProgram = agent.type === 'process';
  const prompt = isProgram ? l10n.t('Name of the variable') : l10n.t('Name of the header');
  const name = (await askFor(prompt, '', isProgram ? variableProblem : headerProblem))?.trim();
  if (!name) return;
  const validation = isProgram ? {} : { validate: headerValueProblem };
  if (!isSecretName(name)) {
    const value = await askLine({ prompt: l10n.t('Value of {0}', name), ...validation });
    if (value !== undefined) await write(agent, { [name]: value }, services);
    return;
  }
  const secret = await askLine({
    prompt: l10n.t("Value of {0}, saved in VS Code's secret storage", name),
    secret: true,
    ...validation,
  });
  if (secret) await hide(agent, name, secret, services);
}

/** Keeps a value in the secret storage and takes it out of the settings. */
async function hide(agent: AgentDefinition, name: string, value: string, services: EditorServices): Promise<void> {
  if (agent.type === 'process') {
    await services.keys.save(agent, { kind: 'variable', name }, value);
    await write(agent, { [name]: undefined }, services);
    return;
  }
  const secret = secretName(name);
  await services.remote.save(new URL(agent.url).origin, secret, value);
  await write(agent, { [name]: `\${secret:${secret}}` }, services);
}

async function write(
  agent: AgentDefinition,
  changes: Readonly<Record<string, string | undefined>>,
  { registry }: EditorServices,
): Promise<void> {
  const { entries } = registry;
  const values = changed(valuesOf(agent), changes);
  const key = agent.type === 'process' ? 'env' : 'headers';
  const all = Object.keys(values).length === 0 ? undefined : values;
  await entries.set(agent.id, changed(entries.all()[agent.id], { [key]: all }));
}
