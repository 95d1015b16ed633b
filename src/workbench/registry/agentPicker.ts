// The list of agents to add: those that are installed, those on this machine, those of the
// registry, and the settings for all others.
import { type Disposable, env, l10n } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { isNewer } from '../../registry/list/isNewer';
import type { RegistryAgent } from '../../registry/list/registryAgent';
import type { Listing } from '../../registry/list/registryList';
import { openAgentSettings } from '../config/settings';
import { List, type ListButton, type ListRow } from '../ui/input';
import type { AgentRegistry } from './agentRegistry';
import type { FoundAgent, FoundAgents } from './foundAgents';
import { groupInstalled, type InstalledGroup, useVersion } from './installedEntries';
import { type Ask, installAgent, removeAgent, rollBack, sizeText } from './installFlow';
import { startSession, useFoundAgent } from './useAgent';

export interface AgentPickerServices {
  readonly found: FoundAgents;
  readonly registry: AgentRegistry;
  /** Instead of VS Code's dialog. */
  readonly ask?: Ask;
}

interface AgentRow extends ListRow {
  readonly choose?: () => Promise<unknown>;
}

/** Shows the list until the user has chosen or gone away. */
export async function pickNewAgent(services: AgentPickerServices): Promise<void> {
  const picker = new AgentPicker(services);
  const choose = await picker.choice;
  await choose?.();
}

/**
 * Installs the agent of the registry that has this id.
 * @throws ParleyError `no-such-agent`, and what loading and installing throw
 */
export async function installById(id: string, { registry, ask }: AgentPickerServices): Promise<void> {
  const { agents } = await registry.load(new AbortController().signal);
  const agent = agents.find((one) => one.id === id);
  if (!agent) throw new ParleyError('no-such-agent', l10n.t('The registry has no agent “{0}”.', id));
  await installAgent(agent, registry, ask);
}

class AgentPicker {
  /** What the chosen row or button does; undefined where the user went away. */
  readonly choice: Promise<AgentRow['choose']>;
  readonly #services: AgentPickerServices;
  readonly #list = new List<AgentRow>(l10n.t('Select an agent to add'));
  readonly #abort = new AbortController();
  #installed: readonly InstalledGroup[] = [];
  #listing: Listing | undefined;
  #problem: string | undefined;

  constructor(services: AgentPickerServices) {
    this.#services = services;
    const list = this.#list;
    const { promise, resolve } = Promise.withResolvers<AgentRow['choose']>();
    this.choice = promise;
    const chosen = (choose: AgentRow['choose']): void => {
      if (!choose) return;
      resolve(choose);
      list.hide();
    };
    const listening: readonly Disposable[] = [
      services.found.onDidChange(() => this.#draw()),
      list.onDidAccept((row) => chosen(row.choose)),
      list.onDidPress(chosen),
      list.onDidHide(() => {
        this.#abort.abort();
        for (const one of listening) one.dispose();
        list.dispose();
        resolve(undefined);
      }),
    ];
    this.#draw();
    list.show();
    void this.#look();
  }

  async #look(): Promise<void> {
    const { found, registry } = this.#services;
    const { signal } = this.#abort;
    this.#list.busy = true;
    await Promise.all([
      this.#part(async () => {
        this.#installed = groupInstalled(await registry.installer.installed.list());
      }),
      this.#part(async () => {
        this.#listing = await registry.load(signal);
      }),
      this.#part(() => found.look()),
    ]);
    if (!signal.aborted) this.#list.busy = false;
  }

  /** What fails of one source does not hide the others. */
  async #part(load: () => Promise<unknown>): Promise<void> {
    try {
      await load();
    } catch (error) {
      this.#problem = messageOf(error);
    }
    if (!this.#abort.signal.aborted) this.#draw();
  }

  #draw(): void {
    const { agents = [] } = this.#listing ?? {};
    const ids = new Set(this.#installed.map(({ id }) => id));
    const sections: readonly (readonly [title: string, rows: readonly AgentRow[]])[] = [
      [l10n.t('Installed'), this.#installed.map((group) => this.#installedRow(group, agents))],
      [l10n.t('On this machine'), (this.#services.found.agents ?? []).map(foundRow)],
      [this.#registryTitle(), agents.filter(({ id }) => !ids.has(id)).map((agent) => this.#registryRow(agent))],
      [l10n.t('Other agents'), [this.#problemRow(), configureRow()].filter((row) => row !== undefined)],
    ];
    const rows = sections.flatMap(([label, rows]) =>
      rows.length === 0 ? [] : [{ label, separates: true } as const, ...rows],
    );
    this.#list.draw(rows, []);
  }

  #registryTitle(): string {
    if (this.#listing?.failure === undefined) return l10n.t('Agent registry');
    const when = new Date(this.#listing.at).toLocaleString(env.language, { dateStyle: 'medium', timeStyle: 'short' });
    return l10n.t('Agent registry, as of {0} ({1})', when, this.#listing.failure.message);
  }

  #problemRow(): AgentRow | undefined {
    if (this.#problem === undefined) return undefined;
    const label = [{ icon: 'warning' }, ` ${l10n.t("The agent registry can't be shown")}`];
    return { label, detail: this.#problem, alwaysShow: true };
  }

  #registryRow(agent: RegistryAgent): AgentRow {
    const { name, version, license, description } = agent;
    return {
      id: `registry ${agent.id}`,
      label: [{ icon: 'package' }, ` ${name}`],
      description: [version, license].filter((part) => part !== undefined).join(' · '),
      detail: description,
      choose: () => installAgent(agent, this.#services.registry, this.#services.ask),
    };
  }

  #installedRow(group: InstalledGroup, agents: readonly RegistryAgent[]): AgentRow {
    const { registry, ask } = this.#services;
    const { id, current, previous, size } = group;
    const newer = agents.find((one) => one.id === id && isNewer(one.version, current.version));
    const buttons: readonly (ListButton | undefined)[] = [
      newer && {
        icon: 'cloud-download',
        tooltip: l10n.t('Update to {0}', newer.version),
        run: () => installAgent(newer, registry, ask),
      },
      previous && {
        icon: 'discard',
        tooltip: l10n.t('Go back to {0}', previous.version),
        run: () => rollBack(group, registry),
      },
      { icon: 'trash', tooltip: l10n.t('Remove'), run: () => removeAgent(group, registry, ask) },
    ];
    const facts = [current.version, sizeText(size)];
    if (newer) facts.push(l10n.t('{0} is available', newer.version));
    return {
      id: `installed ${id}`,
      label: [{ icon: newer ? 'arrow-circle-up' : 'pass' }, ` ${current.name}`],
      description: facts.join(' · '),
      buttons: buttons.filter((button) => button !== undefined),
      choose: async () => startSession(await useVersion(current, await registry.installer.installed.versions(id))),
    };
  }
}

function foundRow(agent: FoundAgent): AgentRow {
  return {
    id: `found ${agent.id}`,
    label: [{ icon: 'vm' }, ` ${agent.name}`],
    description: agent.version,
    detail: agent.path,
    choose: () => useFoundAgent(agent),
  };
}

function configureRow(): AgentRow {
  return {
    id: 'configure',
    label: [{ icon: 'gear' }, ` ${l10n.t('Configure agents…')}`],
    description: 'parley.agents',
    alwaysShow: true,
    choose: openAgentSettings,
  };
}
