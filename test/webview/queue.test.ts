// Edits of queued messages, and the focus in the queue, in a real browser.
import assert from 'node:assert/strict';
import { CONTRACT_VERSION, type QueueItemView, type ToWebview } from '../../src/panel/contract';
import { type Panel, SESSION } from './harness/browser';
import { useChrome } from './harness/useChrome';

describe('the edit of a queued message', () => {
  let panel: Panel;
  const { open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  const item = (id: string, text: string): QueueItemView => ({ id, text, attachments: [], state: 'queued' });
  const editor = () => panel.page.getByRole('textbox', { name: 'Edit queued message' });
  const queue = [item('q1', 'first queued')];

  async function edit(): Promise<void> {
    await panel.page.locator('[data-queue-id=q1]').hover();
    await button('Edit').click();
  }

  it('is restored after a reload when the message is edited again', async () => {
    await open({ session: { queue } });
    await edit();
    await editor().fill('first queued, but better');
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { queue } });
    assert.equal(await editor().count(), 0);
    await panel.page.locator('[data-queue-id=q1]').getByText('Unsaved edit').waitFor();
    await edit();
    assert.equal(await editor().inputValue(), 'first queued, but better');
    await editor().press('Enter');
    assert.deepEqual(
      (await panel.posted('queue')).map(({ action }) => action),
      [
        { kind: 'hold', id: 'q1', held: true },
        { kind: 'edit', id: 'q1', text: 'first queued, but better' },
        { kind: 'hold', id: 'q1', held: false },
      ],
    );
    await edit();
    assert.equal(await editor().inputValue(), 'first queued', 'it was saved, and is the host’s now');
  });

  it('is restored to its last version even if local storage is full', async () => {
    await open({ session: { queue } });
    await edit();
    await editor().fill('first queued, but better');
    await panel.page.evaluate(() => {
      const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (name, value) {
        if (this === localStorage) throw new DOMException('full', 'QuotaExceededError');
        setItem.call(this, name, value);
      };
    });
    await editor().fill('first queued, but much better');
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { queue } });
    await edit();
    assert.equal(await editor().inputValue(), 'first queued, but much better');
  });

  it('that was saved while the host was not running is saved once by the next page', async () => {
    await open({ session: { queue } });
    await edit();
    await editor().fill('first queued, but better');
    await editor().press('Enter');
    const edits = async () => (await panel.posted('queue')).filter(({ action }) => action.kind === 'edit').length;
    assert.equal(await edits(), 1);
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { queue } });
    await panel.next('queue');
    assert.equal(await edits(), 1);
    const [first, ...others] = queue;
    assert.ok(first);
    await panel.update({
      op: 'session',
      patch: { queue: [{ ...first, text: 'first queued, but better' }, ...others] },
    });
    await panel.page.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith('parley.edits.')));
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { queue } });
    assert.equal(await edits(), 0);
  });

  it("does not appear in another session's message with the same id", async () => {
    await open({ session: { key: 'A', queue } });
    await edit();
    await editor().fill('words for A');
    await panel.snapshot({ session: { key: 'B', queue: [item('q1', 'of B')] } });
    assert.equal(await editor().count(), 0);
    await edit();
    assert.equal(await editor().inputValue(), 'of B');
  });

  it('moves to the composer if the message was sent in the meantime', async () => {
    await open({ session: { queue }, draft: 'half a thought' });
    await edit();
    await editor().fill('first queued, but better');
    await panel.update({ op: 'session', patch: { queue: [] } });
    await panel.page.waitForFunction(() =>
      document.querySelector('textarea')?.value.endsWith('\nfirst queued, but better'),
    );
    assert.match(await field().inputValue(), /^half a thought\n/);
  });

  it('is discarded with a message that the user removes', async () => {
    await open({ session: { queue } });
    await edit();
    await editor().fill('never mind');
    await panel.snapshot({ session: { key: 's2' } });
    await panel.snapshot({ session: { queue } });
    await panel.page.locator('[data-queue-id=q1]').hover();
    await button('Remove').click();
    await panel.update({ op: 'session', patch: { queue: [] } });
    assert.equal(await field().inputValue(), '');
  });
});

