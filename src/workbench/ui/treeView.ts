// A VS Code tree view. All text is made inert here.
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

export interface TreeRow {
  /** Unique and stable. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly tooltip?: string;
  /** A codicon and a theme color. */
  readonly icon?: { readonly name: string; readonly color?: string };
  /** For screen readers, replaces label and description. */
  readonly spoken?: string;
  /** Absent for leaves. */
  readonly children?: 'open' | 'closed';
  /** For `when` clauses of menus. */
  readonly context: string;
  readonly command?: { readonly command: string; readonly title: string };
}

export interface TreeSource<T extends object> {
  children(node: T | undefined): readonly T[];
  parent(node: T): T | undefined;
  row(node: T): TreeRow;
}

export interface TreeBadge {
  readonly count: number;
  readonly tooltip: string;
}

/** A tree whose source is set when it is first shown. */
export class Tree<T extends object> implements Disposable {
  readonly #changed = new EventEmitter<T | T[] | undefined>();
  readonly #view: TreeView<T>;
  #source: TreeSource<T> | undefined;

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

  get selected(): T | undefined {
    return this.#view.selection[0];
  }

  /** Selects a visible row without focusing it. */
  select(node: T): void {
    if (!this.isVisible || this.selected === node) return;
    // Rejects if the row no longer exists.
    this.#view.reveal(node, { select: true, focus: false }).then(undefined, () => undefined);
  }

  onDidShow(listener: () => void): Disposable {
    return this.#view.onDidChangeVisibility(({ visible }) => {
      if (visible) listener();
    });
  }

  fill(source: TreeSource<T>): void {
    this.#source = source;
    this.#changed.fire(undefined);
  }

  refresh(nodes: readonly T[] | undefined): void {
    this.#changed.fire(nodes && [...nodes]);
  }

  set badge(badge: TreeBadge | undefined) {
    this.#view.badge = badge && { value: badge.count, tooltip: inert(badge.tooltip) };
  }

  set description(text: string) {
    this.#view.description = inert(text);
  }

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
