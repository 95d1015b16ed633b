// Replaces panels that no extension host owns. VS Code does not give a panel to the extension host
// that replaces a crashed one: its tab shows the old page, and nothing in it works.
import { type Tab, TabInputWebview, window } from 'vscode';
import type { Disposable } from '../../base/disposable';

/** A tab in front that VS Code means to restore is handed over long before, in milliseconds. */
const HANDED_OVER_MS = 3000;

export interface DeadPanelsOptions {
  readonly viewType: string;
  /** Returns whether the tab in front is one that works. */
  readonly isAlive: (tab: Tab) => boolean;
  /** Opens one that works in its place, or closes it. */
  readonly replace: (tab: Tab) => void;
}

/** Watches the tabs in front. */
export function watchDeadPanels({ viewType, isAlive, replace }: DeadPanelsOptions): Disposable {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const inFront = (): Tab | undefined =>
    panelTabs(viewType).find((tab) => tab.isActive && tab.group.activeTab === tab && !isAlive(tab));
  const look = (): void => {
    clearTimeout(timer);
    if (!inFront()) return;
    timer = setTimeout(() => {
      const tab = inFront();
      if (tab) replace(tab);
    }, HANDED_OVER_MS);
  };
  const watching = window.tabGroups.onDidChangeTabs(look);
  look();
  return {
    dispose() {
      clearTimeout(timer);
      watching.dispose();
    },
  };
}

/** Closes all tabs of a kind of panel; one that VS Code has closed meanwhile is no error. */
export function closePanelTabs(viewType: string): void {
  window.tabGroups.close(panelTabs(viewType), true).then(undefined, () => undefined);
}

function panelTabs(viewType: string): Tab[] {
  return (
    window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      // VS Code puts the name of its own channel before the type.
      .filter(({ input }) => input instanceof TabInputWebview && input.viewType.endsWith(`-${viewType}`))
  );
}
