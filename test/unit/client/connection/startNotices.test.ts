// What is said of an agent that starts a new session: once, also where the session came from elsewhere and that was said when it was opened.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../../src/base/log';
import { StartNotices } from '../../../../src/client/conversation/connectionEvents';
import { openedEnd } from '../../../../src/client/sharing/provenanceNotices';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';

describe('an agent that starts a new session', () => {
  const textOf = (text: string): SessionEvent => ({
    type: 'message_chunk',
    role: 'agent',
    messageId: text,
    block: { type: 'text', text },
  });

  function titles(...before: readonly SessionEvent[]): readonly string[] {
    const model = new SessionModel();
    for (const event of before) model.apply(event, 1);
    return start(model);
  }

  function start(model: SessionModel): readonly string[] {
    new StartNotices((event) => model.apply(event, 2), silentLog).beganAnew('Ada', model.state.entries);
    return model.state.entries.flatMap((entry) => (entry.kind === 'notice' ? [entry.said?.code ?? entry.title] : []));
  }

  it('is announced', () => {
    assert.deepEqual(titles(textOf('hello')), ['new-session']);
  });

  it('is not announced again where the session was opened from elsewhere', () => {
    assert.deepEqual(titles(textOf('hello'), openedEnd('Ada', [], 'none', false)), ['opened-end']);
  });

  it('is announced after messages that followed the opening', () => {
    const opened = openedEnd('Ada', [], 'none', false);
    assert.deepEqual(titles(textOf('hello'), opened, textOf('since')), ['opened-end', 'new-session']);
  });

  it('is announced also where the agent itself says these words', () => {
    const notice: SessionEvent = { type: 'notice', severity: 'info', title: 'Ada continues from here' };
    assert.deepEqual(titles(textOf('hello'), notice), ['Ada continues from here', 'new-session']);
  });

  it('is announced once where it is restarted before the next message', () => {
    const model = new SessionModel();
    model.apply(textOf('hello'), 1);
    start(model);
    assert.deepEqual(start(model), ['new-session']);
  });

  it('is announced where another agent had the session itself', () => {
    const lost = openedEnd('Ada', [], 'missing', true);
    assert.deepEqual([lost.severity, lost.said?.args], ['warning', ['Ada', 0, 'missing', 1]]);
    const foreign = openedEnd('Ada', [], 'other', false);
    assert.deepEqual([foreign.severity, foreign.said?.args], ['info', ['Ada', 0, 'other', 0]]);
    const opened = openedEnd('Ada', [], 'none', true);
    assert.deepEqual(titles(textOf('hello'), opened), ['opened-end', 'new-session']);
  });
});
