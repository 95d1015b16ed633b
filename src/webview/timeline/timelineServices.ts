// What the timeline uses of the rest of the panel. Its code is loaded later, as a script of its own,
// so that it can share no module that has a state with the main script.
import type { SessionMessage } from '../../panel/contract';

export interface TimelineServices {
  /** The frame of the transcript. */
  readonly frame: HTMLElement;
  post(message: SessionMessage): void;
  /** Scrolls to an entry of the transcript and focuses it. */
  goTo(index: number): void;
  toComposer(): void;
}
