// The files of the user with edits that wait to be made in one step.
import type { FileEdit, WorkingFile, WorkingFiles } from '../model/fileChange';
import type { Present } from './takeBack';

/** Collects edits; what is read is as if they were made. */
export class PresentFiles implements Present {
  readonly #files: WorkingFiles;
  readonly #edits = new Map<string, FileEdit>();
  #bytes = 0;

  constructor(files: WorkingFiles) {
    this.#files = files;
  }

  /** Bytes of the edits. */
  get bytes(): number {
    return this.#bytes;
  }

  async read(path: string): Promise<WorkingFile | undefined> {
    const edit = this.#edits.get(path);
    if (!edit) return this.#files.read(path);
    return edit.content && { content: edit.content, mode: edit.mode ?? '100644', isDirty: false };
  }

  /** Adds edits; a second one of a file goes on from the first. */
  add(edits: readonly FileEdit[]): void {
    for (const edit of edits) {
      const first = this.#edits.get(edit.path);
      this.#edits.set(edit.path, first ? { ...edit, expected: first.expected } : edit);
      this.#bytes += (edit.expected?.length ?? 0) + (edit.content?.length ?? 0);
    }
  }

  /** Makes the edits. @returns the paths that were refused */
  async apply(label: string): Promise<ReadonlySet<string>> {
    const edits = [...this.#edits.values()];
    this.#edits.clear();
    this.#bytes = 0;
    return new Set(edits.length > 0 ? await this.#files.apply(edits, label) : []);
  }
}
