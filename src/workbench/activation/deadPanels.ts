// Replaces panels of a crashed extension host. VS Code does not hand them to the new host: the tab
// shows the old page, and nothing in it works.
import { type Tab, TabInputWebview, window } from 'vscode';
import type { Disposable } from '../../base/disposable';

/** VS Code restores a front tab within this time, in ms. */
const RESTORED_MS = 3000;

export interface DeadPanelsOptions {
  readonly viewType: string;
  readonly isAlive: (tab: Tab) => boolean;
  readonly replace: (tab: Tab) => void;
}

export function watchDeadPanels({ viewType, isAlive, replace }: DeadPanelsOptions): Disposable {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const inFront = (): Tab | undefined =>
    panelTabs(viewType).find((tab) => tab.isActive && tab.group.activeTab === tab && !isAlive(tab));
  const check = (): void => {
    clearTimeout(timer);
    if (!inFront()) return;
    timer = setTimeout(() => {
      const tab = inFront();
      if (tab) replace(tab);
    }, RESTORED_MS);
  };
  const subscription = window.tabGroups.onDidChangeTabs(check);
  check();
  return {
    dispose() {
      clearTimeout(timer);
      subscription.dispose();
    },
  };
}

export function closePanelTabs(viewType: string): void {
  window.tabGroups.close(panelTabs(viewType), true).then(undefined, () => undefined);
}

function panelTabs(viewType: string): Tab[] {
  return window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof TabInputWebview && input.viewType.endsWith(`-${viewType}`));
}
