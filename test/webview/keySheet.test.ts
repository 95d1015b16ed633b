// The dialog with the panel's keyboard shortcuts.
import assert from 'node:assert/strict';
import { THEMES } from '../support/tier';
import { seriousFindings } from './harness/axe';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('the shortcuts dialog', () => {
  const browser = useHarness();
  const items = [message('u', 'user', 'Hello'), message('a', 'agent', 'Yes.')];

  it('opens with its key outside of text fields, closes with Escape, and restores the focus', async () => {
    const { page } = await browser.open({ items });
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.press('?');
    assert.equal(await composer.inputValue(), '?');
    assert.equal(await sheet.count(), 0);
    const entry = page.locator('[data-entry-id=a]');
    await entry.focus();
    await page.keyboard.press('?');
    await sheet.waitFor();
    assert.match(await sheet.innerText(), /Ctrl\+Enter\s+Steer the running turn/);
    await page.keyboard.press('?');
    assert.equal(await sheet.count(), 1);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    assert.ok(await entry.evaluate((node) => node === document.activeElement));
  });

  it("opens from the menu, and links to VS Code's shortcuts", async () => {
    const panel = await browser.open({ items });
    await panel.page.getByRole('button', { name: 'More' }).click();
    await panel.page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
    await panel.page.getByRole('button', { name: 'Change shortcuts…' }).click();
    assert.equal((await panel.next('command')).command, 'showKeys');
    assert.equal(await panel.page.getByRole('dialog').count(), 0);
  });

  it('has no serious accessibility violations in any theme, and fits into 280 pixels in German', async () => {
    for (const theme of THEMES) {
      const { page } = await browser.open({ items, theme, width: 280, language: 'de' });
      await page.locator('[data-entry-id=a]').focus();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Tastenkombinationen' }).waitFor();
      assert.deepEqual(await seriousFindings(page, 'html'), [], theme);
      const sticksOut = await page.locator('.key-sheet').evaluate((node) => node.scrollWidth > node.clientWidth);
      assert.equal(sticksOut, false);
      const folder = process.env.KEYS_SHOTS;
      if (folder) await page.screenshot({ path: `${folder}/keys-${theme}.png` });
    }
  });
});
