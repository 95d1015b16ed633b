// Answering questions by key, from the message field and one after another.
import assert from 'node:assert/strict';
import type { PermissionView } from '../../src/panel/contract';
import type { Panel } from './harness/browser';
import { asksForm } from './harness/questionSamples';
import { permission, tool } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

describe('a question answered by key', () => {
  let panel: Panel;
  const { open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  const items = ['c0', 'c1'].map((id) => tool(id, { title: id, toolKind: 'edit', status: 'pending' }));
  const asks = (index: number): PermissionView => permission(index, { id: `p${index + 1}` });
  const asked = { ...RUNNING, phase: 'requiresAction', permissions: [asks(0)] } as const;
  const card = (id: string) => panel.page.locator(`[data-permission-id="${id}"]`);
  const answers = async () => (await panel.posted('permission')).map(({ id, optionId }) => `${id} ${optionId}`);
  const focused = (selector: string) =>
    panel.page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector);
  const type = (text: string) => panel.page.keyboard.type(text);
  const press = (key: string) => panel.page.keyboard.press(key);

  it('is focused by a number typed into the empty message, and answered by Enter', async () => {
    await open({ items, session: asked });
    await panel.answerable();
    await field().focus();
    await press('3');
    await focused('[data-permission-id=p1] [data-key="3"]');
    assert.deepEqual(await answers(), []);
    await press('Enter');
    assert.deepEqual(await answers(), ['p1 no']);
    assert.equal(await field().inputValue(), '');
  });

  it('is not answered by a message that begins with a number', async () => {
    await open({ items, session: asked });
    await panel.answerable();
    await field().focus();
    await type('2 files, 12 lines');
    assert.equal(await field().inputValue(), '2 files, 12 lines');
    await field().fill('');
    await type('12 lines');
    assert.equal(await field().inputValue(), '12 lines');
    await field().fill('see ');
    await type('3');
    assert.equal(await field().inputValue(), 'see 3');
    await field().fill('');
    await type('9');
    assert.equal(await field().inputValue(), '9', 'there is no such answer');
    assert.deepEqual(await answers(), []);
  });

  it('returns the focus to the message on Escape and Backspace', async () => {
    await open({ items, session: asked });
    await panel.answerable();
    await field().focus();
    for (const key of ['Escape', 'Backspace']) {
      await press('1');
      await press('2');
      await focused('[data-key="2"]');
      await press(key);
      await focused('textarea.message');
    }
    assert.equal(await field().inputValue(), '');
    assert.deepEqual(await answers(), []);
    assert.deepEqual(await panel.posted('cancel'), []);
  });

  it('shows its numbers, and how they work, while they do', async () => {
    await open({ items, session: { ...asked, permissions: [asks(0), asks(1)] } });
    await field().focus();
    await card('p1').getByText('Number, then Enter to answer').waitFor();
    const numbersOf = (id: string) =>
      card(id)
        .locator('kbd')
        .first()
        .evaluate((node) => getComputedStyle(node).visibility);
    assert.deepEqual(await Promise.all([numbersOf('p1'), numbersOf('p2')]), ['visible', 'hidden']);
    await type('x');
    await card('p1').getByText('Ctrl+K J to answer by key').waitFor();
    assert.equal(await numbersOf('p1'), 'hidden');
    await card('p1').focus();
    await card('p1').getByText('Esc to dismiss, ? for keys').waitFor();
    await press('?');
    await panel.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  it('is followed by the next question of the turn, which gets the focus', async () => {
    await open({ items, session: asked });
    await panel.answerable();
    await field().focus();
    await press('1');
    await press('Enter');
    await panel.update({ op: 'session', patch: { phase: 'running', permissions: [] } });
    await focused('textarea.message');
    await panel.update({ op: 'session', patch: { phase: 'requiresAction', permissions: [asks(1)] } });
    await focused('[data-permission-id=p2]');
    await panel.answerable('p2');
    await press('3');
    await focused('[data-permission-id=p2] [data-key="3"]');
    assert.deepEqual(await answers(), ['p1 yes'], 'the user may begin a message');
    await press('Enter');
    await panel.update({ op: 'session', patch: { phase: 'running', permissions: [] } });
    await panel.update({ op: 'session', patch: { phase: 'requiresAction', elicitations: [asksForm] } });
    await focused('[data-elicitation-id]');
    assert.deepEqual(await answers(), ['p1 yes', 'p2 no']);
  });

  it('that took the focus yields to typing, and is answered by a number alone once the user focuses it', async () => {
    await open({ items, session: asked });
    await panel.answerable();
    await card('p1').focus();
    await press('1');
    await panel.update({ op: 'session', patch: { phase: 'running', permissions: [] } });
    await panel.update({ op: 'session', patch: { phase: 'requiresAction', permissions: [asks(1)] } });
    await focused('[data-permission-id=p2]');
    await panel.answerable('p2');
    await type('2 files');
    assert.equal(await field().inputValue(), '2 files');
    await panel.send({ type: 'focus', on: 'question' });
    await focused('[data-permission-id=p2]');
    await press('3');
    assert.deepEqual(await answers(), ['p1 yes', 'p2 no']);
  });

  it('does not pass the focus on once the user types, answers by pointer or the turn has ended', async () => {
    const next = async (): Promise<void> => {
      await panel.update({ op: 'session', patch: { phase: 'requiresAction', permissions: [asks(1)] } });
      await card('p2').waitFor();
      await focused('textarea.message');
    };
    const answer = async (byKey: boolean): Promise<void> => {
      await open({ items, session: asked });
      await panel.answerable();
      if (byKey) {
        await card('p1').focus();
        await press('1');
      } else await button('Allow').click();
      await panel.update({ op: 'session', patch: { phase: 'running', permissions: [] } });
    };
    await answer(true);
    await type('x');
    await press('Backspace');
    await next();
    await answer(false);
    await next();
    await answer(true);
    await panel.update({ op: 'session', patch: { phase: 'ready', turn: null } });
    await panel.update({ op: 'session', patch: RUNNING });
    await next();
  });

  it('of a form is focused by the numbers of its first choice', async () => {
    await open({ items, session: { ...RUNNING, phase: 'requiresAction', elicitations: [asksForm] }, height: 1400 });
    await panel.answerable('ask1');
    await field().focus();
    await press('2');
    const second = panel.page.getByRole('radio', { name: 'MySQL' });
    assert.ok(await second.isChecked());
    await press('1');
    assert.ok(await panel.page.getByRole('radio', { name: /^PostgreSQL/ }).isChecked());
    await type(' or 2');
    assert.equal(await field().inputValue(), '21 or 2');
    assert.deepEqual(await panel.posted('elicitation'), []);
  });
});
