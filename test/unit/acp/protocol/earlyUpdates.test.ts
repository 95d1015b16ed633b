// Updates that arrive before their session is known.
import { strict as assert } from 'node:assert';
import { UpdateRouter } from '../../../../src/acp/protocol/earlyUpdates';
import { retainedBytes } from '../../../support/heap';

const update = (sessionId: string, chars: number, n: number): unknown =>
  JSON.parse(
    JSON.stringify({ sessionId, update: { sessionUpdate: 'agent_message_chunk', text: 'x'.repeat(chars) + n } }),
  );

describe('updates of unknown sessions', () => {
  it('are bounded in bytes over all sessions', () => {
    const said: string[] = [];
    const router = new UpdateRouter((sentence) => said.push(sentence));
    const bytes = retainedBytes(() => {
      for (let n = 0; n < 20_000; n++) router.route([update(`child ${n % 60}`, 10_000, n)]);
      return router;
    });
    assert.ok(bytes < 25 * 1024 * 1024, `${bytes} bytes`);
    assert.ok(said.length > 0);
  });

  it('are delivered completely and in order within the bounds', () => {
    const router = new UpdateRouter(() => {});
    for (let n = 0; n < 100; n++) router.route([update('a', 1000, n)]);
    const got: unknown[] = [];
    assert.equal(
      router.register('a', (updates) => got.push(...updates)),
      100,
    );
    assert.deepEqual(
      got,
      Array.from({ length: 100 }, (_, n) => (update('a', 1000, n) as { update: unknown }).update),
    );
  });

  it('free their space when their session is registered', () => {
    const router = new UpdateRouter(() => {});
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 30; n++) router.route([update(`s${round}`, 100_000, n)]);
      assert.equal(
        router.register(`s${round}`, () => {}),
        30,
      );
    }
  });
});
