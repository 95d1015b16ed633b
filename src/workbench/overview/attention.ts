// The number of sessions that work and that need the user, in the status bar and on the icon of the
// list.
import { l10n } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { StatusItem } from '../ui/statusItem';
import type { TreeBadge } from '../ui/treeView';

export interface AttentionCounts {
  readonly working: number;
  /** Sessions of this window that need the user, questions of other windows, and agents without a window. */
  readonly waiting: number;
  /** Of those that work or wait, the agents that no window looks at. */
  readonly background: number;
}

/** Returns the badge of the list; undefined if no session needs the user. */
export function badgeOf({ waiting }: Pick<AttentionCounts, 'waiting'>): TreeBadge | undefined {
  return waiting === 0 ? undefined : { count: waiting, tooltip: waitingLabel(waiting) };
}

/** The status bar item, shown while a session works or needs the user. */
export class AttentionStatus implements Disposable {
  #item: StatusItem | undefined;
  #shown = '';

  show({ working, waiting, background }: AttentionCounts): void {
    const next = `${working} ${waiting} ${background}`;
    if (next === this.#shown) return;
    this.#shown = next;
    if (working + waiting === 0) {
      this.#item?.dispose();
      this.#item = undefined;
      return;
    }
    this.#item ??= new StatusItem('parley.sessions');
    const goes = waiting > 0;
    this.#item.show({
      name: l10n.t('Parley Sessions'),
      text: [
        ...(working > 0 ? [{ icon: 'play-circle' }, ` ${background > 0 ? agentsLabel(working) : working}`] : []),
        ...(working > 0 && goes ? ['  '] : []),
        ...(goes ? [{ icon: 'question' }, ` ${waiting}`] : []),
      ],
      tooltip: [
        ...(working > 0 ? [workingLabel(working)] : []),
        ...(goes ? [waitingLabel(waiting)] : []),
        ...(background > 0 ? [backgroundLabel(background)] : []),
        goes ? l10n.t('Select to go to the next one.') : l10n.t('Select to show the list of sessions.'),
      ],
      command: goes
        ? { command: 'parley.nextAttention', title: l10n.t('Go to Next Session That Needs You') }
        : { command: 'parley.sessionsView.focus', title: l10n.t('Show Sessions') },
      isWarning: false,
    });
  }

  dispose(): void {
    this.#item?.dispose();
    this.#item = undefined;
  }
}

function agentsLabel(count: number): string {
  return count === 1 ? l10n.t('1 agent working') : l10n.t('{0} agents working', count);
}

function workingLabel(count: number): string {
  return count === 1 ? l10n.t('1 session is working.') : l10n.t('{0} sessions are working.', count);
}

function backgroundLabel(count: number): string {
  return count === 1 ? l10n.t('1 of them has no window.') : l10n.t('{0} of them have no window.', count);
}

function waitingLabel(count: number): string {
  return count === 1 ? l10n.t('1 session needs you.') : l10n.t('{0} sessions need you.', count);
}
