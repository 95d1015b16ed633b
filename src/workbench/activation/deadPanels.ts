// Replaces panels that no extension host owns. VS Code does not give a panel to the extension host
// that replaces a crashed one: its tab shows the old page, and nothing in it works.
import { type Tab, TabInputWebview, type ViewColumn, window } from 'vscode';
import type { Disposable } from '../../base/disposable';

/** A tab in front that VS Code means to restore is handed over long before, in milliseconds. */
const HANDED_OVER_MS = 3000;

export interface DeadPanelsOptions {
  readonly viewType: string;
  /** The tab in front is one that works. */
  readonly isAlive: () => boolean;
  /** Opens one that works in a column. */
  readonly replace: (column: ViewColumn) => void;
}

/** Watches the tabs in front. */
export function watchDeadPanels({ viewType, isAlive, replace }: DeadPanelsOptions): Disposable {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const inFront = (): Tab | undefined => panelTabs(viewType).find((tab) => tab.isActive && tab.group.activeTab === tab);
  const look = (): void => {
    clearTimeout(timer);
    if (isAlive() || !inFront()) return;
    timer = setTimeout(() => {
      const tab = inFront();
      if (tab && !isAlive()) replace(tab.group.viewColumn);
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
