// Tests the description of an agent's initial mode, and the effect of the user's answer.
import { strict as assert } from 'node:assert';
import type { RememberedChoices } from '../../../../src/client/connection/shownChoices';
import { StartMode } from '../../../../src/client/conversation/startMode';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pluck } from '../../../support/pluck';
import { began } from '../../../support/sessionEvents';

const AUTO = { id: 'auto', name: 'Auto', description: 'The agent handles permission decisions' };
const MANUAL = { id: 'manual', name: 'Manual', description: 'Always ask before making changes' };
const BYPASS = { id: 'bypass', name: 'Bypass', description: 'Runs without asking for approval' };
const modes = (
  current: string,
  ...list: readonly { id: string; name: string; description?: string }[]
): SessionEvent => ({
  type: 'modes',
  current,
  modes: list,
});
const picked = (current: string): SessionEvent => ({ type: 'mode', current, byUser: true });

describe('the initial mode of an agent', () => {
  let memory: Record<string, unknown>;
  const choices: RememberedChoices = {
    of: () => memory,
    remember: (_agent, id, value) => {
      memory = { ...memory, [id]: value };
    },
  };

  beforeEach(() => {
    memory = {};
  });

  function session(...events: readonly SessionEvent[]) {
    const model = new SessionModel();
    const start = new StartMode({ agent: { id: 'a', name: 'Agent' }, model, services: { choices } }, () => {});
    const apply = (event: SessionEvent): void => {
      model.apply(event, 0);
      start.happened(event);
    };
    for (const event of events) apply(event);
    start.began();
    return { start, apply };
  }

  it('is described in the agent’s words, beside a mode that says it asks', () => {
    const { start } = session(modes('auto', AUTO, BYPASS, MANUAL));
    assert.equal(start.view?.text, 'Agent begins in the mode “Auto”: The agent handles permission decisions.');
    assert.deepEqual(pluck(start.view?.actions ?? [], 'id', 'label', 'detail'), [
      ['startMode:manual', 'Use “Manual”', 'Always ask before making changes'],
      ['startMode:', 'Keep “Auto”', undefined],
    ]);
  });

  it('is described alone if it says that it asks, and with a warning if no mode does', () => {
    const asks = session(modes('manual', AUTO, MANUAL)).start.view;
    assert.equal(asks?.text, 'Agent begins in the mode “Manual”: Always ask before making changes.');
    assert.deepEqual(pluck(asks?.actions ?? [], 'label'), ['OK']);
    const silent = session(modes('build', { id: 'build', name: 'Build' }, BYPASS)).start.view;
    assert.equal(silent?.text, "Agent begins in the mode “Build”. It doesn't say which modes ask before they write.");
    assert.equal(session(modes('auto', AUTO)).start.view, undefined);
  });

  it("doesn't count as asking if it only asks sometimes", () => {
    const review = { id: 'review', name: 'Auto review', description: 'Only ask for actions detected as unsafe' };
    const readOnly = { id: 'read', name: 'Read-only', description: 'Requires approval to edit files' };
    const { start } = session(modes('review', review, readOnly));
    assert.deepEqual(pluck(start.view?.actions ?? [], 'label'), ['Use “Read-only”', 'Keep “Auto review”']);
  });

  it('is described until the user answers, even after a message was sent', () => {
    const { start, apply } = session(modes('auto', AUTO, MANUAL));
    apply(began('t1'));
    apply({ type: 'mode', current: 'manual' });
    assert.match(start.view?.text ?? '', /“Auto”/);
    assert.ok(session(modes('auto', AUTO, MANUAL)).start.view);
    start.answer('');
    assert.equal(start.view, undefined);
    assert.equal(session(modes('auto', AUTO, MANUAL)).start.view, undefined);
  });

  it('is the user’s choice while the agent offers it', () => {
    session(modes('auto', AUTO, MANUAL)).start.answer('manual');
    assert.deepEqual(session(modes('auto', AUTO, MANUAL)).start.choice, {
      id: undefined,
      value: 'manual',
      label: 'Manual',
      isMode: true,
      isRequired: true,
    });
    assert.equal(session(modes('auto', AUTO, BYPASS)).start.choice, undefined);
  });

  it('changes with a choice before the first message only to a mode that asks, or back', () => {
    const pick = (id: string) => {
      const { start, apply } = session(modes('auto', AUTO, MANUAL, BYPASS));
      apply(picked(id));
      return start.choice?.value;
    };
    assert.deepEqual(['manual', 'bypass', 'auto', 'bypass'].map(pick), ['manual', 'manual', undefined, undefined]);
    const later = session(modes('auto', AUTO, MANUAL));
    later.apply(began('t1'));
    later.apply(picked('manual'));
    assert.equal(later.start.choice, undefined);
  });
});
