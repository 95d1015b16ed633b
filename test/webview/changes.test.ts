// Changes of turns on disk, in a real browser: the line under a turn, its list, and links.
import assert from 'node:assert/strict';
import type { Panel, PanelOptions } from './harness/browser';
import {
  changedConversation,
  countOf,
  FILES,
  file,
  ListHost,
  manyFiles,
  runningTurn,
  turnEnd,
  turnOf,
} from './harness/changeSamples';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const TURN = { turnId: 't1' };
const MANY = manyFiles(2000);

describe('the changes of a turn', () => {
  const browser = useHarness();
  let panel: Panel;

  const line = () => panel.page.getByRole('button', { name: /files? changed/ });
  const list = () => panel.page.getByRole('list', { name: 'Changed files' });
  const row = (path: string) => panel.page.locator(`[data-path="${path}"]`);
  const button = (name: string) => panel.page.getByRole('button', { name, exact: true });
  const press = (key: string) => panel.page.keyboard.press(key);
  const focused = () =>
    panel.page.evaluate(() => {
      const { activeElement: element } = document;
      const path = element?.closest<HTMLElement>('[data-path]')?.dataset.path;
      const name = element?.getAttribute('aria-label') ?? element?.querySelector('.sr-only')?.textContent;
      return [path, name?.split(',')[0]].filter((part) => part !== undefined);
    });
  const untilFocused = (path: string) =>
    panel.page.waitForFunction(
      (wanted) => document.activeElement?.closest<HTMLElement>('[data-path]')?.dataset.path === wanted,
      path,
    );
  const actions = () => panel.posted('changesAction');

  async function open(options: PanelOptions = {}): Promise<void> {
    panel = await browser.open({ items: changedConversation(), ...options });
  }

  async function openList(files = FILES, options: PanelOptions = {}): Promise<ListHost> {
    await open({ items: changedConversation(files), ...options });
    await line().click();
    const host = new ListHost(panel, files);
    await host.answer();
    await row(files[0]!.label).waitFor();
    return host;
  }

  it('are counted in a line under its end', async () => {
    await open();
    assert.equal(await panel.page.locator('.changes-words').innerText(), '6 files changed');
    assert.equal(await panel.page.locator('.changes-lines').innerText(), '+90 −1,218');
    await panel.page.getByRole('button', { name: '6 files changed, 90 lines added, 1,218 lines removed' }).waitFor();
    const rule = await panel.page.locator('.turn-rule').getAttribute('aria-label');
    assert.doesNotMatch(rule ?? '', /file/, 'the line says it');
  });

  it('are marked as incomplete, with the reason', async () => {
    const changes = { ...countOf(FILES), incomplete: 'Only files named by the agent are listed.' };
    const none = { ...countOf([]), incomplete: 'The folder is too large.' };
    await open({
      items: [
        turnEnd(turnOf(FILES, { changes })),
        turnEnd(turnOf([], { id: 't2', number: 2, changes: none })),
        turnEnd(turnOf([], { id: 't3', number: 3, tools: 0, changes: none })),
      ],
    });
    await panel.page.getByText('Only files named by the agent are listed.').waitFor();
    const reason = panel.page.getByText('The folder is too large.');
    assert.equal(await reason.filter({ visible: true }).count(), 1, 'not of a turn without any tool');
    assert.equal(await line().count(), 1);
  });

  it('expand to a list of files with the kind of each change', async () => {
    await open();
    await line().click();
    const host = new ListHost(panel, FILES);
    const request = await host.answer();
    assert.deepEqual([request.scope, request.from, request.to], [TURN, 0, 100]);
    await row('CHANGELOG.md').waitFor();
    const found = await list()
      .getByRole('listitem')
      .evaluateAll((rows) => rows.map((row) => ({ ...(row as HTMLElement).dataset })));
    assert.deepEqual(
      found.map(({ path, changeState }) => [path, changeState]),
      FILES.map(({ label, state }) => [label, state]),
    );
    const names = await list()
      .locator('.change-open')
      .evaluateAll((rows) => rows.map((row) => row.querySelector('.sr-only')?.textContent));
    assert.deepEqual(names, [
      'CHANGELOG.md, Modified, 4 lines added, 1 line removed',
      'docs/upload.md, Added, 81 lines added, 0 lines removed, You edited it too',
      'media/icon.png, Modified, Binary',
      'src/server/startServer.ts, Renamed, from src/server/start.ts, 3 lines added, 12 lines removed, Conflict',
      'src/server/sleep.ts, Deleted, 0 lines added, 1,204 lines removed, Undone',
      'test/integration/uploads/upload.test.ts, Modified, 2 lines added, 1 line removed, Kept',
    ]);
    await line().click();
    assert.equal(await list().count(), 0);
  });

  it('are reviewed, undone and restored from the line', async () => {
    await open();
    await line().hover();
    await button('Review Changes').click();
    await button('Review with another agent…').click();
    assert.equal((await panel.next('continueFrom')).how, 'review');
    await button('Undo changes of this turn').click();
    await panel.page.locator('.changes').getByRole('button', { name: 'Restore files to before this message' }).click();
    assert.deepEqual(
      (await actions()).map(({ kind, scope, file: one }) => [kind, scope, one]),
      [
        ['open', TURN, undefined],
        ['undo', TURN, undefined],
      ],
    );
    assert.deepEqual(
      (await panel.posted('restoreCheckpoint')).map(({ turnId }) => turnId),
      ['t1'],
    );
  });

  it('are opened, kept and undone per file', async () => {
    await openList();
    const file = row('docs/upload.md');
    await file.locator('.change-open').click();
    await file.getByRole('button', { name: 'Keep', exact: true }).click();
    await file.getByRole('button', { name: 'Undo', exact: true }).click();
    assert.deepEqual(
      (await actions()).map(({ kind, scope, file: id }) => [kind, scope, id]),
      ['open', 'keep', 'undo'].map((kind) => [kind, TURN, '/work/app/docs/upload.md']),
    );
    const undone = row('src/server/sleep.ts');
    await undone.hover();
    assert.equal(await undone.getByRole('button', { name: 'Keep', exact: true }).count(), 0);
    assert.equal(await undone.getByRole('button', { name: 'Undo', exact: true }).count(), 0);
    assert.equal(await undone.getByRole('button', { name: 'Redo', exact: true }).count(), 0);
    const keptFile = row('test/integration/uploads/upload.test.ts');
    await keptFile.hover();
    assert.equal(await keptFile.getByRole('button', { name: 'Keep', exact: true }).count(), 0);
    assert.equal(await keptFile.getByRole('button', { name: 'Undo', exact: true }).count(), 1);
  });

  it('can be redone after an undo: a file, or the turn', async () => {
    const files = FILES.map((file) => (file.state === 'undone' ? { ...file, canRedo: true as const } : file));
    panel = await browser.open({ items: [turnEnd(turnOf(files, { changes: { ...countOf(files), redoable: 1 } }))] });
    await line().click();
    await new ListHost(panel, files).answer();
    await row('src/server/sleep.ts').getByRole('button', { name: 'Redo', exact: true }).click();
    await line().hover();
    await button('Redo changes of this turn').click();
    assert.deepEqual(
      (await actions()).map(({ kind, scope, file: one }) => [kind, scope, one]),
      [
        ['redo', TURN, '/work/app/src/server/sleep.ts'],
        ['redo', TURN, undefined],
      ],
    );
    await panel.update({ op: 'put', index: 0, item: turnEnd(turnOf(files, { changes: countOf(files, 2) })) });
    await button('Redo changes of this turn').waitFor({ state: 'detached' });
    await panel.page.waitForFunction(() => document.activeElement?.matches('.changes-toggle'));
  });

  it('can be reviewed by keyboard alone', async () => {
    await open();
    await line().waitFor();
    await panel.page.locator('.turn-end').focus();
    await press('Tab'); // copies the response
    await press('Tab');
    await press('Enter');
    const host = new ListHost(panel, FILES);
    await host.answer();
    await row('CHANGELOG.md').waitFor();
    for (const name of [
      'Review Changes',
      'Review with another agent…',
      'Undo changes of this turn',
      'Restore files to before this message',
    ]) {
      await press('Tab');
      assert.deepEqual(await focused(), [name]);
    }
    await press('Tab');
    assert.deepEqual(await focused(), ['CHANGELOG.md', 'CHANGELOG.md']);
    await press('ArrowDown');
    assert.deepEqual(await focused(), ['docs/upload.md', 'docs/upload.md']);
    await press('Tab');
    assert.deepEqual(await focused(), ['docs/upload.md', 'Keep']);
    await press('ArrowRight');
    assert.deepEqual(await focused(), ['docs/upload.md', 'Undo']);
    await press('Enter');
    await press('End');
    assert.deepEqual(await focused(), ['test/integration/uploads/upload.test.ts', 'Undo']);
    await press('ArrowLeft');
    await press('ArrowLeft');
    await press('Home');
    await press('Enter');
    assert.deepEqual(
      (await actions()).map(({ kind, file: id }) => [kind, id]),
      [
        ['undo', '/work/app/docs/upload.md'],
        ['open', '/work/app/CHANGELOG.md'],
      ],
    );
    await press('Escape');
    assert.deepEqual(await focused(), ['6 files changed']);
    await press('Enter');
    assert.equal(await list().count(), 0);
  });

  it('only draw rows near the visible ones, and request files while scrolling', async () => {
    const host = await openList(MANY);
    assert.equal(await list().getByRole('listitem').first().getAttribute('aria-setsize'), '2000');
    await row('src/part0000.ts').locator('.change-open').focus();
    await press('End');
    const request = await host.answer();
    assert.deepEqual([request.from, request.to], [1900, 2000]);
    await untilFocused('src/part1999.ts');
    await panel.page.locator('.change-list').evaluate((box) => {
      box.scrollTop = 24_000;
    });
    await host.answer();
    await host.answer();
    await row('src/part1000.ts').waitFor();
    assert.equal(await host.requests(), 4);
    const rows = await list().getByRole('listitem').count();
    assert.ok(rows <= 24, `${rows} rows`);
    assert.ok((await panel.elements()) < 600, `${await panel.elements()} elements`);
    assert.equal(await row('src/part1999.ts').count(), 1, 'the focus stays in the page');
  });

  it('keep the focus and the position in the list while more files change', async () => {
    const host = await openList(MANY);
    await row('src/part0000.ts').locator('.change-open').focus();
    for (const _ of [1, 2, 3]) await press('PageDown');
    const [path] = await focused();
    const top = await row(path!).evaluate((node) => node.getBoundingClientRect().top);
    const rows = () =>
      list()
        .getByRole('listitem')
        .evaluateAll((nodes) => nodes.map((node) => node.textContent));
    const before = await rows();
    host.files = [...Array.from({ length: 10 }, (_, index) => file(`a/new${index}.ts`)), ...MANY];
    host.version = 2;
    await panel.update({ op: 'put', index: 3, item: turnEnd(turnOf(MANY, { changes: countOf(host.files, 2) })) });
    assert.deepEqual(await rows(), before, 'until the new list is here');
    await host.answer();
    await panel.page.waitForFunction(() => document.querySelector('[aria-setsize="2010"]'));
    assert.deepEqual(await focused(), [path, path]);
    assert.equal(await row(path!).evaluate((node) => node.getBoundingClientRect().top), top);
  });

  it('move the focus to the next file when the focused one leaves the list', async () => {
    const host = await openList();
    await row('docs/upload.md').locator('.change-open').focus();
    host.files = FILES.filter(({ label }) => label !== 'docs/upload.md');
    host.version = 2;
    await panel.update({ op: 'put', index: 3, item: turnEnd(turnOf(FILES, { changes: countOf(host.files, 2) })) });
    await host.answer();
    await untilFocused('media/icon.png');
  });

  it('are requested again when the host restarts', async () => {
    const host = await openList();
    await panel.snapshot({ items: changedConversation() });
    await host.answer();
    await row('CHANGELOG.md').waitFor();
    await panel.snapshot({ session: { key: 'other' }, items: changedConversation() });
    await line().waitFor();
    assert.equal(await list().count(), 0, 'another session has its own lists');
  });

  it('of a running turn are shown at the end, and stay expanded when it ends', async () => {
    const items = changedConversation().slice(0, 3);
    await open({ items, session: { phase: 'running', turn: runningTurn(FILES.slice(0, 2)) } });
    await line().click();
    const host = new ListHost(panel, FILES);
    await host.answer();
    assert.equal(await button('Undo changes of this turn').count(), 0, 'while the agent works');
    await panel.update({ op: 'session', patch: { turn: { ...runningTurn(FILES), changes: countOf(FILES, 2) } } });
    await panel.page.locator('.changes-words', { hasText: '6 files changed' }).waitFor();
    host.version = 2;
    await host.answer();
    await row('media/icon.png').locator('.change-open').focus();
    await panel.update(
      { op: 'put', index: 3, item: turnEnd(turnOf(FILES, { changes: countOf(FILES, 3) })) },
      { op: 'session', patch: { turn: null, phase: 'ready' } },
    );
    await host.answer();
    await row('media/icon.png').waitFor();
    assert.equal(await line().count(), 1);
    await panel.page.waitForFunction(() => document.activeElement?.closest('.turn-end-entry') !== null);
  });

  it('link to the tool call that wrote a file, and back', async () => {
    await openList();
    const path = 'test/integration/uploads/upload.test.ts';
    await row(path).hover();
    await row(path).getByRole('button', { name: 'Go to tool call' }).click();
    await panel.page.waitForFunction(() => document.activeElement?.matches('[data-entry-id="c3"]'));
    await line().click();
    await panel.page.locator('[data-entry-id="c3"] .row').hover();
    await button('Show in changed files').click();
    await untilFocused(path);
  });

  it('are linked from a tool call whose turn ends far away', async () => {
    const [said, call, ...rest] = changedConversation();
    const between = Array.from({ length: 200 }, (_, index) => message(`m${index}`, 'agent', `line ${index}`));
    const items = [said!, call!, ...between, ...rest];
    await open({ items: items.slice(0, 8), total: items.length });
    await panel.scrollTo(0);
    await panel.page.locator('[data-entry-id="c3"] .row').hover();
    await button('Show in changed files').click();
    let asked = 0;
    while ((await panel.next('page', asked)).to !== 208) asked++;
    assert.equal((await panel.next('page', asked)).from, 8);
    await panel.send({ type: 'page', revision: panel.revision, from: 8, items: items.slice(8) });
    const host = new ListHost(panel, FILES);
    await host.answer();
    await untilFocused('test/integration/uploads/upload.test.ts');
  });
});

