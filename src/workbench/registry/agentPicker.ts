// The list of agents to add: installed, found on this machine, and in the registry.
import { commands, type Disposable, l10n } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { formatTime } from '../../base/localFormat';
import { at, own } from '../../base/untrusted';
import type { Icons } from '../../registry/list/agentIcons';
import { svgImage } from '../../registry/list/plainSvg';
import type { RegistryAgent } from '../../registry/list/registryAgent';
import type { Listing } from '../../registry/list/registryList';
import { type ChoiceRow, choiceFrom, List, type ThemedImage } from '../ui/input';
import type { AgentEntries } from './agentEntries';
import type { AgentRegistry } from './agentRegistry';
import type { FoundAgent, FoundAgents } from './foundAgents';
import { groupInstalled, type InstalledGroup, useVersion } from './installedEntries';
import { type Ask, actionsOf, installAgent, newerOf, sizeText, startSession, versionText } from './installFlow';

const ON_LIGHT = '#424242';
const ON_DARK = '#C5C5C5';

interface AgentPickerServices {
  readonly found: FoundAgents;
  readonly registry: AgentRegistry;
  readonly ask?: Ask;
}

/** @param wanted initial filter: a registry id, or the part of it before “-” */
export async function pickNewAgent(services: AgentPickerServices, wanted?: string): Promise<void> {
  const picker = new AgentPicker(services, wanted);
  const choose = await picker.choice;
  await choose?.();
}

export async function installById(id: string, { registry, ask }: AgentPickerServices): Promise<void> {
  const { agents } = await registry.load(new AbortController().signal);
  const agent = agents.find((one) => one.id === id);
  if (!agent) throw new ParleyError('no-such-agent', l10n.t('The registry has no agent “{0}”.', id));
  await installAgent(agent, registry, ask);
}

class AgentPicker {
  readonly choice: Promise<ChoiceRow['choose']>;
  readonly #services: AgentPickerServices;
  readonly #list = new List<ChoiceRow>(l10n.t('Select an agent to add'));
  readonly #abort = new AbortController();
  #installed: readonly InstalledGroup[] = [];
  #listing: Listing | undefined;
  #icons: ReadonlyMap<string, ThemedImage> = new Map();
  #problem: string | undefined;

  constructor(services: AgentPickerServices, wanted?: string) {
    this.#services = services;
    const listening: readonly Disposable[] = [
      services.found.onDidChange(() => this.#draw()),
      this.#list.onDidHide(() => {
        this.#abort.abort();
        for (const one of listening) one.dispose();
      }),
    ];
    this.#draw();
    this.choice = choiceFrom(this.#list);
    void this.#load(wanted);
  }

