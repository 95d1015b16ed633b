// “New Session with…”: presets, agents, and where the session works.
import { l10n, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { presetChoices } from '../../client/connection/shownChoices';
import type { Conversation } from '../../client/conversation/conversation';
import { choiceOf } from '../../client/conversation/sessionChoices';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog, type AgentOrigin } from '../config/agentCatalog';
import { MAX_PRESET_NAME, type Preset } from '../config/presets';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { askLine, type ChoiceRow, choiceFrom, List } from '../ui/input';
import { confirm, showStatus } from '../ui/messages';
import { onlyOf } from './commandSession';
import { isUnused, startInPlaceOf } from './newSessions';

const AGAIN = Symbol();

export async function selectAgent(workbench: Workbench, agent?: string): Promise<unknown> {
  if (agent !== undefined) return startWith(workbench, agent);
  for (;;) {
    const presets = presetRows(workbench);
    const list = new List<ChoiceRow>(
      presets.length > 0 ? l10n.t('Select a preset or an agent') : l10n.t('Select an agent'),
    );
    list.draw([...presets, ...agentRows(workbench)], []);
    const chosen = await (await choiceFrom(list))?.();
    if (chosen !== AGAIN) return chosen;
  }
}

async function startWith(workbench: Workbench, agent: string, preset?: Preset): Promise<void> {
  const catalog = workbench.get(AgentCatalog);
  if (!catalog.find(agent)) throw new ParleyError('no-such-agent', l10n.t('There is no agent “{0}”.', agent));
  await catalog.use(agent);
  const conversations = workbench.get(Conversations);
  const old = onlyOf(workbench.get(ChatHome).current);
  // The new session keeps the folder, unless the old one stays in its worktree or a foreign folder.
  const staysThere = old && (isUnused(old) || conversations.folders.includes(old.cwd));
  const cwd = staysThere ? old.cwd : undefined;
  await startInPlaceOf(workbench, old, conversations.create({ agent, cwd, preset }));
}

function presetRows(workbench: Workbench): readonly ChoiceRow[] {
  const catalog = workbench.get(AgentCatalog);
  const { presets } = catalog;
  const { folders } = workbench.get(Conversations);
  const shown = onlyOf(workbench.get(ChatHome).current)?.cwd;
  const folder = folders.find((one) => one === shown) ?? folders[0] ?? '';
  const usual = presets.of(folder);
  const again = (change: () => Promise<unknown>) => async () => {
    await change();
    return AGAIN;
  };
  const rows = presets.list().map((preset): ChoiceRow => {
    const { id, name, agent, choices } = preset;
    const isUsual = id === usual?.id;
    const use = isUsual
      ? l10n.t("Don't Use for New Sessions in This Folder")
      : l10n.t('Use for New Sessions in This Folder');
    return {
      id: `preset ${id}`,
      icon: isUsual ? 'pinned' : 'bookmark',
      label: name,
      description: isUsual
        ? l10n.t('{0} · for new sessions in this folder', catalog.nameOf(agent))
        : catalog.nameOf(agent),
      detail: wordsOf(choices),
      choose: () => startWith(workbench, agent, preset),
      buttons: [
        {
          icon: isUsual ? 'pinned' : 'pin',
          tooltip: use,
          run: again(() => presets.use(folder, isUsual ? undefined : id)),
        },
        {
          icon: 'edit',
          tooltip: l10n.t('Rename…'),
          run: again(async () => {
            const renamed = await askName(l10n.t('Name of the preset'), name);
            if (renamed !== undefined && (renamed === name || (await mayReplace(workbench, renamed))))
              await presets.rename(id, renamed);
          }),
        },
        { icon: 'trash', tooltip: l10n.t('Delete'), run: again(() => presets.delete(id)) },
      ],
    };
  });
  return rows.length > 0 ? [heading(l10n.t('Presets')), ...rows, heading(l10n.t('Agents'))] : [];
}

function agentRows(workbench: Workbench): readonly ChoiceRow[] {
  const catalog = workbench.get(AgentCatalog);
  const current = onlyOf(workbench.get(ChatHome).current)?.agent.id;
  const folders = workspace.workspaceFolders?.length ?? 0;
  const command = (id: string, icon: string, label: string): ChoiceRow => ({
    id,
    label: [{ icon }, ` ${label}`],
    choose: () => workbench.run(id),
  });
  const worktree = command('newSessionInWorktree', 'git-branch', l10n.t('In a worktree…'));
  const folder = command('selectFolder', 'folder', l10n.t('In another folder…'));
  return [
    ...catalog.list().map(
      (agent): ChoiceRow => ({
        id: `agent ${agent.id}`,
        label: agent.id === current ? [{ icon: 'check' }, ` ${agent.name}`] : agent.name,
        description: descriptionOf(agent, catalog.originOf(agent.id)),
        choose: () => startWith(workbench, agent.id),
      }),
    ),
    ...(folders > 0 && workspace.isTrusted ? [worktree] : []),
    ...(folders > 1 ? [folder] : []),
    command('installAgent', 'add', l10n.t('Add agent…')),
    command('manageAgents', 'gear', l10n.t('Manage agents…')),
  ];
}

function descriptionOf(agent: AgentDefinition, origin: AgentOrigin | undefined): string {
  if (origin?.kind === 'shipped') return l10n.t('scripted demo, no model');
  const what = agent.type === 'process' ? [agent.command, ...agent.args].join(' ') : new URL(agent.url).host;
  return origin?.kind === 'folder' ? l10n.t('{0} · defined in {1}', what, origin.file) : what;
}

/** Saves agent and options of a session. @throws ParleyError `no-options` */
export async function savePreset(
  workbench: Workbench,
  conversation: Conversation,
  argument: { readonly name?: string } = {},
): Promise<void> {
  const { agent, model } = conversation;
  const choices = presetChoices(model.state);
  if (choices.length === 0) throw new ParleyError('no-options', l10n.t('{0} has no options.', agent.name));
  const current = choiceOf(conversation, 'model');
  const named = current?.values.find(({ value }) => value === current.current)?.name;
  const words = l10n.t('Name of the preset: {0}, {1}', agent.name, wordsOf(choices));
  const name = argument.name ?? (await askName(words, named === undefined ? agent.name : `${agent.name} · ${named}`));
  if (name === undefined || (argument.name === undefined && !(await mayReplace(workbench, name)))) return;
  await workbench.get(AgentCatalog).presets.save(name, agent.id, choices);
  showStatus(l10n.t('Saved. “New Session with…” lists the preset.'));
}

async function mayReplace(workbench: Workbench, name: string): Promise<boolean> {
  if (!workbench.get(AgentCatalog).presets.named(name)) return true;
  return confirm(l10n.t('Replace the preset “{0}”?', name), undefined, l10n.t('Replace'));
}

async function askName(prompt: string, value: string): Promise<string | undefined> {
  const validate = (text: string): string | undefined =>
    text.trim() === '' || text.length > MAX_PRESET_NAME
      ? l10n.t('Enter a name of at most {0} characters.', MAX_PRESET_NAME)
      : undefined;
  const name = await askLine({ title: l10n.t('Preset'), prompt, value: value.slice(0, MAX_PRESET_NAME), validate });
  return name?.trim();
}

function wordsOf(choices: Preset['choices']): string {
  return choices.map(({ label }) => label).join(' · ');
}

function heading(label: string): ChoiceRow {
  return { label, separates: true };
}