describe('a user message', () => {
  const browser = useHarness();

  it('offers to restore to before it on hover or focus', async () => {
    const panel = await browser.open({ items: changedConversation() });
    const entry = panel.page.locator('.entry.user');
    const actions = panel.page.locator('.message-actions');
    await actions.waitFor({ state: 'attached' });
    assert.equal(await actions.evaluate((node) => getComputedStyle(node).opacity), '0');
    await entry.focus();
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('ArrowUp');
    assert.equal(await actions.evaluate((node) => getComputedStyle(node).opacity), '1');
    for (let n = 0; n < 3; n++) {
      await panel.page.keyboard.press('Tab');
      await panel.page.keyboard.press('Enter');
    }
    assert.deepEqual(
      (await panel.posted('copy')).map(({ text }) => text),
      ['The upload test fails one run in ten. Find out why and fix it.'],
    );
    assert.deepEqual(
      (await panel.posted('restoreCheckpoint')).map(({ turnId }) => turnId),
      ['t1'],
    );
    for (let n = 0; n < 2; n++) {
      await panel.page.keyboard.press('Tab');
      await panel.page.keyboard.press('Enter');
    }
    assert.deepEqual(
      (await panel.posted('continueFrom')).map(({ turnId, how }) => `${turnId} ${how}`),
      ['t1 edit', 't1 fork', 't1 retry'],
    );
    await panel.page.getByRole('button', { name: 'Fork from here' }).first().dblclick();
    assert.equal((await panel.posted('continueFrom')).length, 4, 'a double click opens one session');
  });

  it('offers only actions that its turn supports', async () => {
    const userMessage = message('u1', 'user', 'hello');
    const panel = await browser.open({ items: [userMessage] });
    assert.equal(await panel.page.locator('.message-actions').count(), 0);
    await panel.update({ op: 'put', index: 0, item: { ...userMessage, canEdit: true } as typeof userMessage });
    await panel.page.locator('.entry.user').hover();
    await panel.page.getByRole('button', { name: 'Edit and send again' }).waitFor();
    assert.equal(await panel.page.getByRole('button', { name: 'Restore files to before this message' }).count(), 0);
  });

  it('keeps the focus in its actions while others are added', async () => {
    const userMessage = message('u1', 'user', 'hello');
    const panel = await browser.open({ items: [{ ...userMessage, canEdit: true } as typeof userMessage] });
    const edit = panel.page.getByRole('button', { name: 'Edit and send again' });
    await edit.focus();
    await panel.update({
      op: 'put',
      index: 0,
      item: { ...userMessage, canEdit: true, canRestore: true } as typeof userMessage,
    });
    await panel.page.getByRole('button', { name: 'Restore files to before this message' }).waitFor();
    assert.equal(await edit.evaluate((node) => node === document.activeElement), true);
  });
});
