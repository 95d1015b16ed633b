// What the card about the time away uses of the rest of the panel. Its code is loaded later, as a
// script of its own, so that it can share no module that has a state with the main script.
import type { ReadonlySignal } from '@preact/signals';
import type { SessionMessage } from '../../panel/contract';

export interface AwayServices {
  /** The frame of the transcript; the card stands above it. */
  readonly frame: HTMLElement;
  /** What the session waits for, as the header says it. */
  readonly status: ReadonlySignal<string>;
  /** Whether a question waits for the user. */
  readonly isAsked: ReadonlySignal<boolean>;
  effect(run: () => void): () => void;
  post(message: SessionMessage): void;
  announce(text: string): void;
  /** Scrolls to an entry of the transcript and focuses it. */
  goTo(index: number): void;
  toQuestion(): void;
  toComposer(): void;
  /** Makes a change that does not move what is being read. */
  keepPlace(change: () => void): void;
}
