// What the transcript needs from the panel.
import type { Anchor, SessionMessage } from '../../panel/contract';

export interface TranscriptOptions {
  post(message: SessionMessage): void;
  /** Requests a call of `render` in the next frame. */
  invalidate(): void;
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  /** The scroll position changed: the first visible item, or null at the end. */
  onAnchor(anchor: Anchor | null): void;
  /** The permission requests out of view. */
  onHiddenPermissions(ids: readonly string[]): void;
  announce(text: string, urgency: 'polite' | 'assertive'): void;
  /** There is nothing left to answer: focuses the composer. */
  toComposer(): void;
}

/** The list of what the running turn has changed so far. */
export interface RunningChanges {
  readonly element: HTMLElement;
  has(turnId: string): boolean;
  /** Shows a file in the list. */
  seek(file: string): void;
}
