// The context meter of the composer in a real browser.
import assert from 'node:assert/strict';
import { violationsIn } from './harness/axe';
import type { Panel } from './harness/browser';
import { message } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

describe('context and limits', () => {
  let panel: Panel;
  const { open, field } = useChrome((opened) => {
    panel = opened;
  });

  describe("the account's rate limits", () => {
    const usage = { used: 68_000, size: 200_000 };
    const inHours = (hours: number): number => Date.now() + hours * 3_600_000;

    it('are shown with the context, and close with Escape', async () => {
      const limits = [
        { kind: 'five_hour', state: 'ok', used: 0.62, resetsAt: inHours(2) },
        { kind: 'seven_day', state: 'ok', used: 0.1, resetsAt: inHours(-1) },
      ] as const;
      await open({ session: { usage, limits } });
      const ring = panel.page.getByRole('button', { name: '34% of context used' });
      await ring.press('Enter');
      const facts = panel.page.locator('.usage-facts');
      assert.match(await facts.innerText(), /5-hour limit: 62% used, resets .* \(in 2 hr\.\)/);
      assert.doesNotMatch(await facts.innerText(), /Weekly/, 'it was reset since');
      assert.match((await ring.getAttribute('aria-label')) ?? '', /5-hour limit: 62% used/);
      await panel.page.keyboard.press('Escape');
      await facts.waitFor({ state: 'detached' });
      await panel.page.getByText('62% used').waitFor({ state: 'detached' });
    });

    it('are named at the meter with the time when nearly used up or reached', async () => {
      const week = { kind: 'seven_day', state: 'warning', used: 0.8, resetsAt: inHours(50) } as const;
      await open({ session: { usage, limits: [week] } });
      const meter = panel.page.locator('.usage');
      await meter.locator('.codicon-warning').waitFor();
      assert.equal(await meter.innerText(), '80%');
      assert.match((await meter.getAttribute('aria-label')) ?? '', /Weekly limit: 80% used, resets .* \(in 2 days\)/);
      const limits = [week, { kind: 'five_hour', state: 'reached', used: 1, resetsAt: inHours(1) }] as const;
      await panel.update({ op: 'session', patch: { limits } });
      await panel.page
        .getByText(/^5-hour limit reached, resets .* \(in 1 hr\.\)$/)
        .first()
        .waitFor({ state: 'attached' });
      await panel.update({ op: 'session', patch: { limits: null } });
      await meter.locator('.codicon-warning').waitFor({ state: 'detached' });
      assert.equal(await meter.innerText(), '34%');
    });
  });

  describe('the context meter', () => {
    const usage = { used: 182_000, size: 200_000, cost: { amount: 0.42, currency: 'USD' } };
    const commands = [{ name: 'compact', description: 'Shorten the conversation' }];
    const meter = () => panel.page.getByRole('button', { name: '91% of context used' });
    const facts = () => panel.page.getByRole('dialog', { name: '91% of context used' });

    it('indicates that the context is nearly full, not only by color', async () => {
      await open({ session: { usage } });
      await meter().locator('.codicon-warning').waitFor();
      assert.match((await meter().getAttribute('title')) ?? '', /nearly full/);
      await panel.update({ op: 'session', patch: { usage: { used: 20_000, size: 200_000 } } });
      await panel.page.locator('.usage svg').waitFor();
    });

    it('opens its details by key, and closes them on Escape and when the focus leaves', async () => {
      await open({ session: { usage, commands } });
      for (const key of ['Enter', 'Space']) {
        await meter().press(key);
        await facts().waitFor();
        assert.match(await facts().innerText(), /182K of 200K.*nearly full.*\$0\.42/s);
        await panel.page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'dialog');
        await panel.page.keyboard.press('Escape');
        await facts().waitFor({ state: 'detached' });
        assert.ok(await meter().evaluate((node) => node === document.activeElement));
      }
      await meter().click();
      await field().click();
      await facts().waitFor({ state: 'detached' });
    });

    it('fits its details into a narrow panel', async () => {
      const limits = [{ kind: 'seven_day', state: 'warning', used: 0.93, resetsAt: Date.now() + 9e7 }] as const;
      await open({ width: 300, language: 'de', session: { usage, commands, limits } });
      await panel.page.locator('.usage').click();
      const { x, width } = (await panel.page.locator('.usage-facts').boundingBox())!;
      assert.ok(x >= 0 && x + width <= 300, `from ${x} to ${x + width}`);
      assert.deepEqual(await violationsIn(panel.page, '.composer'), []);
    });

    it("sends the agent's summarize command, without the draft", async () => {
      await open({ session: { usage, commands } });
      await field().fill('half a thought');
      await meter().click();
      await facts().getByRole('button', { name: 'Summarize' }).click();
      assert.equal((await panel.next('sendCommand')).name, 'compact');
      assert.equal(await field().inputValue(), 'half a thought');
      await facts().waitFor({ state: 'detached' });
    });

    it('offers a new session with a summary while the agent is idle', async () => {
      await open({ session: { agentId: 'claude', usage, commands: [] }, items: [message('u1', 'user', 'Hello')] });
      await meter().click();
      assert.equal(await facts().getByRole('button', { name: 'Summarize' }).count(), 0);
      await facts().getByRole('button', { name: 'New session with a summary' }).click();
      assert.equal((await panel.next('command')).command, 'continueWithSummary');
      await panel.update({ op: 'session', patch: RUNNING });
      await meter().click();
      await facts().waitFor();
      assert.equal(await facts().getByRole('button').count(), 0);
    });
  });
});
