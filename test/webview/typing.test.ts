// Typed text reaches the message from anywhere in the page, and the page never steals the focus.
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Panel } from './harness/browser';
import { asksForm } from './harness/questionSamples';
import { message } from './harness/samples';
import { useChrome } from './harness/useChrome';

describe('typing', () => {
  let panel: Panel;
  const { browser, open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  const items = [message('u', 'user', 'Hello'), message('a', 'agent', 'An answer to read.')];
  const blur = () => panel.page.evaluate(() => (document.activeElement as HTMLElement).blur());
  const hasFocus = (locator: Locator) => locator.evaluate((node) => node === document.activeElement);

  it('goes into the message after a click on an answer', async () => {
    await open({ items });
    await panel.page.getByText('An answer to read.').click();
    await panel.page.keyboard.type('why so?');
    assert.equal(await field().inputValue(), 'why so?');
  });

  it('goes into the message while nothing is focused, including spaces and line breaks', async () => {
    await open({ items, draft: 'so far' });
    await blur();
    await panel.page.keyboard.type(' and on');
    await panel.page.keyboard.press('Shift+Enter');
    await panel.page.keyboard.type('here');
    assert.equal(await field().inputValue(), 'so far and on\nhere');
  });

  it('goes into the message if one key types two letters', async () => {
    await open({ items });
    await blur();
    await panel.page.evaluate(() =>
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'لا', bubbles: true })),
    );
    assert.ok(await hasFocus(field()));
  });

  it('goes into the message before there is a session', async () => {
    await open({ silent: true });
    await blur();
    await panel.page.keyboard.type('early bird');
    await panel.snapshot({ items });
    assert.equal(await field().inputValue(), 'early bird');
    assert.ok(await hasFocus(field()));
  });

  it('goes into the message before the main script runs', async () => {
    panel = await browser.blank();
    const { page } = panel;
    // Holds the main script back until the test starts it.
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'parleyBegin', {
        get: () => (start: () => void) => Object.assign(globalThis, { startMain: start }),
        set: () => undefined,
      });
    });
    await page.goto(browser.harness.server.url('dark', 'en'));
    await page.waitForFunction(() => 'startMain' in globalThis);
    assert.ok(await hasFocus(field()), 'a page that begins with the focus gives it to the message');
    await blur();
    assert.deepEqual(await panel.next('begun'), { type: 'begun' }, 'the host begins its work');
    await page.keyboard.type('at once');
    await page.evaluate(() => (globalThis as unknown as { startMain(): void }).startMain());
    await panel.next('hello');
    await page.keyboard.type(' and after');
    await panel.snapshot({ items });
    assert.equal(await field().inputValue(), 'at once and after');
  });

  it('opens the list of commands with a slash typed on an entry', async () => {
    await open({ items, session: { commands: [{ name: 'review', description: 'Reviews' }] } });
    await panel.page.locator('[data-entry-id=a]').focus();
    await panel.page.keyboard.press('/');
    await panel.page.getByRole('option', { name: /review/ }).waitFor();
  });

  it('does not go into the message for shortcuts, and keys that the focused element handles', async () => {
    await open({ items, session: { elicitations: [asksForm] }, height: 1400 });
    const name = panel.page.getByRole('textbox', { name: 'Name' });
    await name.focus();
    await panel.page.keyboard.type('main');
    assert.equal(await name.inputValue(), 'main');
    await panel.page.locator('[data-entry-id=a]').focus();
    for (const key of ['Control+b', 'Alt+x', 'Meta+j', 'Control+k', 'j', ' ', 'Home', 'F6'])
      await panel.page.keyboard.press(key);
    await button('More').click();
    await panel.page.keyboard.press('k');
    await panel.page.keyboard.press('Escape');
    await panel.page.locator('[data-entry-id=a]').focus();
    await panel.page.keyboard.press('?');
    await panel.page.getByRole('dialog').waitFor();
    await panel.page.keyboard.press('x');
    assert.equal(await field().inputValue(), '');
  });

  it('ignores a key held since before the page had the focus', async () => {
    await open({ items });
    await field().focus();
    await panel.page.keyboard.down('a');
    await panel.page.keyboard.down('a');
    await panel.page.evaluate(() => window.dispatchEvent(new FocusEvent('blur')));
    await panel.page.keyboard.down('a');
    assert.equal(await field().inputValue(), 'aa');
  });
});

describe('the focus', () => {
  let panel: Panel;
  const { open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  /** Simulates the focus in an editor; `true` focuses the page as a whole. */
  const setPageFocus = (isHere: boolean) =>
    panel.page.evaluate((here) => {
      document.hasFocus = () => here;
      window.dispatchEvent(new FocusEvent(here ? 'focus' : 'blur'));
    }, isHere);
  const isFocused = (locator: Locator) => locator.and(panel.page.locator(':focus')).count();

  it('does not move when a question is removed or a list closes while the user is elsewhere', async () => {
    await open({ session: { elicitations: [asksForm] } });
    await panel.page.locator('[data-elicitation-id]').focus();
    await setPageFocus(false);
    await panel.update({ op: 'session', patch: { elicitations: [] } });
    assert.equal(await isFocused(field()), 0);
    await setPageFocus(true);
    assert.equal(await isFocused(field()), 1);
    await button('More').click();
    await setPageFocus(false);
    assert.equal(await panel.page.getByRole('menu').count(), 0);
    assert.equal(await isFocused(button('More')), 0);
  });

  it('goes to the message if the element that requested it is removed', async () => {
    await open({ session: { elicitations: [asksForm] } });
    await panel.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await setPageFocus(false);
    await panel.page.locator('[data-elicitation-id]').evaluate((card) => (card as HTMLElement).focus());
    await panel.update({ op: 'session', patch: { elicitations: [] } });
    await setPageFocus(true);
    assert.equal(await isFocused(field()), 1);
  });

  it('is not needed to insert text into the message', async () => {
    await open();
    await panel.page.keyboard.press('Control+f');
    const find = panel.page.getByRole('textbox', { name: 'Find' });
    await find.and(panel.page.locator(':focus')).waitFor();
    await setPageFocus(false);
    await panel.send({ type: 'insert', text: '@parser.ts ' });
    await panel.page.waitForFunction(
      (text) => document.querySelector<HTMLTextAreaElement>('textarea.message')?.value === text,
      '@parser.ts ',
    );
    assert.equal(await find.inputValue(), '');
  });

  it('goes to the element that requested it last, even after a context menu', async () => {
    await open();
    await panel.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await panel.page.evaluate(() => {
      for (const type of ['pointerdown', 'contextmenu'])
        document.body.dispatchEvent(new Event(type, { bubbles: true }));
    });
    await setPageFocus(false);
    await panel.send({ type: 'focus', on: 'composer' });
    await panel.send({ type: 'focus', on: 'find' });
    assert.equal(await panel.page.getByRole('search').count(), 0);
    await setPageFocus(true);
    await panel.page.getByRole('textbox', { name: 'Find' }).and(panel.page.locator(':focus')).waitFor();
    await panel.page.keyboard.press('Escape');
    await setPageFocus(true);
    assert.equal(await panel.page.getByRole('search').count(), 0, 'once');
  });
});
