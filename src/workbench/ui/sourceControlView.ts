// A part of VS Code's source control view, with marks in the gutter. Its texts are made inert here.
import {
  type Disposable,
  type SourceControl,
  type SourceControlResourceGroup,
  type SourceControlResourceState,
  scm,
  ThemeIcon,
  Uri,
} from 'vscode';
import { inert } from './inertText';

export interface SourceControlRow {
  /** Absolute. */
  readonly path: string;
  readonly session: string;
  readonly tooltip: string;
  readonly isDeleted: boolean;
  readonly isWarning: boolean;
  /** Gets `{session, path}`. */
  readonly command: string;
  readonly commandTitle: string;
}

export interface SourceControlGroup {
  readonly id: string;
  readonly label: string;
  readonly rows: readonly SourceControlRow[];
}

export class SourceControlView implements Disposable {
  readonly #control: SourceControl;
  readonly #groups = new Map<string, SourceControlResourceGroup>();

  /** @param original returns the version of a file that the gutter compares with */
  constructor(id: string, name: string, original: (uri: Uri) => Uri | undefined) {
    this.#control = scm.createSourceControl(id, inert(name));
    this.#control.inputBox.visible = false;
    // The files count in their own repository already.
    this.#control.count = 0;
    this.#control.quickDiffProvider = { provideOriginalResource: original };
  }

  draw(groups: readonly SourceControlGroup[]): void {
    const wanted = new Set(groups.map(({ id }) => id));
    for (const [id, group] of this.#groups) {
      if (wanted.has(id)) continue;
      group.dispose();
      this.#groups.delete(id);
    }
    for (const { id, label, rows } of groups) {
      const group = this.#groups.get(id) ?? this.#control.createResourceGroup(id, inert(label));
      group.label = inert(label);
      group.resourceStates = rows.map(stateOf);
      this.#groups.set(id, group);
    }
  }

  dispose(): void {
    for (const group of this.#groups.values()) group.dispose();
    this.#control.dispose();
  }
}

function stateOf(row: SourceControlRow): SourceControlResourceState & { readonly session: string } {
  const { path, session, tooltip, isDeleted, isWarning, command, commandTitle } = row;
  return {
    resourceUri: Uri.file(path),
    session,
    command: { command, title: inert(commandTitle), arguments: [{ session, path }] },
    decorations: {
      strikeThrough: isDeleted,
      tooltip: inert(tooltip),
      iconPath: isWarning ? new ThemeIcon('warning') : undefined,
    },
  };
}
