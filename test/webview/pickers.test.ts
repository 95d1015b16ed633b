// Filtering long lists of modes, models and other options.
import assert from 'node:assert/strict';
import { THEMES } from '../support/tier';
import { seriousFindings } from './harness/axe';
import { useHarness } from './harness/useHarness';

const MODELS = Array.from({ length: 30 }, (_, index) => ({
  value: `m${index}`,
  name: `Model ${index}`,
  description: index === 17 ? 'For hard problems' : 'Fast',
  group: index < 15 ? 'Claude' : 'Others',
}));
const session = {
  config: [{ id: 'model', name: 'Model', category: 'model', type: 'select', value: 'm3', values: MODELS }] as const,
  modes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
  mode: 'ask',
};

describe('lists of options', () => {
  const browser = useHarness();

  it('filter by name, description and group, and choose by keyboard', async () => {
    const panel = await browser.open({ session });
    const { page } = panel;
    await page.getByRole('button', { name: 'Model: Model 3' }).press('Enter');
    const list = page.getByRole('listbox', { name: 'Model' });
    assert.equal(await list.getByRole('option').count(), 30);
    await page.keyboard.type('hard others');
    assert.equal(await list.getByRole('option').count(), 1);
    await page.keyboard.press('Enter');
    assert.equal((await panel.next('setConfig')).value, 'm17');
    // The list is unfiltered when opened again.
    await page.getByRole('button', { name: 'Model: Model 3' }).press('Enter');
    assert.equal(await list.getByRole('option').count(), 30);
    await page.keyboard.type('zzz');
    await page.getByText('No matches').waitFor();
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'detached' });
    assert.equal(await panel.page.evaluate(() => host.posted.filter(({ type }) => type === 'setConfig').length), 1);
  });

  it('show the mode in which the agent starts, and use one that says it asks', async () => {
    const use = { id: 'startMode:ask', label: 'Use “Ask”', detail: 'Asks before it writes' };
    const actions = [use, { id: 'startMode:', label: 'Keep “Code”' }];
    const panel = await browser.open({
      session: { ...session, startMode: { text: 'Agent begins in “Code”.', actions } },
    });
    const { page } = panel;
    const line = page.getByRole('status').filter({ hasText: 'Agent begins in “Code”.' });
    assert.deepEqual(await seriousFindings(page, '.banner'), []);
    await line.getByRole('button', { name: 'Use “Ask”: Asks before it writes' }).press('Enter');
    assert.equal((await panel.next('action')).id, 'startMode:ask');
    await panel.update({ op: 'session', patch: { startMode: null } });
    await line.waitFor({ state: 'detached' });
  });

  it('gather several switches in one menu, whose label names those that are on', async () => {
    const [fast, web] = [
      { id: 'fast', name: 'Fast mode', description: 'Costs more', type: 'boolean', value: true },
      { id: 'web', name: 'Web', type: 'boolean', value: false },
    ] as const;
    const panel = await browser.open({ session: { config: [...session.config, fast, web] } });
    const { page } = panel;
    assert.equal(await page.getByRole('switch').count(), 0);
    await page.getByRole('button', { name: 'Options: Fast mode' }).press('Enter');
    const menu = page.getByRole('menu', { name: 'Options' });
    await menu.getByRole('menuitemcheckbox', { name: 'Fast mode Costs more', checked: true }).waitFor();
    await menu.getByRole('menuitemcheckbox', { name: 'Web', checked: false }).waitFor();
    await page.keyboard.press('w');
    await page.keyboard.press('Enter');
    assert.deepEqual(await panel.next('setConfig'), { type: 'setConfig', key: 's1', id: 'web', value: true });
    // A single switch is outside the menu.
    await panel.update({ op: 'session', patch: { config: [...session.config, web] } });
    await page.getByRole('switch', { name: 'Web' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Options/ }).count(), 0);
  });

  it('show the speed switch with an icon outside the menu', async () => {
    const switches = ['Fast mode', 'Web', 'Sound'].map((name) => ({
      id: name,
      name,
      category: name === 'Fast mode' ? 'speed' : 'other',
      type: 'boolean' as const,
      value: false,
    }));
    const panel = await browser.open({ session: { config: [...session.config, ...switches] } });
    const { page } = panel;
    await page.getByRole('button', { name: /^Options/ }).waitFor();
    const fast = page.getByRole('switch', { name: 'Fast mode', checked: false });
    await fast.locator('.codicon-zap').waitFor();
    await fast.press('Space');
    assert.deepEqual(await panel.next('setConfig'), { type: 'setConfig', key: 's1', id: 'Fast mode', value: true });
  });

  it('have no filter field while short', async () => {
    const { page } = await browser.open({ session });
    await page.getByRole('button', { name: 'Mode: Ask' }).press('Enter');
    await page.getByRole('listbox', { name: 'Mode' }).waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Type to filter' }).count(), 0);
    await page.keyboard.press('c');
    await page.keyboard.press('Enter');
    assert.equal((await browser.panel.next('setMode')).modeId, 'code');
  });

  it('have no serious accessibility violations, at 280 pixels', async () => {
    for (const theme of THEMES) {
      const { page } = await browser.open({ session, theme, width: 280 });
      await page.getByRole('button', { name: 'Model: Model 3' }).click();
      await page.getByRole('combobox', { name: 'Type to filter' }).fill('1');
      assert.deepEqual(await seriousFindings(page, '.popup'), [], theme);
    }
  });

  it('are distinguished in the composer if two have the same value', async () => {
    const values = [{ value: 'default', name: 'Default' }];
    const config = ['Model', 'Effort'].map((name) => ({
      id: name,
      name,
      category: name === 'Model' ? 'model' : 'thought_level',
      type: 'select' as const,
      value: 'default',
      values,
    }));
    const { page } = await browser.open({ session: { config } });
    const icons = [];
    for (const name of ['Model: Default', 'Effort: Default']) {
      const icon = page.getByRole('button', { name }).locator('.codicon').first();
      icons.push(await icon.getAttribute('class'));
    }
    assert.equal(new Set(icons).size, 2);
  });
});
