// What the product does with a batch of `session/update` params: routed by session, validated by the v1 reader, reduced, and noted for the webview's feed.
import { UpdateRouter } from '../../src/acp/earlyUpdates';
import { readUpdate } from '../../src/acp/v1Events';
import { Changes } from '../../src/session/changes';
import type { SessionEvent } from '../../src/session/event';
import { SessionModel } from '../../src/session/model';

/**
 * A new session with its running turn.
 * @param sessionId the session that the updates name
 * @returns a consumer of batches. It throws where an update did not fit: a benchmark that measures refusals would be fast and wrong.
 */
export function newReducer(sessionId: string): (batch: readonly unknown[]) => void {
  const model = new SessionModel();
  const changes = new Changes(() => {});
  model.observe(changes);
  const router = new UpdateRouter((sentence) => {
    throw new Error(sentence);
  });
  model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 0 }, 0);
  router.register(sessionId, (updates) => {
    const now = Date.now();
    const emit = (event: SessionEvent): void => model.apply(event, now);
    for (const update of updates) {
      const problem = readUpdate(update, emit);
      if (problem !== undefined) throw new Error(problem);
    }
  });
  return (batch) => {
    router.route(batch);
    // As the feed does once a frame; otherwise the benchmark would measure a list that grows without end.
    changes.reset();
  };
}
