// The list of agents to add: those on this machine, and the settings for all others.
import { type Disposable, l10n } from 'vscode';
import { messageOf } from '../../base/errors';
import { openAgentSettings } from '../config/settings';
import { List, type ListRow } from '../ui/input';
import { showError } from '../ui/messages';
import type { FoundAgent, FoundAgents } from './foundAgents';

export interface AgentPickerServices {
  readonly found: FoundAgents;
  /** Configures an agent of this machine and starts a session with it. */
  readonly use: (agent: FoundAgent) => Promise<void>;
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

class AgentPicker {
  /** What the chosen row does; undefined where the user went away. */
  readonly choice: Promise<AgentRow['choose']>;
  readonly #services: AgentPickerServices;
  readonly #list = new List<AgentRow>(l10n.t('Select an agent to add'));

  constructor(services: AgentPickerServices) {
    this.#services = services;
    const list = this.#list;
    const { promise, resolve } = Promise.withResolvers<AgentRow['choose']>();
    this.choice = promise;
    const listening: readonly Disposable[] = [
      services.found.onDidChange(() => this.#draw()),
      list.onDidAccept((row) => {
        resolve(row.choose);
        list.hide();
      }),
      list.onDidHide(() => {
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
    this.#list.busy = true;
    try {
      await this.#services.found.look();
    } catch (error) {
      void showError(`Parley: ${messageOf(error)}`);
    }
    this.#list.busy = false;
  }

  #draw(): void {
    const { found, use } = this.#services;
    const here = (found.agents ?? []).map(
      (agent): AgentRow => ({
        label: [{ icon: 'vm' }, ` ${agent.name}`],
        description: agent.version,
        detail: agent.path,
        choose: () => use(agent),
      }),
    );
    const rows: AgentRow[] = [
      ...(here.length > 0 ? [{ label: l10n.t('On this machine'), separates: true } as const, ...here] : []),
      { label: l10n.t('Other agents'), separates: true },
      {
        label: [{ icon: 'gear' }, ` ${l10n.t('Configure agents…')}`],
        description: 'parley.agents',
        alwaysShow: true,
        choose: openAgentSettings,
      },
    ];
    this.#list.draw(rows, []);
  }
}
