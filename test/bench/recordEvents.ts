// Sessions of earlier, kept as the product keeps them: through its recorder, so that the end of
// each can be found.
import { Recorder } from '../../src/client/conversation/recorder';
import type { TimedEvent } from '../../src/session/events/event';
import { SessionModel } from '../../src/session/model/model';
import type { JournalPersistence } from '../../src/workbench/sessions/journalPersistence';

/** Events that an agent sends in one go. */
const AT_ONCE = 50;

/** Applies and keeps events through the product's recorder, some at a time. */
export async function record(keep: JournalPersistence, events: Iterable<TimedEvent>): Promise<void> {
  let at = 0;
  const recorder = new Recorder(new SessionModel(), keep, () => at);
  let some: TimedEvent[] = [];
  const flush = (): void => {
    recorder.together(() => {
      for (const timed of some) {
        at = timed.at;
        recorder.apply(timed.event);
      }
    });
    some = [];
  };
  let count = 0;
  for (const timed of events) {
    some.push(timed);
    if (some.length < AT_ONCE) continue;
    flush();
    // The journal's timers have their turn.
    if (++count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  flush();
}
