// A review by another agent starts with that agent's options.
import { strict as assert } from 'node:assert';
import { SessionModel } from '../../../../src/session/model/model';
import { useFakeEditor } from '../../../support/fakeEditor';

useFakeEditor();
const { fakeWorkbench } = await import('../../../support/workbench/fakeWorkbench');
const { reviewWith } = await import('../../../../src/workbench/commands/continueWith');

describe('reviewing a turn', () => {
  it("inherits the session's options only for the same agent", async () => {
    const model = new SessionModel();
    model.apply({ type: 'turn_started', turnId: 't', origin: 'user', at: 0 }, 0);
    const old = {
      agent: { id: 'ada', name: 'Ada' },
      model,
      cwd: '/w',
      changes: {
        settled: async () => {},
        changesOf: async () => [{ root: '/w', path: 'a.png', isBinary: true }],
        states: async () => ({}),
      },
    };
    const made: { continues?: unknown }[] = [];
    const create = (options: object) => {
      made.push(options);
      return { unsent: { draft: {}, setDraft() {}, attach() {} }, start: async () => {} };
    };
    const workbench = fakeWorkbench({
      Conversations: { create },
      AgentCatalog: { list: () => [] },
      ChatHome: { openTab: () => ({ focus() {} }) },
    });
    for (const agent of ['bob', 'ada']) await reviewWith(workbench, old as never, 't', agent).catch(() => {});
    assert.deepEqual(
      made.map(({ continues }) => continues),
      [undefined, old],
    );
  });
});
