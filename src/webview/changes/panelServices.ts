// What the code about changed files uses of the rest of the panel. It is loaded later, as a script of
// its own, so that it can share no module that has a state with the main script.
import type { effect, ReadonlySignal } from '@preact/signals';
import type { ChangesCount, ChangesWorkView, SessionMessage, TurnView } from '../../panel/contract';

export interface PanelServices {
  /** The displayed session. */
  readonly turn: ReadonlySignal<TurnView | undefined>;
  readonly review: ReadonlySignal<ChangesCount | undefined>;
  readonly changesWork: ReadonlySignal<ChangesWorkView | undefined>;
  readonly effect: typeof effect;
  post(message: SessionMessage): void;
  announce(text: string, urgency: 'polite'): void;
  /** Returns whether the user expanded or collapsed what has this id; undefined: neither. */
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  /** The user expanded or collapsed something in the conversation: keeps `node` in view. */
  keepInView(node: Element): void;
  /** Scrolls to an item of the transcript. */
  reveal(index: number): void;
  toComposer(): void;
}

/** Set before anything else runs. */
export let panel: PanelServices;

export function connect(services: PanelServices): void {
  panel = services;
}
