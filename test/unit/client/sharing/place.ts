// A transcript without an agent, for sessions from elsewhere.
import type { TimedEvent } from '../../../../src/session/events/event';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';
import type { Entry, GapEntry } from '../../../../src/session/model/state';

export class Place {
  readonly model = new SessionModel();

  note(events: readonly TimedEvent[]): void {
    for (const { at, event } of events) this.model.apply(event, at);
  }

  until(holds: (texts: readonly string[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        changes.reset();
        if (holds(this.texts)) resolve();
      };
      const changes = new Changes(check);
      this.model.observe(changes);
      check();
    });
  }

  get entries(): readonly Entry[] {
    return this.model.state.entries;
  }

  get gaps(): readonly GapEntry[] {
    return this.entries.filter((entry) => entry.kind === 'gap');
  }

  get texts(): readonly string[] {
    return this.entries.map((entry) => {
      if (entry.kind === 'gap') return `gap ${entry.state}`;
      if (entry.kind !== 'user' && entry.kind !== 'agent') return entry.kind;
      const words = entry.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`));
      return `${entry.kind}: ${words.join('')}`;
    });
  }
}
