// What the product does with a batch of `session/update` params: routed by session, validated by
// the v1 reader, reduced, and noted for the webview's feed.
import { UpdateRouter } from '../../src/acp/protocol/earlyUpdates';
import { applyUpdates } from '../../src/acp/v1/v1Events';
import { silentLog } from '../../src/base/log';
import type { SessionEvent } from '../../src/session/events/event';
import { Changes } from '../../src/session/model/changes';
import { SessionModel } from '../../src/session/model/model';

/**
 * A new session with its running turn.
 * @param sessionId the session that the updates name
 * @returns a consumer of batches. It throws where an update did not fit: a benchmark that measures
 * refusals would be fast and wrong.
 */
export function newReducer(sessionId: string): (batch: readonly unknown[]) => void {
  const model = new SessionModel();
  const changes = new Changes(() => {});
  model.observe(changes);
  const router = new UpdateRouter((sentence) => {
    throw new Error(sentence);
  });
  model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 0 }, 0);
  const refuse = (why: string): never => {
    throw new Error(why);
  };
  const targets = {
    onTurnComplete: () => refuse('there is no barrier among the updates'),
    onState: () => refuse('there is no state among the updates'),
    log: { ...silentLog, warn: refuse },
  };
  router.register(sessionId, (updates) => {
    const now = Date.now();
    applyUpdates(updates, { ...targets, emit: (event: SessionEvent): void => model.apply(event, now) });
  });
  return (batch) => {
    router.route(batch);
    // As the feed does once a frame; otherwise the benchmark would measure a list that grows
    // without end.
    changes.reset();
  };
}
