// A tree view of VS Code. All text that it shows is made inert here.
import {
  type Disposable,
  EventEmitter,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeView,
  window,
} from 'vscode';
import { inert, inertLines } from './inertText';

/** A row of a tree, as it is shown. */
export interface TreeRow {
  /** Unique in the tree and stable. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly tooltip?: string;
  /** A codicon with an optional colour of the theme. */
  readonly icon?: { readonly name: string; readonly color?: string };
  /** What a screen reader says instead of label and description. */
  readonly spoken?: string;
  /** Absent: it has no rows below it. */
  readonly children?: 'open' | 'closed';
  /** For the `when` clauses of menus. */
  readonly context: string;
  /** Run with the row's node when the row is opened. */
  readonly command?: { readonly command: string; readonly title: string };
}

/** Where a tree has its rows from. */
export interface TreeSource<T extends object> {
  children(node: T | undefined): readonly T[];
  parent(node: T): T | undefined;
  row(node: T): TreeRow;
}

export interface TreeBadge {
  readonly count: number;
  readonly tooltip: string;
}

/** A tree whose rows come from a source that is there when the tree is first looked at. */
export class Tree<T extends object> implements Disposable {
  readonly #changed = new EventEmitter<T | T[] | undefined>();
  readonly #view: TreeView<T>;
  #source: TreeSource<T> | undefined;

  /** @param onWanted called when rows are asked for and there is no source; gives one, or does not */
  constructor(id: string, onWanted: () => void) {
    this.#view = window.createTreeView<T>(id, {
      showCollapseAll: true,
      treeDataProvider: {
        onDidChangeTreeData: this.#changed.event,
        getChildren: (node) => {
          if (!this.#source) onWanted();
          return [...(this.#source?.children(node) ?? [])];
        },
        getParent: (node) => this.#source?.parent(node),
        getTreeItem: (node) => (this.#source ? itemOf(this.#source.row(node), node) : new TreeItem('')),
      },
    });
  }

  get isVisible(): boolean {
    return this.#view.visible;
  }

  /** The row that is selected. */
  get selected(): T | undefined {
    return this.#view.selection[0];
  }

  onDidShow(listener: () => void): Disposable {
    return this.#view.onDidChangeVisibility(({ visible }) => {
      if (visible) listener();
    });
  }

  /** Shows the rows of a source from now on. */
  fill(source: TreeSource<T>): void {
    this.#source = source;
    this.#changed.fire(undefined);
  }

  /** Reads rows again. @param nodes those that changed; undefined: all */
  refresh(nodes: readonly T[] | undefined): void {
    this.#changed.fire(nodes && [...nodes]);
  }

  /** A number on the icon of the view. */
  set badge(badge: TreeBadge | undefined) {
    this.#view.badge = badge && { value: badge.count, tooltip: inert(badge.tooltip) };
  }

  /** What stands beside the title of the view. */
  set description(text: string) {
    this.#view.description = inert(text);
  }

  /** What stands above the rows; empty: nothing. */
  set message(text: string) {
    this.#view.message = inert(text);
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }
}

function itemOf(row: TreeRow, node: object): TreeItem {
  const { children, command, icon } = row;
  const state = children === undefined ? 'None' : children === 'open' ? 'Expanded' : 'Collapsed';
  const item = new TreeItem(inert(row.label), TreeItemCollapsibleState[state]);
  item.id = row.id;
  item.contextValue = row.context;
  if (row.description !== undefined) item.description = inert(row.description);
  if (row.tooltip !== undefined) item.tooltip = inertLines(row.tooltip);
  if (icon) item.iconPath = new ThemeIcon(icon.name, icon.color === undefined ? undefined : new ThemeColor(icon.color));
  if (row.spoken !== undefined) item.accessibilityInformation = { label: inert(row.spoken) };
  if (command) item.command = { command: command.command, title: inert(command.title), arguments: [node] };
  return item;
}
