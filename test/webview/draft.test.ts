// What is half written while the user goes from one session to another: in a real browser, as the panel tells it to the host.
import assert from 'node:assert/strict';
import type { Panel } from './harness/browser';
import { useHarness } from './harness/useHarness';

describe('what is written last before another session is shown', () => {
  const browser = useHarness();
  let panel: Panel;

  const field = () => panel.page.getByRole('textbox', { name: 'Message' });
  const written = () => panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'of the second');

  it('goes to that session, or is lost, unless it says where it was written', async () => {
    panel = await browser.open({ session: { key: 'first' } });
    await field().fill('half a thought');
    await panel.snapshot({ session: { key: 'second' }, draft: 'of the second' });
    await written();
    await panel.page.waitForFunction(() => host.posted.filter(({ type }) => type === 'draft').length === 2);
    assert.deepEqual(await panel.posted('draft'), [
      { type: 'draft', key: 'first', text: 'half a thought' },
      { type: 'draft', key: 'second', text: 'of the second' },
    ]);
  });

  it('is what the second session begins with when the panel is loaded again at once', async () => {
    panel = await browser.open({ session: { key: 'first' } });
    await field().fill('half a thought');
    await panel.snapshot({ session: { key: 'second' }, draft: 'of the second' });
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { key: 'second' }, draft: 'of the second' });
    await written();
  });
});