  async #load(wanted: string | undefined): Promise<void> {
    const { found, registry } = this.#services;
    const { signal } = this.#abort;
    this.#list.busy = true;
    await Promise.all([
      this.#loadPart(async () => {
        this.#installed = groupInstalled(await registry.installer.installed.list(), registry.entries);
      }),
      this.#loadPart(async () => {
        const listing = await registry.load(signal);
        this.#listing = listing;
        const { agents } = listing;
        const listedAgent =
          agents.find(({ id }) => id === wanted) ?? agents.find(({ id }) => id.startsWith(`${wanted}-`));
        if (listedAgent) this.#list.search(listedAgent.name);
        // The list doesn't wait for icons.
        void this.#loadPart(() => registry.loadIcons(listing, signal, (icons) => this.#decorate(icons)));
      }),
      this.#loadPart(() => found.search()),
    ]);
    if (!signal.aborted) this.#list.busy = false;
  }

  /** Errors of one source do not hide the others. */
  async #loadPart(load: () => Promise<unknown>): Promise<void> {
    try {
      await load();
    } catch (error) {
      this.#problem = messageOf(error);
    }
    if (!this.#abort.signal.aborted) this.#draw();
  }

  #decorate(icons: Icons): void {
    const image = (svg: string): ThemedImage => ({ light: svgImage(svg, ON_LIGHT), dark: svgImage(svg, ON_DARK) });
    this.#icons = new Map([...icons].map(([id, svg]) => [id, image(svg)]));
    if (!this.#abort.signal.aborted) this.#draw();
  }

  #draw(): void {
    const { agents = [] } = this.#listing ?? {};
    const ids = new Set(this.#installed.map(({ id }) => id));
    const sections: readonly (readonly [title: string, rows: readonly ChoiceRow[]])[] = [
      [l10n.t('Installed'), this.#installed.map((group) => this.#installedRow(group, agents))],
      [l10n.t('On this machine'), (this.#services.found.agents ?? []).map((agent) => this.#foundRow(agent))],
      [this.#registryTitle(), agents.filter(({ id }) => !ids.has(id)).map((agent) => this.#registryRow(agent))],
      [l10n.t('Other agents'), [this.#problemRow(), manageRow()].filter((row) => row !== undefined)],
    ];
    const rows = sections.flatMap(([label, rows]) =>
      rows.length === 0 ? [] : [{ label, separates: true } as const, ...rows],
    );
    this.#list.draw(rows, []);
  }

  #registryTitle(): string {
    if (this.#listing?.failure === undefined) return l10n.t('Agent registry');
    const when = formatTime(this.#listing.at);
    return l10n.t('Agent registry, as of {0} ({1})', when, this.#listing.failure.message);
  }

  #problemRow(): ChoiceRow | undefined {
    if (this.#problem === undefined) return undefined;
    const label = l10n.t("The agent registry can't be shown");
    return { icon: 'warning', label, detail: this.#problem, alwaysShow: true };
  }

  #registryRow(agent: RegistryAgent): ChoiceRow {
    const { name, version, license, description, preview } = agent;
    const { registry, ask } = this.#services;
    return {
      id: `registry ${agent.id}`,
      icon: this.#icons.get(agent.id) ?? 'package',
      label: name,
      description: [version, license].filter((part) => part !== undefined).join(' · '),
      detail: description,
      choose: () => installAgent(agent, registry, ask),
      buttons: preview && [
        {
          icon: 'beaker',
          tooltip: l10n.t('Install preview {0}', preview.version),
          run: () => installAgent(preview, registry, ask),
        },
      ],
    };
  }

  #installedRow(group: InstalledGroup, agents: readonly RegistryAgent[]): ChoiceRow {
    const { registry, ask } = this.#services;
    const { id, current, size } = group;
    const newer = newerOf(group, agents);
    const facts = [versionText(current), sizeText(size)];
    if (newer) facts.push(l10n.t('{0} is available', versionText(newer)));
    return {
      id: `installed ${id}`,
      icon: newer ? 'arrow-circle-up' : (this.#icons.get(id) ?? 'pass'),
      label: current.name,
      description: facts.join(' · '),
      buttons: actionsOf(group, agents, registry, ask),
      choose: async () => {
        const versions = await registry.installer.installed.versions(id);
        await startSession(await useVersion(current, versions, registry.entries));
      },
    };
  }

  #foundRow(agent: FoundAgent): ChoiceRow {
    return {
      id: `found ${agent.id}`,
      icon: 'vm',
      label: agent.name,
      description: agent.version,
      detail: agent.adapters ? l10n.t('{0} (needs an adapter from the registry)', agent.path) : agent.path,
      choose: () => useFoundAgent(agent, this.#services.registry, this.#services.ask),
    };
  }
}

function manageRow(): ChoiceRow {
  return {
    id: 'manage',
    icon: 'gear',
    label: l10n.t('Manage agents…'),
    alwaysShow: true,
    choose: async () => commands.executeCommand('parley.manageAgents'),
  };
}

/**
 * Uses the user's entry for the program, or adds one, with an adapter if agreed.
 * @throws ParleyError `no-adapter`, or as {@link installAgent}
 */
export async function useFoundAgent(found: FoundAgent, registry: AgentRegistry, ask?: Ask): Promise<void> {
  if (found.adapters) return useAdapter(found, found.adapters, registry, ask);
  return useProgram(found, registry.entries);
}

async function useProgram({ id, name, command, args }: FoundAgent, entries: AgentEntries): Promise<void> {
  const all = entries.all();
  if (at(own(all, id), 'command') === command) return startSession(id);
  const free = entries.freeId(id);
  await entries.set(free, { name, command, args });
  await startSession(free);
}

async function useAdapter(
  { name }: FoundAgent,
  adapters: readonly string[],
  registry: AgentRegistry,
  ask: Ask | undefined,
): Promise<void> {
  for (const id of adapters) {
    const versions = await registry.installer.installed.versions(id);
    const [newest] = versions;
    if (newest) return startSession(await useVersion(newest, versions, registry.entries));
  }
  const { agents } = await registry.load(new AbortController().signal);
  const adapter = agents.find(({ id }) => adapters.includes(id));
  if (!adapter) {
    throw new ParleyError('no-adapter', l10n.t("The agent registry doesn't list an adapter for {0}.", name), {
      hint: l10n.t('Install the adapter yourself, then add it with Parley: Manage Agents….'),
    });
  }
  await installAgent(adapter, registry, ask);
}
