// Marks the files that wait for review in the Explorer and on tabs.
import { l10n } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { FileMarks } from '../ui/fileMarks';
import type { ReviewIndex } from './reviewIndex';

/** None of git's letters, and the colour that VS Code has for files that its own chat edited. */
const BADGE = '◆';
const COLOR = 'chat.editedFileForeground';

export function markReview(index: ReviewIndex): Disposable {
  const lifetime = new DisposableStore();
  const marks = lifetime.add(
    new FileMarks(BADGE, COLOR, (path) => {
      const agent = index.at(path)?.conversation.agent.name;
      return agent && l10n.t('Changed by {0}, not reviewed', agent);
    }),
  );
  let marked: ReadonlyMap<string, string> = new Map();
  const draw = (): void => {
    const before = marked;
    const after = new Map(index.files.map(({ path, conversation }) => [path, conversation.agent.name]));
    marked = after;
    const touched = new Set([...before.keys(), ...after.keys()]);
    void marks.refresh([...touched].filter((path) => before.get(path) !== after.get(path)));
  };
  lifetime.add(index.onDidChange(draw));
  draw();
  return lifetime;
}
