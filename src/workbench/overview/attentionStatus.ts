// The number of sessions that work and that need the user, in the status bar and on the list.
import { l10n } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { StatusItem } from '../ui/statusItem';
import type { Tree } from '../ui/treeView';
import type { ActiveSessions } from './activeSessions';

export class AttentionStatus implements Disposable {
  readonly #active: ActiveSessions;
  readonly #tree: Pick<Tree<never>, 'badge'>;
  readonly #lifetime = new DisposableStore();
  #item: StatusItem | undefined;
  #drawn = '';

  constructor(active: ActiveSessions, tree: Pick<Tree<never>, 'badge'>) {
    this.#active = active;
    this.#tree = tree;
    this.#lifetime.add(active.onDidChange(() => this.#draw()));
  }

  #draw(): void {
    const [working, asking] = [this.#active.in('working'), this.#active.in('needsYou')];
    const waiting = asking.length;
    const background = [...working, ...asking].filter(({ where }) => where === 'background').length;
    const next = `${working.length} ${waiting} ${background}`;
    if (next === this.#drawn) return;
    this.#drawn = next;
    this.#tree.badge = waiting === 0 ? undefined : { count: waiting, tooltip: waitingLabel(waiting) };
    if (working.length + waiting === 0) {
      this.#item?.dispose();
      this.#item = undefined;
      return;
    }
    this.#item ??= new StatusItem('parley.sessions');
    const count = background > 0 ? agentsLabel(working.length) : working.length;
    this.#item.show({
      name: l10n.t('Parley Sessions'),
      text: [
        ...(working.length > 0 ? [{ icon: 'play-circle' }, ` ${count}`] : []),
        ...(working.length > 0 && waiting > 0 ? ['  '] : []),
        ...(waiting > 0 ? [{ icon: 'question' }, ` ${waiting}`] : []),
      ],
      tooltip: [
        ...(working.length > 0 ? [workingLabel(working.length)] : []),
        ...(waiting > 0 ? [waitingLabel(waiting)] : []),
        ...(background > 0 ? [backgroundLabel(background)] : []),
        waiting > 0 ? l10n.t('Select to go to the next one.') : l10n.t('Select to show the list of sessions.'),
      ],
      command:
        waiting > 0
          ? { command: 'parley.nextAttention', title: l10n.t('Go to Next Session That Needs You') }
          : { command: 'parley.sessionsView.focus', title: l10n.t('Show Sessions') },
      isWarning: false,
    });
  }

  dispose(): void {
    this.#lifetime.dispose();
    this.#item?.dispose();
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
