// Marks of files in VS Code's Explorer and on tabs. Their tooltips are made inert here.
import { setImmediate } from 'node:timers/promises';
import { type Disposable, EventEmitter, ThemeColor, Uri, window } from 'vscode';
import { inert } from './inertText';

/** VS Code drops more files of one event. */
const MAX_AT_ONCE = 250;

/** VS Code's `explorer.decorations` settings apply. */
export class FileMarks implements Disposable {
  readonly #changed = new EventEmitter<Uri[]>();
  readonly #registration: Disposable;

  /**
   * @param badge at most two characters
   * @param color id of a theme color
   * @param tooltipOf by absolute path; undefined: no mark
   */
  constructor(badge: string, color: string, tooltipOf: (path: string) => string | undefined) {
    this.#registration = window.registerFileDecorationProvider({
      onDidChangeFileDecorations: this.#changed.event,
      provideFileDecoration: ({ scheme, fsPath }) => {
        const tooltip = scheme === 'file' ? tooltipOf(fsPath) : undefined;
        if (tooltip === undefined) return undefined;
        // Folders are marked too, as by git.
        return { badge, color: new ThemeColor(color), tooltip: inert(tooltip), propagate: true };
      },
    });
  }

  /** @param paths absolute */
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
