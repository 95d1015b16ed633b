// The card that summarizes what happened while the user was away, and its line in the transcript.
import assert from 'node:assert/strict';
import type { AwayView } from '../../src/panel/contract';
import { THEMES } from '../support/tier';
import { seriousFindings } from './harness/axe';
import type { Panel, PanelOptions } from './harness/browser';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const VIEW: AwayView = {
  since: new Date().setHours(14, 2, 0, 0),
  index: 30,
  turns: 2,
  files: {
    shown: [
      { path: '/w/src/a.ts', label: 'src/a.ts', added: 12, removed: 3, index: 31 },
      { path: '/w/b\u202e.md', label: 'b\u202e.md', added: 0, removed: 0 },
    ],
    total: 12,
  },
  commands: {
    shown: [
      { line: 'npm test', index: 32, state: 'done', exitCode: 1 },
      { line: 'npm run build', index: 33, state: 'running' },
    ],
    total: 2,
  },
  decisions: { shown: [{ title: 'npm test', rule: 'Allow npm test', outcome: 'allowed', index: 32 }], total: 1 },
  cost: { amount: 0.25, currency: 'USD' },
  tokens: 8100,
};
const ITEMS = Array.from({ length: 60 }, (_, index) => message(`m${index}`, 'agent', `Words ${index}.`));

describe('the summary of what happened while the user was away', () => {
  const browser = useHarness();

  async function open(options: PanelOptions = {}): Promise<Panel> {
    const panel = await browser.open({ items: ITEMS, ...options });
    return panel;
  }
  const tell = (panel: Panel, view: AwayView | null = VIEW): Promise<void> =>
    panel.send({ type: 'away', key: 's1', view });
  const card = (panel: Panel) => panel.page.getByRole('region', { name: 'While you were away' });
  const top = (panel: Panel, id: string): Promise<number> =>
    panel.page.locator(`[data-entry-id=${id}]`).evaluate((entry) => entry.getBoundingClientRect().top);

  it('shows files, commands with exit codes, rules, cost and what the session waits for', async () => {
    const panel = await open({ session: { status: 'Waiting for you' } });
    await tell(panel);
    const text = (await card(panel).innerText()).replace(/\s+/g, ' ');
    assert.match(text, /While you were away 2 turns · Cost: \$0\.25 · 8\.1K tokens/);
    assert.match(text, /12 files changed src\/a\.ts \+12 −3 b⟨U\+202E⟩\.md 10 more/);
    assert.match(text, /2 commands npm test Exit code 1 npm run build Running/);
    assert.match(text, /npm test Allowed by rule “Allow npm test”/);
    assert.match(text, /Waiting for you$/);
    await panel.update({ op: 'session', patch: { status: 'Ready' } });
    assert.match(await card(panel).innerText(), /Ready$/);
  });

  it('links to each entry, and to the open question', async () => {
    const panel = await open();
    await tell(panel);
    const focused = (id: string) =>
      panel.page.waitForFunction((entryId) => document.activeElement?.matches(`[data-entry-id=${entryId}]`), id);
    await card(panel)
      .getByRole('button', { name: /^npm test Exit/ })
      .click();
    await focused('m32');
    await card(panel)
      .getByRole('button', { name: /^New since/ })
      .click();
    await focused('m30');
    await card(panel).getByRole('button', { name: /^b/ }).click();
    assert.equal((await panel.next('openLocation')).path, '/w/b\u202e.md');
  });

  it('draws a line in the transcript where it starts, even after that was far away', async () => {
    const panel = await open({ height: 500 });
    await tell(panel);
    const words = () =>
      panel.page
        .locator('[data-entry-id=m30]')
        .evaluate((entry) => getComputedStyle(entry, '::before').content.replace(/\s/g, ' '));
    await card(panel)
      .getByRole('button', { name: /^New since/ })
      .click();
    assert.equal(await words(), '"New since 2:02 PM"');
    await tell(panel, null);
    await card(panel).waitFor({ state: 'detached' });
    assert.equal(await words(), 'none');
  });

  it('moves neither the text being read nor the followed end when it appears and disappears', async () => {
    const panel = await open();
    const firstShown = () =>
      panel.page.evaluate(() => {
        const { top } = document.querySelector('.transcript')!.getBoundingClientRect();
        const all = [...document.querySelectorAll<HTMLElement>('[data-entry-id]')];
        return all.find((entry) => entry.getBoundingClientRect().top > top)!.dataset.entryId!;
      });
    const stays = async (id: string, run: () => Promise<void>): Promise<void> => {
      const before = await top(panel, id);
      await run();
      const after = await top(panel, id);
      assert.ok(Math.abs(after - before) <= 1, `${id}: ${before} and ${after}`);
    };
    const showSummary = async (): Promise<void> => {
      await tell(panel);
      await card(panel).waitFor();
    };
    const go = async (): Promise<void> => {
      await tell(panel, null);
      await card(panel).waitFor({ state: 'detached' });
    };
    await stays('m59', showSummary);
    await stays('m59', go);
    await panel.scrollTo(600);
    await stays(await firstShown(), showSummary);
    await stays(await firstShown(), go);
  });

  it('is dismissed by its button and by Escape, in its own session only', async () => {
    const panel = await open();
    await tell(panel);
    await card(panel).getByRole('button', { name: 'Dismiss' }).click();
    await panel.next('dismissAway');
    await card(panel).waitFor({ state: 'detached' });
    const posted = await panel.count();
    await tell(panel, { ...VIEW, since: VIEW.since + 1 });
    await card(panel)
      .getByRole('button', { name: /^npm test Exit/ })
      .focus();
    await panel.page.keyboard.press('Escape');
    await panel.next('dismissAway', posted);
    await panel.page.waitForFunction(() => document.activeElement?.matches('textarea.message'));
    await panel.send({ type: 'away', key: 'other', view: VIEW });
    assert.equal(await card(panel).count(), 0);
  });

  it('is dismissed when the user sends a message', async () => {
    const panel = await open();
    await tell(panel);
    await card(panel).waitFor();
    await panel.page.locator('textarea.message').fill('Go on');
    await panel.page.keyboard.press('Enter');
    const { clientId, revision } = await panel.next('send');
    await panel.send({ type: 'accepted', clientId, revision });
    await card(panel).waitFor({ state: 'detached', timeout: 2_000 });
    await panel.next('dismissAway');
  });

  it('has no serious accessibility violations in any theme, at 280 pixels', async () => {
    for (const theme of THEMES) {
      const panel = await open({ theme, width: 280 });
      await tell(panel);
      await card(panel).waitFor();
      assert.deepEqual(await seriousFindings(panel.page, 'html'), [], theme);
    }
  });
});
