// Forms and pages requested by an agent, in a real browser under the real content security policy.
import assert from 'node:assert/strict';
import type { ElicitationView, Form } from '../../src/panel/contract';
import { THEMES } from '../support/tier';
import type { Panel, PanelOptions } from './harness/browser';
import { asksForm, asksPage } from './harness/questionSamples';
import { conversation, permission } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('questions', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(elicitations: readonly ElicitationView[], options: PanelOptions = {}): Promise<Panel> {
    const session = { phase: 'requiresAction', elicitations, ...options.session } as const;
    panel = await browser.open({ height: 1400, items: [], ...options, session });
    return panel;
  }

  const card = () => panel.page.getByRole('group', { name: /^Question from / });
  const field = (name: string) => card().getByRole('textbox', { name });
  const press = (name: string) => card().getByRole('button', { name, exact: true }).click();

  it('show and announce who asks and what', async () => {
    const { page } = await open([asksForm]);
    await page.getByRole('group', { name: 'Question from Claude: Which database shall I use?' }).waitFor();
    assert.match(await card().innerText(), /Question from Claude\s+create_database\s+Which database shall I use\?/);
    await page
      .getByRole('alert')
      .filter({ hasText: 'Question from Claude: Which database shall I use?' })
      .waitFor({ state: 'attached' });
  });

  it('have labelled fields', async () => {
    await open([asksForm]);
    await field('Name').waitFor();
    await card()
      .getByRole('radio', { name: /^PostgreSQL/ })
      .waitFor();
    assert.equal(await card().getByRole('combobox', { name: 'Region' }).inputValue(), 'r3');
    assert.equal(await field('Port').inputValue(), '5432');
    assert.ok(await card().getByRole('checkbox', { name: 'Encrypt the connection' }).isChecked());
    assert.equal(
      await card()
        .getByRole('group', { name: /^Users/ })
        .getByRole('checkbox')
        .count(),
      3,
    );
    assert.match(await card().innerText(), /Unsupported field type: hologram/);
  });

  it('neither prefill nor store a secret', async () => {
    const { page } = await open([asksForm]);
    assert.equal(await field('API token').inputValue(), '');
    await field('API token').fill('s3cret');
    await field('Name').fill('main');
    assert.match(await card().innerText(), /Don't enter passwords or keys/);
    const state = JSON.stringify(await page.evaluate(() => host.state()));
    assert.match(state, /main/);
    assert.doesNotMatch(state, /s3cret/);
  });

  it('send only valid values, and show problems at the field', async () => {
    const { page } = await open([asksForm]);
    await field('Name').fill('X');
    await field('Port').fill('many');
    await press('Submit');
    assert.equal((await panel.posted('elicitation')).length, 0);
    assert.equal(await field('Name').getAttribute('aria-invalid'), 'true');
    assert.ok(
      await field('Name').evaluate((node) => node === document.activeElement),
      'the first wrong field has the focus',
    );
    const described = await field('Name').getAttribute('aria-describedby');
    const words = await page.evaluate(
      (ids) =>
        (ids ?? '')
          .split(' ')
          .map((id) => document.getElementById(id)?.textContent ?? '')
          .join(' '),
      described,
    );
    assert.match(words, /Lower case letters\..*Enter at least 2 characters\./);
    assert.match(await card().innerText(), /Enter a number\./);
    await field('Name').fill('main');
    assert.equal(await field('Name').getAttribute('aria-invalid'), null, 'it is right as soon as it is');
  });

  it('send an answer exactly once', async () => {
    await open([asksForm]);
    await field('Name').fill('main');
    await field('What is it for?').fill('tests');
    await card().getByRole('radio', { name: 'MySQL' }).check();
    await card().getByLabel('Needed until').fill('2026-12-24');
    await card().getByRole('checkbox', { name: 'eve' }).check();
    await card().getByRole('checkbox', { name: 'ann' }).check();
    await panel.answerable('ask1');
    await field('Name').press('Enter');
    const { id, answer } = await panel.next('elicitation');
    assert.equal(id, 'ask1');
    assert.deepEqual(answer, {
      kind: 'submit',
      values: {
        name: 'main',
        why: 'tests',
        kind: 'my',
        region: 'r3',
        port: 5432,
        until: '2026-12-24',
        tls: true,
        users: ['ann', 'eve'],
        apiToken: '',
        shape: '',
      },
    });
    assert.ok(await card().getByRole('button', { name: 'Submit' }).isDisabled());
    assert.equal((await panel.posted('elicitation')).length, 1);
    await panel.send({ type: 'formRefused', id: 'ask1', problems: { name: { code: 'pattern' } } });
    await card().getByText('Invalid format.').waitFor();
    await panel.page.waitForFunction((node) => node === document.activeElement, await field('Name').elementHandle());
    await panel.answerable('ask1'); // it can be corrected
    await panel.update({ op: 'session', patch: { elicitations: [] } });
    assert.equal(await card().count(), 0);
  });

  it('can be declined, and are never accepted automatically', async () => {
    await open([asksForm]);
    await press('Decline');
    assert.deepEqual((await panel.next('elicitation')).answer, { kind: 'decline' });
    await press('Cancel');
    assert.deepEqual((await panel.next('elicitation', (await panel.count()) - 1)).answer, { kind: 'cancel' });
  });

  it('keep typed values on the first Escape', async () => {
    const { page } = await open([asksForm]);
    await field('Name').fill('main');
    await panel.answerable('ask1');
    await page.keyboard.press('Escape');
    assert.equal((await panel.posted('elicitation')).length, 0);
    assert.ok(await card().evaluate((node) => node === document.activeElement));
    await page.keyboard.press('Escape');
    assert.deepEqual((await panel.next('elicitation')).answer, { kind: 'cancel' });
  });

  it('accept digits as text, without answering a permission request elsewhere', async () => {
    const items = conversation();
    const { page } = await open([asksForm], { items, session: { permissions: [permission(items.length - 1)] } });
    await card().getByRole('button', { name: 'Decline' }).focus();
    await page.keyboard.press('1');
    await card().focus();
    await page.keyboard.press('2');
    assert.equal((await panel.posted('permission')).length, 0);
  });

  it('keep typed values while the panel is hidden', async () => {
    const { page } = await open([asksForm]);
    await field('Name').fill('main');
    await page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { phase: 'requiresAction', elicitations: [asksForm] } });
    assert.equal(await field('Name').inputValue(), 'main');
    await panel.update({ op: 'session', patch: { elicitations: [] } });
    assert.doesNotMatch(JSON.stringify(await page.evaluate(() => host.state())), /main/);
  });

  it('can be declined if they cannot be answered', async () => {
    const form: Form = { fields: [{ key: 's', type: 'unknown', kind: 'hologram', required: true }] };
    await open([{ id: 'a', mode: 'form', message: 'Show me', form }]);
    assert.ok(await card().getByRole('button', { name: 'Submit' }).isDisabled());
    assert.match(await card().innerText(), /You can decline the form/);
    await press('Decline');
    await panel.next('elicitation');
  });

  it('open a page only after showing its whole URL, and send no URL back', async () => {
    await open([asksPage]);
    const address = card().locator('.address');
    assert.equal(await address.innerText(), asksPage.mode === 'url' ? asksPage.url : '');
    assert.equal(await address.locator('b').innerText(), 'accounts.example.com');
    assert.equal(await card().locator('a, iframe, img').count(), 0);
    await press('Open accounts.example.com');
    assert.deepEqual(await panel.next('elicitation'), {
      type: 'elicitation',
      key: 's1',
      id: 'ask2',
      answer: { kind: 'open' },
    });
    await panel.update({
      op: 'session',
      patch: { phase: 'running', elicitations: [{ ...asksPage, opened: true } as ElicitationView] },
    });
    assert.match(await card().innerText(), /Continue in the browser/);
    assert.equal(await panel.page.getByRole('button', { name: 'Needs you' }).count(), 0);
    await card().getByRole('button', { name: 'Open again' }).waitFor();
  });

  it('warn about a host name that resembles another', async () => {
    await open([{ ...asksPage, url: 'https://xn--pple-43d.com/' } as ElicitationView]);
    assert.match(await card().innerText(), /characters that may look like others/);
  });

  it('can be reached when scrolled out of view', async () => {
    const items = [...conversation(), ...conversation().map((item) => ({ ...item, id: `${item.id}b` }))];
    const { page } = await open([asksPage], { items, height: 500 });
    await page.getByRole('log').hover();
    await page.mouse.wheel(0, -20_000);
    await page.getByRole('button', { name: 'Needs you' }).click();
    await page.waitForFunction(() => document.activeElement?.matches('[data-elicitation-id="ask2"]'));
  });

  it('can be answered in every theme and in a narrow panel', async () => {
    for (const theme of THEMES) {
      await open([asksForm, asksPage], { theme, width: 280, height: 900 });
      const wide = await panel.page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.querySelector('.transcript')!;
        const outside = [...document.querySelectorAll('.question-card :is(button, input, select, textarea)')].filter(
          (node) => node.getBoundingClientRect().right > innerWidth,
        );
        return { over: scrollWidth - clientWidth, outside: outside.map((node) => node.outerHTML) };
      });
      assert.deepEqual(wide, { over: 0, outside: [] }, theme);
    }
  });
});
