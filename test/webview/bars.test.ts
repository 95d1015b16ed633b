// The bars between the conversation and the composer in a real browser.
import assert from 'node:assert/strict';
import type { SessionView } from '../../src/panel/contract';
import type { Panel } from './harness/browser';
import { countOf, FILES } from './harness/changeSamples';
import { message, SESSION_FULL } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

const ALL: Partial<SessionView> = {
  ...RUNNING,
  plan: { index: 0, done: 2, total: 5, step: 'Write the tests' },
  background: [{ kind: 'terminal', id: 'b1', label: 'npm run watch', stop: 'terminal' }],
  queue: SESSION_FULL.queue!,
  review: countOf(FILES),
  banner: 'This is a scripted demo, not a model.',
};
const ERROR = { code: 'exited', message: 'Claude ended.', actions: [{ id: 'restart', label: 'Restart agent' }] };

describe('bars above the composer', () => {
  let panel: Panel;
  const { open } = useChrome((opened) => {
    panel = opened;
  });
  const bars = () =>
    panel.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('[data-bar]:not([hidden])')]
        .filter((bar) => bar.childElementCount > 0)
        .map((bar) => bar.dataset.bar),
    );
  const folded = () => panel.page.getByRole('group', { name: 'More' }).getByRole('button');

  it('are at most two, those that need the user first; the others collapse into one line', async () => {
    await open({ session: ALL });
    assert.deepEqual(await bars(), ['review', 'queue']);
    assert.deepEqual(await folded().allInnerTexts(), ['2 of 5 Write the tests', '1 task running in the background']);
    await panel.update({ op: 'session', patch: { error: ERROR } });
    await panel.page.getByText('Claude ended.').waitFor();
    assert.deepEqual(await bars(), ['start', 'review']);
    await panel.update({ op: 'session', patch: { queuePaused: 'Paused: you stopped the turn' } });
    await panel.page.getByText('Paused: you stopped the turn').waitFor();
    assert.deepEqual(await bars(), ['start', 'queue']);
    await panel.update({ op: 'session', patch: { error: null, queue: [], queuePaused: null, review: null } });
    await panel.page.getByText('Write the tests').waitFor();
    assert.deepEqual(await bars(), ['background', 'plan']);
  });

  it('expand by their name with the focus, beside the one that needs the user most', async () => {
    await open({ session: ALL });
    await folded().first().press('Enter');
    await panel.page.waitForFunction(() => document.activeElement?.matches('.plan-step'));
    assert.deepEqual(await bars(), ['plan', 'review']);
    await panel.update({ op: 'session', patch: { error: ERROR } });
    await panel.page.getByText('Claude ended.').waitFor();
    assert.deepEqual(await bars(), ['start', 'plan']);
    await panel.update({ op: 'session', patch: { queuePaused: 'Paused: you stopped the turn' } });
    await folded().filter({ hasText: 'Paused: you stopped the turn' }).waitFor();
  });

  it('leave the focus in the message if they have no button', async () => {
    await open({ session: { ...ALL, background: [{ kind: 'terminal', id: 'b1', label: 'npm run watch' }] } });
    await folded().last().press('Enter');
    await panel.page.waitForFunction(() => document.activeElement?.matches('textarea.message'));
  });

  it('stay expanded while they contain the focus', async () => {
    await open({ session: ALL });
    await panel.page.getByRole('button', { name: 'Edit' }).first().click();
    await panel.page.keyboard.type('half an edit');
    await panel.update({ op: 'session', patch: { error: ERROR } });
    await panel.page.getByText('Claude ended.').waitFor();
    assert.deepEqual(await bars(), ['start', 'queue']);
    await panel.page.waitForFunction(() => document.activeElement?.matches('.queue-editor'));
  });

  it('leave room for the away summary', async () => {
    const items = [message('a', 'user', 'Hello')];
    await open({ session: ALL, items });
    const none = { shown: [], total: 0 };
    const view = { since: Date.now() - 600_000, index: 0, turns: 1, files: none, commands: none, decisions: none };
    await panel.send({ type: 'away', key: 's1', view });
    await panel.page.getByText('While you were away').first().waitFor();
    assert.deepEqual(await bars(), ['review']);
    await panel.page.getByRole('button', { name: 'Dismiss' }).click();
    await panel.page.waitForFunction(() => document.querySelectorAll('[data-bar]:not([hidden])').length === 2);
  });
});
