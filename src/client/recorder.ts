// Applies what happens to the model and keeps it, in the same order. What an agent sends in one go is kept in one go.
import type { SessionEvent, TimedEvent } from '../session/event';
import type { SessionModel } from '../session/model';
import type { ConversationKeep } from './keep';

export class Recorder {
  readonly #model: SessionModel;
  readonly #keep: ConversationKeep | undefined;
  readonly #now: () => number;
  #together: TimedEvent[] | undefined;

  /** @param now ms since 1970 */
  constructor(model: SessionModel, keep: ConversationKeep | undefined, now: () => number) {
    this.#model = model;
    this.#keep = keep;
    this.#now = now;
  }

  /** Applies one event that happens now. */
  readonly apply = (event: SessionEvent): void => {
    this.applyAt(event, this.#now());
  };

  /** Applies one event. @param at ms since 1970 */
  applyAt(event: SessionEvent, at: number): void {
    const keep = this.#keep;
    if (!keep) {
      this.#model.apply(event, at);
      return;
    }
    if (event.type === 'permission_closed') this.#tellDecision(keep, event);
    this.#model.apply(event, at);
    if (this.#together) this.#together.push({ at, event });
    else keep.events([{ at, event }]);
    if (event.type === 'info' && event.title) keep.describe({ title: event.title });
  }

  /** Keeps all that is applied during `run` at its end. */
  together(run: () => void): void {
    if (!this.#keep || this.#together) {
      run();
      return;
    }
    const events: TimedEvent[] = [];
    this.#together = events;
    try {
      run();
    } finally {
      this.#together = undefined;
      if (events.length > 0) this.#keep.events(events);
    }
  }

  /** Who or what answered a question, and how: for whoever asks later why something was allowed. */
  #tellDecision(keep: ConversationKeep, event: Extract<SessionEvent, { type: 'permission_closed' }>): void {
    const { permissions, entries } = this.#model.state;
    const asked = permissions.get(event.permissionId);
    if (!asked) return;
    const index = asked.toolCallId === undefined ? undefined : this.#model.toolIndex(asked.toolCallId);
    const tool = index === undefined ? undefined : entries[index];
    const option = asked.options.find(({ optionId }) => optionId === event.optionId);
    keep.decided(event, {
      title: asked.title,
      ...(tool?.kind === 'tool' && { toolKind: tool.toolKind }),
      ...(option && { optionName: option.name }),
    });
  }
}
