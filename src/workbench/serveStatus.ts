// Says in the status bar that others can reach this window while they can, and why not where they should and cannot.
import {
  type Disposable,
  l10n,
  MarkdownString,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
} from 'vscode';

/** What the local server does now. */
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
  #item: StatusBarItem | undefined;

  show(state: ServeState): void {
    if (state.kind === 'off') {
      this.dispose();
      return;
    }
    this.#item ??= window.createStatusBarItem('parley.server', StatusBarAlignment.Right);
    this.#item.name = l10n.t('Parley Server');
    if (state.kind === 'failed') showFailure(this.#item, state.why);
    else showOn(this.#item, state);
    this.#item.show();
  }

  dispose(): void {
    this.#item?.dispose();
    this.#item = undefined;
  }
}

function showOn(item: StatusBarItem, { address, agents, problems }: Extract<ServeState, { kind: 'on' }>): void {
  const count = agents.length;
  item.text =
    count === 0
      ? `$(radio-tower) ${l10n.t('Parley shares')}`
      : `$(radio-tower) ${count === 1 ? l10n.t('Parley serves 1 agent') : l10n.t('Parley serves {0} agents', count)}`;
  const what = count === 0 ? l10n.t('Shared messages') : agents.join(', ');
  item.tooltip = plain([l10n.t('{0} at {1}', what, address), ...problems, l10n.t('Click to copy the address.')]);
  item.command = 'parley.server.copyAddress';
  item.backgroundColor = problems.length > 0 ? new ThemeColor('statusBarItem.warningBackground') : undefined;
}

function showFailure(item: StatusBarItem, why: string): void {
  item.text = `$(warning) ${l10n.t('Parley does not serve')}`;
  item.tooltip = plain([why, l10n.t('Click to open the settings.')]);
  item.command = {
    title: l10n.t('Open Settings'),
    command: 'parley.openSettings',
    arguments: ['parley.server'],
  };
  item.backgroundColor = new ThemeColor('statusBarItem.warningBackground');
}

/** Ids of agents are the user's own text, yet no Markdown. */
function plain(lines: readonly string[]): MarkdownString {
  const text = new MarkdownString();
  for (const line of lines) text.appendText(`${line}\n`);
  return text;
}
