// Which clicks and keys count as an answer to a question, in a real browser.
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { PermissionView } from '../../src/panel/contract';
import type { Panel } from './harness/browser';
import { asksForm, asksPage } from './harness/questionSamples';
import { DIFF, message, permission, tool } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

const long = Array.from({ length: 60 }, (_, line) => `Line ${line} of the answer.`).join('\n\n');

describe('an answer', () => {
  let panel: Panel;
  const { open, field } = useChrome((opened) => {
    panel = opened;
  });

  const calls = ['ls', 'rm -rf build', 'git push --force'].map((title, index) =>
    tool(`c${index}`, { title, toolKind: 'execute', status: 'pending' }),
  );
  const tall = tool('c0', {
    title: 'ls',
    toolKind: 'edit',
    status: 'pending',
    content: Array.from({ length: 10 }, (_, n) => ({ type: 'diff', diff: { ...DIFF, path: `/work/app/${n}.ts` } })),
  });
  const asks = (index: number, patch: Partial<PermissionView> = {}): PermissionView =>
    permission(index, { id: `p${index + 1}`, title: calls[index]?.title ?? '', ...patch });
  const card = (id: string) => panel.page.locator(`[data-permission-id="${id}"]`);
  const allow = (id: string) => card(id).getByRole('button', { name: 'Allow', exact: true });
  const answers = async () => (await panel.posted('permission')).map(({ id, optionId }) => `${id} ${optionId}`);
  const focusedCard = () =>
    panel.page.waitForFunction(() => document.activeElement?.getAttribute('data-permission-id'));

  /** Scrolls until an edge of an element is 10 px below the top edge of the panel. */
  async function cutOff(element: Locator, edge: 'top' | 'bottom'): Promise<void> {
    const place = await element.evaluate((node, side) => {
      const box = node.closest('.transcript')!;
      // Not at 0: the scroll anchor is above.
      return box.scrollTop + node.getBoundingClientRect()[side] - box.getBoundingClientRect().top - 10;
    }, edge);
    await panel.scrollTo(Math.round(place));
  }

  it('is not given by typing after a click on the conversation', async () => {
    await open({ items: [calls[2]!, message('a', 'agent', long)], session: { permissions: [asks(0)] } });
    await panel.page.getByText('Line 59 of the answer.').click();
    await panel.page.keyboard.type('2 things please');
    assert.deepEqual(await answers(), []);
  });

  it('is not given by a held key', async () => {
    await open({ items: calls, session: { permissions: [asks(0), asks(1), asks(2)] } });
    await panel.answerable();
    await card('p1').focus();
    await panel.page.keyboard.down('1');
    await focusedCard();
    await panel.answerable('p2');
    for (let time = 0; time < 3; time++) await panel.page.keyboard.down('1'); // repeats, as the key is still down
    await panel.page.keyboard.up('1');
    assert.deepEqual(await answers(), ['p1 yes']);
    await panel.page.keyboard.press('1');
    assert.deepEqual(await answers(), ['p1 yes', 'p2 yes'], 'a new press is an answer');
  });

  it('is not given by a button while its Enter key is held', async () => {
    await open({ items: calls, session: { permissions: [asks(0), asks(1)] } });
    await panel.answerable();
    await allow('p1').focus();
    await panel.page.keyboard.down('Enter');
    await allow('p2').focus();
    await panel.answerable('p2');
    await panel.page.keyboard.down('Enter');
    await panel.page.keyboard.up('Enter');
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('is not given by the second click of a double click on the previous question', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] } });
    await panel.answerable();
    const { x, y } = (await allow('p1').boundingBox())!;
    const { mouse } = panel.page;
    await mouse.move(x + 4, y + 4);
    await mouse.down();
    await mouse.up();
    assert.deepEqual(await answers(), ['p1 yes']);
    await panel.update({ op: 'session', patch: { permissions: [asks(0, { id: 'p9', title: 'git push --force' })] } });
    const next = (await allow('p9').boundingBox())!;
    await mouse.move(next.x + 4, next.y + 4);
    await mouse.down({ clickCount: 2 });
    await mouse.up({ clickCount: 2 });
    await panel.answerable('p9');
    await mouse.down({ clickCount: 2 });
    await mouse.up({ clickCount: 2 });
    assert.deepEqual(await answers(), ['p1 yes'], 'however slow the double click is');
    await allow('p9').click();
    assert.deepEqual(await answers(), ['p1 yes', 'p9 yes']);
  });

  it('does not count if the card has just appeared', async () => {
    await open({ items: calls });
    // Clicks in the same task in which it appears, however slow the machine.
    await panel.page.evaluate(() => {
      const observer = new MutationObserver(() => {
        const button = document.querySelector('[data-permission-id="p1"] .answers button');
        if (!button) return;
        observer.disconnect();
        button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
        button.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
        document.documentElement.dataset.pressed = 'true';
      });
      observer.observe(document.body, { childList: true, subtree: true });
    });
    await panel.update({ op: 'session', patch: { permissions: [asks(0)] } });
    await panel.page.locator('html[data-pressed]').waitFor({ state: 'attached' });
    assert.deepEqual(await answers(), []);
    await allow('p1').click();
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('does not count if the card has just moved under the pointer', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] } });
    await panel.answerable();
    await panel.page.evaluate(() => {
      document.querySelector<HTMLElement>('.header')!.style.marginBottom = '40px';
    });
    await allow('p1').click({ force: true });
    assert.deepEqual(await answers(), []);
  });

  it('is delayed again when the page with the card becomes visible', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] } });
    await panel.answerable();
    await panel.page.evaluate(() => {
      document.dispatchEvent(new Event('visibilitychange'));
      const button = document.querySelector('[data-permission-id="p1"] .answers button')!;
      button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
      button.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
    });
    assert.deepEqual(await answers(), []);
    await panel.answerable();
    await allow('p1').click();
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('does not count if the request has just changed', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] } });
    await panel.answerable();
    await allow('p1').hover();
    await panel.update({ op: 'put', index: 0, item: { ...calls[0]!, title: 'rm' } as (typeof calls)[0] });
    await panel.page.mouse.down();
    await panel.page.mouse.up();
    assert.deepEqual(await answers(), []);
    await panel.answerable();
    await allow('p1').click();
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('does not count as a click without a pointer while the focus is elsewhere', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] } });
    await panel.answerable();
    await field().focus();
    await allow('p1').evaluate((button: HTMLElement) => {
      button.click();
      // A refused answer restarts the delay of the card.
      button.focus();
      button.click();
    });
    assert.deepEqual(await answers(), []);
    await panel.answerable();
    // Clicks like assistive technology.
    await allow('p1').evaluate((button: HTMLElement) => {
      button.focus();
      button.click();
    });
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('does not count as a click on a card that is out of view', async () => {
    const edit = tool('c0', { title: 'Edit a.ts', status: 'pending', content: [{ type: 'diff', diff: DIFF }] });
    await open({ items: [edit, message('a', 'agent', long)], session: { permissions: [asks(0)] } });
    await panel.scrollTo(0);
    await panel.answerable();
    await cutOff(allow('p1'), 'top');
    await allow('p1').and(panel.page.locator('[aria-disabled=true]')).waitFor();
    await panel.answerable();
    const { x, y } = (await allow('p1').boundingBox())!;
    await panel.page.mouse.click(x + 4, y + 4);
    assert.deepEqual(await answers(), []);
    await panel.answerable();
    await allow('p1').click();
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('does not count on a partly visible card, which is then scrolled into view', async () => {
    await open({ items: [calls[0]!, message('a', 'agent', long)], session: { permissions: [asks(0)] } });
    await panel.scrollTo(0);
    await panel.answerable();
    await card('p1').focus();
    await cutOff(card('p1'), 'bottom');
    await panel.answerable();
    await panel.page.keyboard.press('1');
    assert.deepEqual(await answers(), []);
    await panel.answerable();
    await panel.page.keyboard.press('1');
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('counts at the end of a long conversation while following the end', async () => {
    await open({ items: [message('a', 'agent', long)], session: { phase: 'running' } });
    const asked = tool('c9', {
      title: 'Edit a.ts',
      toolKind: 'edit',
      status: 'pending',
      content: [{ type: 'diff', diff: DIFF }],
    });
    await field().fill('go on');
    await panel.update({ op: 'put', index: 1, item: asked });
    await panel.update({ op: 'session', patch: { phase: 'requiresAction', permissions: [asks(1, { id: 'p1' })] } });
    await panel.answerable();
    await card('p1').getByRole('button', { name: 'Reject', exact: true }).click();
    assert.deepEqual(await answers(), ['p1 no']);
  });

  it('counts by key on a card taller than the panel once its buttons are in view', async () => {
    await open({ items: [tall], session: { permissions: [asks(0)] }, height: 500 });
    await card('p1').focus();
    await panel.scrollTo(40);
    await panel.answerable();
    await panel.page.keyboard.press('1');
    assert.deepEqual(await answers(), []);
    await panel.answerable();
    await panel.page.keyboard.press('1');
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('does not count while only the buttons of a card taller than the panel are visible', async () => {
    const items = [tall, message('a', 'agent', long)];
    await open({ items, session: { permissions: [asks(0)] }, height: 500 });
    await panel.scrollTo(0);
    await panel.answerable();
    await cutOff(allow('p1'), 'top');
    await allow('p1').and(panel.page.locator('[aria-disabled=true]')).waitFor();
    await panel.answerable();
    const { x, y } = (await allow('p1').boundingBox())!;
    await panel.page.mouse.click(x + 4, y + 4);
    assert.deepEqual(await answers(), []);
  });

  it('is never covered by the button that scrolls to the end', async () => {
    const items = [message('a', 'agent', long), calls[0]!, message('b', 'agent', long)];
    await open({ items, session: { permissions: [asks(1, { id: 'p1', options: [] })] } });
    const jump = panel.page.getByRole('button', { name: 'Jump to latest' });
    await panel.send({ type: 'reveal', index: 1 });
    await focusedCard();
    await jump.waitFor();
    /** Scrolls until the bottom edge of the card is `above` px above that of the box. */
    const cardAt = async (above: number): Promise<void> =>
      panel.scrollTo(
        await panel.page.evaluate((distance) => {
          const box = document.querySelector('.transcript')!;
          const { bottom } = document.querySelector('[data-permission-id]')!.getBoundingClientRect();
          return Math.round(box.scrollTop + bottom - box.getBoundingClientRect().bottom + distance);
        }, above),
      );
    await cardAt(10);
    await jump.waitFor({ state: 'hidden' });
    await cardAt(200);
    await jump.waitFor();
  });

  it('that is refused leaves the question in place at the end of the conversation', async () => {
    await open({ items: [message('a', 'agent', long), calls[0]!], session: RUNNING });
    await panel.update({ op: 'session', patch: { permissions: [asks(1, { id: 'p1' })] } });
    const top = () => card('p1').evaluate((node) => node.getBoundingClientRect().top);
    const before = await top();
    // Restarts the wait, however long the page took so far.
    await panel.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await allow('p1').click({ force: true });
    assert.deepEqual(await answers(), []);
    await panel.update({ op: 'put', index: 2, item: message('b', 'agent', long) });
    assert.equal(await top(), before);
    await panel.answerable();
    await allow('p1').click();
    assert.deepEqual(await answers(), ['p1 yes']);
    await panel.page.getByText('Line 59 of the answer.').last().waitFor();
    await panel.page.waitForFunction(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.transcript')!;
      return scrollHeight - scrollTop - clientHeight < 1;
    });
  });

  it('by key moves the focus to the next question, and after the last one to the composer', async () => {
    await open({ items: calls, session: { permissions: [asks(0), asks(1)] } });
    await panel.answerable();
    await card('p1').focus();
    await panel.page.keyboard.press('1');
    assert.equal(await (await focusedCard()).jsonValue(), 'p2');
    await panel.answerable('p2');
    await panel.page.keyboard.press('3');
    await panel.page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
    assert.deepEqual(await answers(), ['p1 yes', 'p2 no']);
  });

  it('by pointer moves the focus to the composer, where typing answers nothing', async () => {
    await open({ items: calls, session: { permissions: [asks(0), asks(1)] } });
    await allow('p1').click();
    await panel.page.keyboard.type('2 things');
    assert.equal(await field().inputValue(), '2 things');
    assert.deepEqual(await answers(), ['p1 yes']);
  });

  it('shows its keys only while they work', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] }, draft: 'text' });
    const key = allow('p1').locator('kbd');
    assert.equal(await key.evaluate((node) => getComputedStyle(node).visibility), 'hidden');
    await card('p1').focus();
    assert.equal(await key.evaluate((node) => getComputedStyle(node).visibility), 'visible');
  });

  it("is sent to the question's session", async () => {
    await open({ session: { key: 'A', permissions: [asks(7, { id: 'same', title: 'Read README.md' })] } });
    await panel.snapshot({ session: { key: 'B', permissions: [asks(7, { id: 'same', title: 'git push --force' })] } });
    assert.match(await card('same').innerText(), /git push --force/);
    await allow('same').click();
    assert.equal((await panel.next('permission')).key, 'B');
  });

  it('to a page is not given by the second click of a double click', async () => {
    await open({ items: calls, session: { permissions: [asks(0)] } });
    await allow('p1').click();
    await panel.update({ op: 'session', patch: { permissions: [], elicitations: [asksPage] } });
    await panel.page.getByRole('button', { name: 'Open accounts.example.com' }).click({ force: true });
    assert.deepEqual(await panel.posted('elicitation'), []);
  });

  it('to a form stays with its session while being typed', async () => {
    const forms = (key: string) => ({ session: { key, elicitations: [asksForm] }, height: 1400 });
    const name = () => panel.page.getByRole('textbox', { name: 'Name' });
    const token = () => panel.page.getByRole('textbox', { name: 'API token' });
    await open(forms('A'));
    await name().fill('private words for A');
    await token().fill('hunter2-for-A');
    await panel.snapshot(forms('B'));
    assert.equal(await name().inputValue(), '');
    assert.equal(await token().inputValue(), '');
    await panel.snapshot({ session: { key: 'C' } });
    await panel.snapshot(forms('A'));
    assert.equal(await name().inputValue(), 'private words for A');
    assert.equal(await token().inputValue(), 'hunter2-for-A');
  });

  it('can be given again if the host rejected the form', async () => {
    const form = { fields: [{ key: 'why', type: 'text', title: 'Why', required: false }] } as const;
    await open({ session: { elicitations: [{ id: 'f', mode: 'form', message: 'Why?', form }] } });
    const submit = panel.page.getByRole('button', { name: 'Submit' });
    await submit.click();
    assert.ok(await submit.isDisabled());
    await panel.send({ type: 'rejected', id: 'f', reason: 'This is too large.' });
    await panel.page.getByRole('alert').filter({ hasText: 'This is too large.' }).first().waitFor();
    await submit.click();
    assert.equal((await panel.posted('elicitation')).length, 2);
  });
});

describe('a question', () => {
  let panel: Panel;
  const { open } = useChrome((opened) => {
    panel = opened;
  });

  it('is announced again if it is asked again', async () => {
    const items = [tool('c1', { title: 'npm test', status: 'pending' })];
    await open({ items });
    await panel.page.evaluate(() => {
      const region = document.querySelector('.sr-only[role="alert"]')!;
      new MutationObserver((records) => {
        for (const node of records.flatMap(({ addedNodes }) => [...addedNodes]))
          document.documentElement.dataset.heard = `${document.documentElement.dataset.heard ?? ''}|${node.textContent}`;
      }).observe(region, { childList: true });
    });
    for (const id of ['p1', 'p2']) {
      await panel.update({ op: 'session', patch: { permissions: [permission(0, { id, title: 'npm test' })] } });
      await panel.update({ op: 'session', patch: { permissions: [] } });
    }
    const announcement = '|The agent needs permission: npm test';
    await panel.page.waitForFunction(
      (all) => document.documentElement.dataset.heard === all,
      announcement + announcement,
    );
  });
});
