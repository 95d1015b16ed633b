// What a turn changed on disk, in a real browser: the line, the list, the bar, and what a message
// offers.
import assert from 'node:assert/strict';
import type { Panel, PanelOptions } from './harness/browser';
import { changedConversation, FILES, ListHost } from './harness/changeSamples';
import { useHarness } from './harness/useHarness';

describe('the changes of a turn', () => {
  const browser = useHarness();
  let panel: Panel;
  const open = async (options: PanelOptions = {}): Promise<Panel> => {
    panel = await browser.open({ items: changedConversation(), ...options });
    return panel;
  };
  const line = () => panel.page.getByRole('button', { name: /files? changed/ });
  const list = () => panel.page.getByRole('list', { name: 'Changed files' });
  const row = (path: string) => panel.page.locator(`[data-path="${path}"]`);

  it('are counted in a line under its end', async () => {
    await open();
    await line().waitFor();
    assert.equal(await line().innerText(), '6 files changed\n+90 −1,218');
    assert.match(
      (await line().getAttribute('aria-label')) ?? '',
      /^6 files changed, 90 lines added, 1,218 lines removed$/,
    );
  });

  it('unfold to a list of files with their state', async () => {
    await open();
    await line().click();
    const host = new ListHost(panel, FILES);
    const request = await host.answer();
    assert.deepEqual([request.scope, request.from, request.to], [{ turnId: 't1' }, 0, 100]);
    await row('CHANGELOG.md').waitFor();
    const states = await list()
      .getByRole('listitem')
      .evaluateAll((all) =>
        all.map((one) => [(one as HTMLElement).dataset.path, (one as HTMLElement).dataset.changeState]),
      );
    assert.deepEqual(
      states,
      FILES.map(({ label, state }) => [label, state]),
    );
    assert.equal(await line().getAttribute('aria-expanded'), 'true');
  });
});
