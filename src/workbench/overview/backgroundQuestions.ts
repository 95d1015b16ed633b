// Tells the user of questions of agents without a window: at once, or when the user is back in this
// window of VS Code.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { FoundKeeper } from '../../client/transport/keepers';
import { backgroundStateOf, type RunningAgents } from './runningAgents';

export interface BackgroundQuestionsOptions {
  readonly running: Pick<RunningAgents, 'onDidAsk' | 'background'>;
  /** Returns whether this window has the focus. */
  readonly isFocused: () => boolean;
  /** Fires when this window has got or lost the focus. */
  readonly onDidChangeFocus: (listener: () => void) => Disposable;
  readonly tell: (asking: FoundKeeper) => void;
}

export class BackgroundQuestions implements Disposable {
  readonly #options: BackgroundQuestionsOptions;
  readonly #listening = new DisposableStore();
  /** Keepers of agents that asked something while this window did not have the focus. */
  readonly #untold = new Set<string>();

  constructor(options: BackgroundQuestionsOptions) {
    this.#options = options;
    this.#listening.add(options.running.onDidAsk((one) => this.#asked(one)));
    this.#listening.add(options.onDidChangeFocus(() => this.#tellUntold()));
  }

  dispose(): void {
    this.#listening.dispose();
  }

  #asked(one: FoundKeeper): void {
    if (this.#options.isFocused()) this.#options.tell(one);
    else this.#untold.add(one.id);
  }

  #tellUntold(): void {
    const { isFocused, running, tell } = this.#options;
    if (!isFocused()) return;
    const untold = new Set(this.#untold);
    this.#untold.clear();
    for (const one of running.background) if (untold.has(one.id) && backgroundStateOf(one) === 'needsYou') tell(one);
  }
}
