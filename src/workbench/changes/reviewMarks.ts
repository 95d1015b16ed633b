// Marks the files that wait for review in the Explorer and on tabs.
import { l10n } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { FileMarks } from '../ui/fileMarks';
import type { ReviewIndex, WaitingFile } from './reviewIndex';

/** None of git's letters, and the colour that VS Code has for files that its own chat edited. */
const BADGE = '◆';
const COLOR = 'chat.editedFileForeground';

/** Keeps the marks as the index says. */
export class ReviewMarks implements Disposable {
  readonly #index: ReviewIndex;
  readonly #lifetime = new DisposableStore();
  readonly #marks: FileMarks;
  /** Names of agents, by absolute path. */
  #marked: ReadonlyMap<string, string> = new Map();

  constructor(index: ReviewIndex) {
    this.#index = index;
    this.#marks = this.#lifetime.add(
      new FileMarks(BADGE, COLOR, (path) => {
        const waiting = index.at(path);
        return waiting && l10n.t('Changed by {0}, not reviewed', agentOf(waiting));
      }),
    );
    this.#lifetime.add(index.onDidChange(() => this.#draw()));
    this.#draw();
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  #draw(): void {
    const before = this.#marked;
    const after = new Map(this.#index.files.map((file) => [file.path, agentOf(file)]));
    this.#marked = after;
    const touched = [...new Set([...before.keys(), ...after.keys()])];
    void this.#marks.refresh(touched.filter((path) => before.get(path) !== after.get(path)));
  }
}

function agentOf({ conversation }: WaitingFile): string {
  return conversation.agent.name;
}
