// The line of the running turn's plan above the composer.
import assert from 'node:assert/strict';
import type { ItemView } from '../../src/panel/contract';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const plan: ItemView = {
  kind: 'plan',
  id: 'p',
  turnId: 't1',
  at: 0,
  entries: [
    { content: 'Find the cause', status: 'completed', priority: 'medium' },
    { content: 'Mend it', status: 'in_progress', priority: 'medium' },
  ],
};

describe('the plan line', () => {
  const browser = useHarness();

  it('shows the current step, links to the plan and to comments on it, and disappears with the turn', async () => {
    const words = Array.from({ length: 60 }, (_, index) => message(`m${index}`, 'agent', `Words ${index}`));
    const panel = await browser.open({
      items: [message('u', 'user', 'Do it'), plan, ...words],
      session: { plan: { index: 1, done: 1, total: 2, step: 'Mend \u202eit' } },
    });
    const line = panel.page.getByRole('button', { name: '1 of 2 Mend ⟨U+202E⟩it' });
    await line.click();
    await panel.page.waitForFunction(() => document.activeElement?.matches('[data-entry-id=p]'));
    await panel.page.getByRole('button', { name: 'Comment', exact: true }).click();
    assert.deepEqual(await panel.posted('command'), [{ type: 'command', command: 'commentOnPlan', key: 's1' }]);
    await panel.update({ op: 'session', patch: { plan: null } });
    assert.equal(await line.count(), 0);
  });
});
