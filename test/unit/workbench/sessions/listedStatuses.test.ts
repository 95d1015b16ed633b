// How often the session list queries agents.
import { strict as assert } from 'node:assert';
import { setImmediate as settled } from 'node:timers/promises';
import type { StatusAnswer } from '../../../../src/acp/proposals/sessionStatus';
import { Deferred } from '../../../../src/base/deferred';
import { ListedStatuses } from '../../../../src/workbench/sessions/listedStatuses';

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `s${n}`);

describe('the status of listed sessions', () => {
  let asked: string[];
  let open: Map<string, Deferred<StatusAnswer>>;
  let abort: AbortController;
  let changes: number;
  let statuses: ListedStatuses;

  beforeEach(() => {
    asked = [];
    open = new Map();
    abort = new AbortController();
    changes = 0;
    statuses = new ListedStatuses({
      ask: (id, signal) => {
        asked.push(id);
        const answer = new Deferred<StatusAnswer>();
        open.set(id, answer);
        signal.addEventListener('abort', () => answer.reject(signal.reason));
        return answer.promise;
      },
      signal: abort.signal,
      onChange: () => changes++,
    });
  });

  async function answer(id: string, said: StatusAnswer): Promise<void> {
    open.get(id)?.resolve(said);
    open.delete(id);
    await settled();
  }

  it('is live or saved, and unknown if the agent does not say', async () => {
    statuses.listed(ids(4));
    for (const [id, said] of [
      ['s0', 'live'],
      ['s1', 'saved'],
      ['s2', 'not_found'],
      ['s3', 'failed'],
    ] as const)
      await answer(id, said);
    assert.deepEqual(
      ids(4).map((id) => statuses.of(id)),
      ['live', 'saved', 'saved', undefined],
    );
    assert.equal(changes, 3);
  });

  it('is requested for four at a time, fifty in all, in list order', async () => {
    statuses.listed(ids(60));
    assert.deepEqual(asked, ids(4));
    let most = 0;
    while (open.size > 0) {
      most = Math.max(most, open.size);
      await answer([...open.keys()][0] ?? '', 'saved');
    }
    assert.equal(most, 4);
    assert.deepEqual(asked, ids(50));
    statuses.listed(ids(60));
    assert.equal(asked.length, 50, 'each once');
  });

  it('is requested next for the focused row, even beyond the first fifty', async () => {
    statuses.listed(ids(60));
    statuses.focused('s58');
    await answer('s0', 'saved');
    assert.equal(asked.at(-1), 's58');
    statuses.focused('s58');
    await answer('s1', 'saved');
    assert.equal(asked.at(-1), 's4');
  });

  for (const said of ['unsupported', 'unresponsive'] as const)
    it(`is no longer requested after the response ${said}`, async () => {
      statuses.listed(ids(10));
      await answer('s0', said);
      statuses.focused('s9');
      assert.equal(asked.length, 4);
      await answer('s1', 'live');
      assert.equal(asked.length, 4);
      assert.equal(statuses.of('s1'), 'live');
    });

  it('is not requested after the list is closed, and pending requests are cancelled', async () => {
    statuses.listed(ids(10));
    abort.abort();
    await settled();
    statuses.listed(ids(20));
    assert.equal(asked.length, 4);
    assert.equal(changes, 0);
  });
});
