// Shows the whole output of a tool call in an editor, where the panel shows only part of it.
import { fileNameOfTitle } from './fileName';
import { columnBesideChat } from './openLocation';
import { ReadOnlyTexts } from './readOnlyTexts';

/** Each can have a megabyte. */
const MAX_KEPT = 10;

export class OutputEditor extends ReadOnlyTexts {
  constructor() {
    super('parley-output', MAX_KEPT);
  }

  /** @param title of the tool call */
  show(title: string, text: string): Promise<void> {
    const [line = ''] = title.split('\n', 1);
    return this.open(`/${fileNameOfTitle(line)}.log`, text, { preview: true, viewColumn: columnBesideChat() });
  }
}
