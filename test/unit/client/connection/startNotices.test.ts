// Tests the notice about a new session: it appears once, even if the session was handed over.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../../src/base/log';
import { StartNotices } from '../../../../src/client/conversation/connectionEvents';
import { openedEnd } from '../../../../src/client/sharing/provenanceNotices';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { said } from '../../../support/store/journals';

describe('an agent that starts a new session', () => {
  const words: SessionEvent = { type: 'notice', severity: 'info', title: 'Ada continues from here' };
  const opened = openedEnd('Ada', [], 'none', false);
  const cases: readonly (readonly [title: string, before: readonly SessionEvent[], notices: readonly string[]])[] = [
    ['is announced once, however often it is restarted', [], ['new-session']],
    ['is not announced again where the session was opened from elsewhere', [opened], ['opened-end']],
    [
      'is announced after messages that followed the opening',
      [opened, said('since', 'm2')],
      ['opened-end', 'new-session'],
    ],
    ['is announced also where the agent itself says these words', [words], ['Ada continues from here', 'new-session']],
    [
      'is announced where another agent had the session itself',
      [openedEnd('Ada', [], 'none', true)],
      ['opened-end', 'new-session'],
    ],
  ];
  for (const [title, before, notices] of cases)
    it(title, () => {
      const model = new SessionModel();
      for (const event of [said('hello', 'm1'), ...before]) model.apply(event, 1);
      for (let start = 0; start < 2; start++)
        new StartNotices((event) => model.apply(event, 2), silentLog).newSession('Ada', model.state.entries);
      const shown = model.state.entries.flatMap((entry) =>
        entry.kind === 'notice' ? [entry.said?.code ?? entry.title] : [],
      );
      assert.deepEqual(shown, notices);
    });

  it("causes a warning if the agent doesn't have the previous agent's session", () => {
    const lost = openedEnd('Ada', [], 'missing', true);
    assert.deepEqual([lost.severity, lost.said?.args], ['warning', ['Ada', 0, 'missing', 1]]);
    const foreign = openedEnd('Ada', [], 'other', false);
    assert.deepEqual([foreign.severity, foreign.said?.args], ['info', ['Ada', 0, 'other', 0]]);
  });
});
