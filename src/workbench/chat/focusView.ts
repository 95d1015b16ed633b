// Whether the chat shows the agent's work in a turn as one line, for all sessions.
import type { Memento } from 'vscode';
import { Part } from '../../base/disposable';
import { Emitter } from '../../base/event';

const KEY = 'parley.focusView';

export class FocusView extends Part<Pick<Memento, 'get' | 'update'>> {
  readonly #changed = this.own(new Emitter<void>());
  readonly onDidChange = this.#changed.event;

  get isOn(): boolean {
    return this.options.get(KEY, false);
  }

  async set(isOn: boolean): Promise<void> {
    await this.options.update(KEY, isOn);
    this.#changed.fire();
  }
}
