// Shows a whole session as Markdown in an editor, where all of it can be searched, copied and saved.
import { fileNameOfTitle } from './fileName';
import { ReadOnlyTexts } from './readOnlyTexts';

/** Each can have many megabytes. */
const MAX_KEPT = 2;

export class SessionTexts extends ReadOnlyTexts {
  constructor() {
    super('parley-session', MAX_KEPT);
  }

  show(title: string, text: string): Promise<void> {
    return this.open(`/${fileNameOfTitle(title)}.md`, text, { preview: false });
  }
}
