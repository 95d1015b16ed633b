// Decorations, lenses, comments and groups of files in VS Code's views. Texts are made inert here.
import { setImmediate } from 'node:timers/promises';
import {
  CodeLens,
  type Comment,
  type CommentAuthorInformation,
  CommentMode,
  type CommentThread,
  CommentThreadCollapsibleState,
  comments,
  EventEmitter,
  l10n,
  languages,
  Range,
  type SourceControl,
  type SourceControlResourceGroup,
  type SourceControlResourceState,
  scm,
  type TextDocument,
  ThemeColor,
  ThemeIcon,
  Uri,
  window,
} from 'vscode';
import { Configured, type Disposable } from '../../base/disposable';
import { inert } from './inertText';

/** VS Code drops further files of an event. */
const MAX_AT_ONCE = 250;

/** Subject to VS Code's `explorer.decorations` settings. */
export class FileMarks implements Disposable {
  readonly #changed = new EventEmitter<Uri[]>();
  readonly #registration: Disposable;

  /** @param badge at most two characters @param color theme color id */
  constructor(badge: string, color: string, tooltipOf: (path: string) => string | undefined) {
    this.#registration = window.registerFileDecorationProvider({
      onDidChangeFileDecorations: this.#changed.event,
      provideFileDecoration: ({ scheme, fsPath }) => {
        const tooltip = scheme === 'file' ? tooltipOf(fsPath) : undefined;
        if (tooltip === undefined) return undefined;
        // Marks parent folders too, like git.
        return { badge, color: new ThemeColor(color), tooltip: inert(tooltip), propagate: true };
      },
    });
  }

  async refresh(paths: readonly string[]): Promise<void> {
    for (let at = 0; at < paths.length; at += MAX_AT_ONCE) {
      this.#changed.fire(paths.slice(at, at + MAX_AT_ONCE).map((path) => Uri.file(path)));
      await setImmediate();
    }
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

export interface Lens {
  /** 0-based. */
  readonly line: number;
  readonly title: string;
  readonly command: string;
  readonly argument: object;
}

export class Lenses implements Disposable {
  readonly #changed = new EventEmitter<void>();
  readonly #registration: Disposable;

  constructor(provide: (document: TextDocument) => Promise<readonly Lens[]>) {
    this.#registration = languages.registerCodeLensProvider(
      { scheme: 'file' },
      {
        onDidChangeCodeLenses: this.#changed.event,
        provideCodeLenses: async (document) => (await provide(document)).map((lens) => lensOf(lens, document)),
      },
    );
  }

  refresh(): void {
    this.#changed.fire();
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

function lensOf({ line, title, command, argument }: Lens, { lineCount }: TextDocument): CodeLens {
  const at = Math.max(0, Math.min(line, lineCount - 1));
  return new CodeLens(new Range(at, 0, at, 0), { command, title: inert(title), arguments: [argument] });
}

export interface SourceControlRow {
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

  constructor(id: string, name: string, original: (uri: Uri) => Uri | undefined) {
    this.#control = scm.createSourceControl(id, inert(name));
    this.#control.inputBox.visible = false;
    // The files are already counted in their repository.
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

interface CommentThreadsOptions {
  readonly id: string;
  readonly label: string;
  readonly prompt: string;
  readonly isOffered: (uri: Uri) => boolean;
}

/** Passed to its buttons as an argument. */
export class OwnComment implements Comment {
  readonly mode = CommentMode.Preview;
  readonly author: CommentAuthorInformation = { name: l10n.t('You') };
  /** VS Code shows strings as plain text. */
  readonly body: string;
  readonly thread: CommentThread;

  constructor(body: string, thread: CommentThread) {
    this.body = body;
    this.thread = thread;
  }
}

export function addComments(bodies: readonly string[], thread: CommentThread): void {
  thread.comments = [...thread.comments, ...bodies.map((body) => new OwnComment(body, thread))];
  thread.collapsibleState = CommentThreadCollapsibleState.Expanded;
}

export class CommentThreads extends Configured<CommentThreadsOptions> implements Disposable {
  readonly #controller: ReturnType<typeof comments.createCommentController>;

  constructor(options: CommentThreadsOptions) {
    super(options);
    const { id, label, prompt } = options;
    this.#controller = comments.createCommentController(id, label);
    this.#controller.options = { prompt, placeHolder: prompt };
    this.offer();
  }

  offer(): void {
    const { isOffered } = this.options;
    // Assigning it makes VS Code query again.
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: ({ uri, lineCount }: TextDocument) =>
        isOffered(uri) ? [new Range(0, 0, Math.max(0, lineCount - 1), 0)] : [],
    };
  }

  restore(uri: Uri, range: Range, bodies: readonly string[], label: string | undefined): CommentThread {
    const thread = this.#controller.createCommentThread(uri, range, []);
    addComments(bodies, thread);
    if (label !== undefined) thread.label = label;
    return thread;
  }

  dispose(): void {
    this.#controller.dispose();
  }
}