describe('the focus in the queue', () => {
  let panel: Panel;
  const { open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  const [one, two, three] = ['q1', 'q2', 'q3'].map(
    (id): QueueItemView => ({ id, text: `message ${id}`, attachments: [], state: 'queued' }),
  ) as [QueueItemView, QueueItemView, QueueItemView];
  const row = (id: string) => panel.page.locator(`[data-queue-id=${id}]`);
  const setQueue = (...queue: QueueItemView[]) => panel.update({ op: 'session', patch: { queue } });

  async function isOn(id: string, name: string): Promise<void> {
    const at = row(id).getByRole('button', { name });
    await panel.page.waitForFunction((node) => node === document.activeElement, await at.elementHandle());
  }

  async function isOnMessage(): Promise<void> {
    await panel.page.waitForFunction((node) => node === document.activeElement, await field().elementHandle());
  }

  const press = (id: string, name: string) => row(id).getByRole('button', { name }).press('Enter');

  it('is on the message after saving an edit, and on its button after cancelling', async () => {
    await open({ session: { queue: [one, two] } });
    const editor = panel.page.getByRole('textbox', { name: 'Edit queued message' });
    await press('q2', 'Edit');
    await editor.press('Escape');
    await isOn('q2', 'Edit');
    await press('q2', 'Edit');
    await editor.press('Enter');
    await isOnMessage();
  });

  it('stays on the button that moves a message, or the other one at the end of the list', async () => {
    await open({ session: { queue: [one, two, three] } });
    await press('q3', 'Move up');
    await setQueue(one, three, two);
    await isOn('q3', 'Move up');
    await press('q3', 'Move up');
    await setQueue(three, one, two);
    await isOn('q3', 'Move down');
  });

  it('is on the message after removing or sending one, and after resuming the queue', async () => {
    await open({ session: { queue: [one, two], queuePaused: 'Paused' } });
    await press('q2', 'Remove');
    await isOnMessage();
    await press('q1', 'Send now');
    await isOnMessage();
    await button('Resume').press('Enter');
    await isOnMessage();
  });
});

describe('the focus', () => {
  let panel: Panel;
  const { browser, open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  const inComposer = () => panel.page.waitForFunction(() => document.activeElement?.matches('textarea.message'));

  it('is in the composer when the page is focused as a whole', async () => {
    await open();
    await inComposer(); // this page has the text from the start
    await panel.page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      window.dispatchEvent(new Event('focus'));
    });
    await inComposer();
    assert.deepEqual(await panel.posted('wake'), [], 'which is no touch of the user');
  });

  it('is in the composer if the session arrives before the first frame', async () => {
    panel = await browser.blank();
    const { page } = panel;
    const snapshot: ToWebview = {
      type: 'snapshot',
      version: CONTRACT_VERSION,
      revision: 1,
      session: SESSION,
      total: 0,
      from: 0,
      items: [],
      draft: { text: '', revision: 0 },
    };
    // Answers in the task of the greeting, before anything is drawn.
    await page.addInitScript(
      (first) =>
        addEventListener('DOMContentLoaded', () =>
          host.next('hello').then(() => dispatchEvent(new MessageEvent('message', { data: first, origin }))),
        ),
      snapshot,
    );
    await page.goto(browser.harness.server.url('dark', 'en'));
    await page.evaluate(() => host.acked(1));
    assert.ok(await field().evaluate((node) => node === document.activeElement));
  });

  it('stays where the user has moved it', async () => {
    await open();
    await button('New session').focus();
    await panel.page.evaluate(() => window.dispatchEvent(new Event('focus')));
    assert.ok(await button('New session').evaluate((node) => node === document.activeElement));
  });

  it('is in the composer after stopping the turn with the button', async () => {
    await open({ session: { phase: 'running' } });
    await button('Stop').click();
    await panel.next('cancel');
    await panel.update({ op: 'session', patch: { phase: 'ready' } });
    await button('Stop').waitFor({ state: 'detached' });
    assert.ok(await field().evaluate((node) => node === document.activeElement));
  });

  it('in an empty composer stops the turn with Escape', async () => {
    await open({ session: { phase: 'running', commands: [{ name: 'init', description: '' }] } });
    await field().fill('/');
    await field().press('Escape');
    await field().press('Escape');
    assert.deepEqual(await panel.posted('cancel'), [], 'neither with a list open nor with a text');
    await field().fill('');
    await field().press('Escape');
    assert.equal((await panel.posted('cancel')).length, 1);
    await panel.update({ op: 'session', patch: { phase: 'ready' } });
    await field().press('Escape');
    assert.equal((await panel.posted('cancel')).length, 1, 'there is nothing to stop');
  });
});
