// Lines of commands above lines of a file. Their titles are made inert here.
import { CodeLens, type Disposable, EventEmitter, languages, Range, type TextDocument } from 'vscode';
import { inert } from './inertText';

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
