// What the find widget uses of the rest of the panel. Its code is loaded later, as a script of its own,
// so that it can share no module that has a state with the main script.
import type { SessionMessage } from '../../panel/contract';
import type { EntryView } from '../entries/entryView';

export interface FindServices {
  /** The frame of the transcript, and the box in it that scrolls. */
  readonly frame: HTMLElement;
  readonly box: HTMLElement;
  post(message: SessionMessage): void;
  announce(text: string): void;
  /** Draws an entry completely where it can be seen. */
  draw(index: number, drawn: (view: EntryView) => void): void;
  /** Scrolls to a part of a drawn entry. */
  showPart(part: Range): void;
  setExpanded(id: string, expanded: boolean): void;
  toComposer(): void;
}
