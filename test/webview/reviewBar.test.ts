// The review bar above the composer, in a real browser.
import assert from 'node:assert/strict';
import type { Panel, PanelOptions } from './harness/browser';
import { countOf, FILES, file, ListHost, manyFiles, REVIEW } from './harness/changeSamples';
import { SESSION_FULL } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('the review bar', () => {
  const browser = useHarness();
  let panel: Panel;

  const bar = () => panel.page.getByRole('region', { name: 'Review Changes' });
  const button = (name: string) => bar().getByRole('button', { name, exact: true });
  const row = (path: string) => panel.page.locator(`[data-path="${path}"]`);
  const actions = async () =>
    (await panel.posted('changesAction')).map(({ kind, scope, file: id }) => [kind, scope, ...(id ? [id] : [])]);
  const inComposer = () => panel.page.waitForFunction(() => document.activeElement?.matches('textarea.message'));

  async function open(options: PanelOptions = REVIEW): Promise<void> {
    panel = await browser.open(options);
    await panel.page.locator('.review, .changes').first().waitFor({ state: 'attached' });
  }

  async function openList(files = FILES): Promise<ListHost> {
    await open({ ...REVIEW, session: { review: countOf(files) } });
    await button('Changed files').click();
    const host = new ListHost(panel, files);
    await host.answer();
    await row(files[0]!.label).waitFor();
    return host;
  }

  /** Stops the clock of the page. @param ms by which it is advanced */
  const setClock = (ms: number) =>
    panel.page.evaluate((by) => {
      const now = performance.now() + by;
      performance.now = () => now;
    }, ms);

  async function change(host: ListHost, files: typeof FILES): Promise<void> {
    host.files = files;
    host.version += 1;
    const review = files.length === 0 ? null : countOf(files, host.version);
    await panel.update({ op: 'session', patch: { review } });
  }

  it('is shown above the composer while changes are pending', async () => {
    await open();
    assert.equal(await button('Review 6 files').innerText(), 'Review 6 files');
    await button('Review 6 files').click();
    await button('Keep All').click();
    await button('Undo All').click();
    assert.deepEqual(await actions(), [
      ['open', 'review'],
      ['keep', 'review'],
      ['undo', 'review'],
    ]);
    await panel.update({ op: 'session', patch: { review: null } });
    assert.equal(await bar().count(), 0);
  });

  it('offers to redo the last undo, and gets the focus if everything was undone', async () => {
    await open({ ...REVIEW, session: { review: { ...countOf(FILES), redoable: 1 } } });
    await button('Redo').click();
    await button('Undo All').focus();
    await panel.page.keyboard.press('Enter');
    await panel.update({ op: 'session', patch: { review: { ...countOf([], 2), redoable: 7 } } });
    await bar().getByText('7 files undone').waitFor();
    assert.deepEqual([await button('Keep All').count(), await button('Changed files').count()], [0, 0]);
    await panel.page.waitForFunction(() => document.activeElement?.textContent === 'Redo');
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await actions(), [
      ['redo', 'review'],
      ['undo', 'review'],
      ['redo', 'review'],
    ]);
  });

  it('adjoins the composer, without the demo notice in between', async () => {
    await open({ ...REVIEW, session: { ...REVIEW.session, banner: 'This is a demo.' } });
    const banner = panel.page.locator('.banner');
    await banner.waitFor({ state: 'hidden' });
    assert.equal(await banner.count(), 1);
    await panel.update({ op: 'session', patch: { review: null } });
    await banner.waitFor({ state: 'visible' });
  });

  it('appears once, however often the first changes are counted', async () => {
    panel = await browser.open({});
    await panel.update(
      { op: 'session', patch: { review: countOf(FILES.slice(0, 1)) } },
      { op: 'session', patch: { review: countOf(FILES, 2) } },
    );
    await button('Review 6 files').first().waitFor();
    assert.equal(await bar().count(), 1);
  });

  it('expands to the list of pending files', async () => {
    const host = await openList();
    await row('docs/upload.md').hover();
    await row('docs/upload.md').getByRole('button', { name: 'Undo' }).click();
    assert.deepEqual(await actions(), [['undo', 'review', '/work/app/docs/upload.md']]);
    await change(host, FILES.slice(2));
    await host.answer();
    await row('CHANGELOG.md').waitFor({ state: 'detached' });
    assert.equal(await button('Review 4 files').count(), 1);
  });

  it('moves the focus to the next file, and to the composer after the last one', async () => {
    const host = await openList([file('a.ts'), file('b.ts')]);
    await row('a.ts').locator('.change-open').focus();
    await panel.page.keyboard.press('ArrowRight');
    await panel.page.keyboard.press('Enter');
    await change(host, [file('b.ts')]);
    await host.answer();
    await panel.page.waitForFunction(() => document.activeElement?.closest('[data-path="b.ts"]'));
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await actions(), [
      ['keep', 'review', '/work/app/a.ts'],
      ['keep', 'review', '/work/app/b.ts'],
    ]);
    await change(host, []);
    await inComposer();
  });

  it('counts a double click as one press, and ignores a button that just moved under the pointer', async () => {
    const host = await openList([file('a.ts'), file('b.ts'), file('c.ts')]);
    await row('a.ts').hover();
    await row('a.ts').getByRole('button', { name: 'Undo' }).dblclick();
    assert.deepEqual(await actions(), [['undo', 'review', '/work/app/a.ts']]);
    await setClock(0);
    await change(host, [file('b.ts'), file('c.ts')]);
    await host.answer();
    await row('a.ts').waitFor({ state: 'detached' });
    await panel.page.mouse.down();
    await panel.page.mouse.up();
    assert.equal((await actions()).length, 1);
    await panel.page
      .getByText('The button has just appeared or moved. Select it again.')
      .waitFor({ state: 'attached' });
    // The user notices and presses again.
    await setClock(500);
    await panel.page.mouse.down();
    await panel.page.mouse.up();
    assert.deepEqual((await actions()).at(-1), ['undo', 'review', '/work/app/b.ts']);
  });

  it('shows its progress, can be cancelled, and is disabled until then', async () => {
    await openList();
    await button('Undo All').focus();
    await panel.update({ op: 'session', patch: { changesWork: { kind: 'undo', done: 120, total: 2000 } } });
    assert.equal(
      await panel.page.getByRole('status').filter({ hasText: 'Undoing' }).innerText(),
      'Undoing changes… 120 of 2,000',
    );
    assert.ok(await button('Cancel').evaluate((node) => node === document.activeElement));
    await row('docs/upload.md').hover();
    await row('docs/upload.md').getByRole('button', { name: 'Undo' }).click({ force: true });
    await row('docs/upload.md').getByRole('button', { name: 'Keep' }).press('Enter');
    await panel.page.locator('.changes').getByRole('button', { name: 'Undo changes of this turn' }).press('Enter');
    await panel.page
      .locator('.changes')
      .getByRole('button', { name: 'Restore files to before this message' })
      .press('Enter');
    assert.deepEqual(await actions(), []);
    assert.deepEqual(await panel.posted('restoreCheckpoint'), []);
    await button('Cancel').click();
    assert.equal((await panel.posted('cancelChanges')).length, 1);
    await panel.update({ op: 'session', patch: { changesWork: null } });
    await row('docs/upload.md').hover();
    await row('docs/upload.md').getByRole('button', { name: 'Undo' }).click();
    assert.equal((await actions()).length, 1);
  });

  it('shows that files are being restored even if nothing is pending', async () => {
    await open({ session: { changesWork: { kind: 'restore' } } });
    await bar().getByText('Restoring files…').waitFor();
    assert.equal(await button('Keep All').count(), 0);
  });

  it('leaves room for the composer in a small window', async () => {
    const queue = Array.from({ length: 12 }, (_, index) => ({
      id: `q${index}`,
      text: `message ${index}`,
      attachments: [],
      state: 'queued' as const,
    }));
    const files = manyFiles(40);
    await open({ ...REVIEW, width: 280, height: 300, session: { ...SESSION_FULL, queue, review: countOf(files) } });
    await button('Changed files').click();
    const host = new ListHost(panel, files);
    await host.answer();
    await row('src/part0000.ts').waitFor({ state: 'attached' });
    const boxes = await panel.page.evaluate(() => {
      const bottom = (selector: string) => document.querySelector(selector)!.getBoundingClientRect();
      return {
        composer: bottom('.composer').bottom,
        main: bottom('.main').height,
        keep: bottom('.review-line').height,
      };
    });
    assert.ok(boxes.composer <= 300, `the composer ends at ${boxes.composer}`);
    assert.ok(boxes.keep > 20, 'and the buttons of the bar stay');
  });

  it('belongs to one session', async () => {
    await openList();
    await panel.snapshot({ session: { key: 's2', review: countOf(FILES.slice(1)) } });
    assert.equal(await row('CHANGELOG.md').count(), 0);
    await button('Review 5 files').waitFor();
  });
});
