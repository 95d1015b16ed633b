// What a conversation does with the updates of its agent: live ones, and those of a repeated past.
import { strict as assert } from 'node:assert';
import type { StateReport } from '../../../../src/acp/protocol/dialect';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { Deferred } from '../../../../src/base/deferred';
import { silentLog } from '../../../../src/base/log';
import { type HearingConversation, Inbound } from '../../../../src/client/conversation/inbound';
import { TurnDriver } from '../../../../src/client/prompts/turnDriver';
import { GRACES, initialTurns, type TurnResult } from '../../../../src/client/turns/turnState';
import { SessionModel } from '../../../../src/session/model/model';
import type { QueueItem } from '../../../../src/session/queue/queue';

function running(create = async (): Promise<unknown> => ({})): {
  readonly inbound: Inbound;
  readonly model: SessionModel;
} {
  const model = new SessionModel();
  const dialect = new V1Agent({ request: () => Promise.reject(new Error('only reads')), notify: async () => {} });
  const driver = new TurnDriver(initialTurns(), {
    graces: GRACES,
    now: () => 0,
    log: silentLog,
    apply: (event) => void model.apply(event, 0),
    onInserted() {},
    onSettled() {},
  });
  const prompt = { item: {} as QueueItem, content: [], done: new Deferred<TurnResult | undefined>() };
  driver.prompt(prompt, { promptId: 'q1', text: '', endsBy: 'response', promised: false });
  const turns = { driver, state: (report: StateReport) => driver.feed({ type: 'state', report }), isCancelled: false };
  const inbound = new Inbound({
    ...{ key: 'k', roots: [], model, turns },
    services: { log: silentLog, clock: { now: () => 0 }, terminals: { create } },
    changes: { beforeWrite: async () => {} },
    recorder: { together: (run: () => void) => run(), applyAt: model.apply.bind(model) },
    probe: { heard() {} },
    connector: { sessionId: 's', agentSide: { dialect, link: { router: { requested() {} } } }, progressed() {} },
  } as unknown as HearingConversation);
  return { inbound, model };
}

describe('turn_complete', () => {
  const complete = [{ sessionUpdate: 'turn_complete', stopReason: 'end_turn' }];
  const hasEnded = ({ state }: SessionModel): boolean => state.turns.at(-1)?.endedAt !== undefined;

  it('ends the running turn', () => {
    const { inbound, model } = running();
    inbound.updates(complete);
    assert.equal(hasEnded(model), true);
  });

  it('does not end the running turn when the agent repeats the past', () => {
    const { inbound, model } = running();
    inbound.updates(complete, { onState() {}, onTurnComplete() {}, asSaid: (event) => [event] });
    assert.equal(hasEnded(model), false);
  });
});

describe('a command that an agent starts', () => {
  it('is refused from the moment the user stops a turn until the next one begins', async () => {
    let started = 0;
    const { inbound, model } = running(async () => ({ terminalId: `t${++started}` }));
    const params = { sessionId: 's', command: 'ls' };
    const create = () => inbound.request('terminal/create', params, new AbortController().signal, 1);
    await create();
    const turnId = model.state.turn?.id ?? '';
    model.apply({ type: 'cancel_requested', turnId }, 0);
    await assert.rejects(create(), { code: -32800 });
    model.apply({ type: 'turn_ended', turnId, stopReason: 'cancelled', barrier: 'response', at: 1 }, 0);
    await assert.rejects(create(), { code: -32800 });
    model.apply({ type: 'background', work: [{ type: 'tool_call', id: 'a' }] }, 0);
    await create();
    model.apply({ type: 'background', work: [] }, 0);
    model.apply({ type: 'turn_started', turnId: 'next', origin: 'user', at: 2 }, 0);
    await create();
    assert.equal(started, 3);
  });
});
