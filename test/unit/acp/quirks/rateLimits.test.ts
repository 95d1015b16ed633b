// Rate limits reported by claude-agent-acp, and their state in a session.
import { strict as assert } from 'node:assert';
import { readUpdate as readV1 } from '../../../../src/acp/v1/v1Events';
import { readUpdate as readV2 } from '../../../../src/acp/v2/v2Events';
import type { RateLimit } from '../../../../src/session/events/content';
import { SessionModel } from '../../../../src/session/model/model';

const HOUR = { utilization: 0.5, resetsAt: 1_800_000_000 };
const WEEK = { utilization: 0.25, resetsAt: 1_800_500_000 };

describe('rate limits of an account', () => {
  let model: SessionModel;
  const hear = (info: unknown, read: typeof readV1 = readV1): readonly RateLimit[] => {
    const update = { sessionUpdate: 'usage_update', used: 1, size: 2, _meta: { '_claude/rateLimit': info } };
    assert.equal(
      read(update, (event) => model.apply(event, 1)),
      undefined,
    );
    return model.state.limits;
  };

  beforeEach(() => {
    model = new SessionModel();
  });

  it('are read in both versions, with the used share and the reset time', () => {
    const info = { status: 'allowed_warning', rateLimitType: 'five_hour', utilization: 0.93, resetsAt: HOUR.resetsAt };
    for (const read of [readV1, readV2])
      assert.deepEqual(hear(info, read), [
        { kind: 'five_hour', state: 'warning', used: 0.93, resetsAt: HOUR.resetsAt * 1000 },
      ]);
    assert.deepEqual(model.state.usage, { used: 1, size: 2, cost: undefined });
  });

  it('are read as claude-agent-acp 0.101.0 sends them', () => {
    const five_hour = { utilization: 1, resetsAt: 1795862336, status: 'allowed_warning', surpassedThreshold: 0.9 };
    const seven_day = { utilization: 0.41, resetsAt: 1796105136, status: 'allowed' };
    const { status, ...amount } = five_hour;
    const outer = { status, rateLimitType: 'five_hour', isUsingOverage: false, ...amount };
    assert.deepEqual(hear({ ...outer, unifiedWindows: { five_hour, seven_day } }), [
      { kind: 'five_hour', state: 'warning', used: 1, resetsAt: 1795862336_000 },
      { kind: 'seven_day', state: 'ok', used: 0.41, resetsAt: 1796105136_000 },
    ]);
  });

  it('include each window; only the outer status marks refused requests', () => {
    const unifiedWindows = { five_hour: { ...HOUR, status: 'rejected' }, seven_day: WEEK };
    const outer = { rateLimitType: 'five_hour', ...HOUR, unifiedWindows };
    const states = (info: object) => hear(info).map(({ kind, state }) => `${kind} ${state}`);
    assert.deepEqual(states({ ...outer, status: 'rejected' }), ['five_hour reached', 'seven_day ok']);
    assert.deepEqual(states({ ...outer, status: 'rejected', isUsingOverage: true }), [
      'five_hour warning',
      'seven_day ok',
    ]);
    assert.deepEqual(states({ status: 'allowed', unifiedWindows }), ['five_hour warning', 'seven_day ok']);
  });

  it('are kept by kind; a limit is no longer reached once the agent reports another state', () => {
    hear({ status: 'rejected', rateLimitType: 'five_hour', ...HOUR });
    hear({ status: 'allowed', rateLimitType: 'seven_day', ...WEEK });
    assert.deepEqual(
      model.state.limits.map(({ kind }) => kind),
      ['seven_day'],
    );
    hear({ status: 'allowed', rateLimitType: 'five_hour', ...HOUR });
    assert.deepEqual(
      model.state.limits.map(({ kind }) => kind),
      ['five_hour', 'seven_day'],
    );
    for (let kind = 0; kind < 50; kind++) hear({ status: 'allowed', rateLimitType: `kind ${kind}`, ...HOUR });
    assert.equal(model.state.limits.length, 10);
  });

  it('skip invalid values', () => {
    assert.deepEqual(hear({ status: 'allowed' }), []);
    for (const odd of [null, 7, 'x', []]) assert.deepEqual(hear(odd), []);
    const amounts = { utilization: '1', resetsAt: 1e18, unifiedWindows: { five_hour: null, seven_day: {} } };
    assert.deepEqual(hear({ status: 7, rateLimitType: 'x', ...amounts }), [{ kind: 'seven_day', state: 'ok' }]);
    assert.deepEqual(hear({ rateLimitType: 'y', utilization: 3 })[0], { kind: 'y', state: 'ok', used: 1 });
  });
});
