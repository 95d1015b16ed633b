// Shows in the status bar that others can reach this window, or why they cannot although they
// should.
import { type Command, type Disposable, l10n } from 'vscode';
import { StatusItem } from '../ui/statusItem';

export type ServeState =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'on';
      readonly address: string;
      readonly agents: readonly string[];
      readonly problems: readonly string[];
    }
  | { readonly kind: 'failed'; readonly why: string };

export class ServeStatus implements Disposable {
  #item: StatusItem | undefined;

  show(state: ServeState): void {
    if (state.kind === 'off') {
      this.dispose();
      return;
    }
    this.#item ??= new StatusItem('parley.server');
    if (state.kind === 'failed') showFailure(this.#item, state.why);
    else showOn(this.#item, state);
  }

  dispose(): void {
    this.#item?.dispose();
    this.#item = undefined;
  }
}

function showOn(item: StatusItem, { address, agents, problems }: Extract<ServeState, { kind: 'on' }>): void {
  const count = agents.length;
  const text =
    count === 0
      ? l10n.t('Parley: Sharing')
      : count === 1
        ? l10n.t('Parley: Serving 1 agent')
        : l10n.t('Parley: Serving {0} agents', count);
  const what = count === 0 ? l10n.t('Shared messages') : agents.join(', ');
  // The address alone is of use to callers of agents, and of none to readers of messages.
  const click =
    count === 0 ? openServerSettings() : { command: 'parley.server.copyAddress', title: l10n.t('Copy Address') };
  const hint = count === 0 ? l10n.t('Select to open the settings.') : l10n.t('Select to copy the address.');
  item.show({
    name: l10n.t('Parley Server'),
    text: [{ icon: 'radio-tower' }, ` ${text}`],
    tooltip: [l10n.t('{0} at {1}', what, address), ...problems, hint],
    command: click,
    isWarning: problems.length > 0,
  });
}

function showFailure(item: StatusItem, why: string): void {
  item.show({
    name: l10n.t('Parley Server'),
    text: [{ icon: 'warning' }, ` ${l10n.t('Parley Server: Error')}`],
    tooltip: [why, l10n.t('Select to open the settings.')],
    command: openServerSettings(),
    isWarning: true,
  });
}

function openServerSettings(): Command {
  return { title: l10n.t('Open Settings'), command: 'parley.openSettings', arguments: ['parley.server'] };
}
