// Marks of files in VS Code's Explorer and on tabs. Their tooltips are made inert here.
import { setImmediate } from 'node:timers/promises';
import { type Disposable, EventEmitter, ThemeColor, Uri, window } from 'vscode';
import { inert } from './inertText';

/** Files of one event: VS Code drops what is beyond. */
const MAX_AT_ONCE = 250;

/** Marks files until it is disposed. VS Code's `explorer.decorations` settings apply. */
export class FileMarks implements Disposable {
  readonly #changed = new EventEmitter<Uri[]>();
  readonly #registration: Disposable;

  /**
   * @param badge at most two characters
   * @param color an id of VS Code's theme
   * @param tooltipOf returns the tooltip of a file by its absolute path; undefined: it has no mark
   */
  constructor(badge: string, color: string, tooltipOf: (path: string) => string | undefined) {
    this.#registration = window.registerFileDecorationProvider({
      onDidChangeFileDecorations: this.#changed.event,
      provideFileDecoration: ({ scheme, fsPath }) => {
        const tooltip = scheme === 'file' ? tooltipOf(fsPath) : undefined;
        if (tooltip === undefined) return undefined;
        // As of git and of VS Code's own chat, a folder shows that there are such files in it.
        return { badge, color: new ThemeColor(color), tooltip: inert(tooltip), propagate: true };
      },
    });
  }

  /** Has the marks of files (absolute paths) drawn again, in slices. */
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
