// The focus view in a real browser: each turn's activity is one line.
import assert from 'node:assert/strict';
import type { ItemView } from '../../src/panel/contract';
import type { Panel } from './harness/browser';
import { DIFF, message, permission, tool } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

const turnEnd: ItemView = {
  kind: 'turn_end',
  id: 'end',
  turnId: 't1',
  at: 0,
  turn: {
    id: 't1',
    number: 1,
    origin: 'user',
    startedAt: 0,
    endedAt: 9000,
    stopReason: 'end_turn',
    tools: 5,
    files: 1,
  },
};

function read(index: number): ItemView {
  const label = `file${index}.ts`;
  return tool(`r${index}`, {
    title: `Read ${label}`,
    toolKind: 'read',
    locations: [{ path: `/work/${label}`, label }],
  });
}

function run(id: string, exitCode: number): ItemView {
  const terminal = {
    id,
    command: `npm run ${id}`,
    output: '',
    truncated: false,
    running: false,
    exitCode,
    openable: true,
  };
  return tool(id, { title: `\`npm run ${id}\``, toolKind: 'execute', content: [{ type: 'terminal', terminal }] });
}

const edit = tool('edit', {
  title: `Edit ${DIFF.label}`,
  toolKind: 'edit',
  content: [{ type: 'diff', diff: DIFF }],
  locations: [{ path: DIFF.path, label: DIFF.label }],
});

const TURN: readonly ItemView[] = [
  message('u', 'user', 'Fix it.'),
  message('th', 'thought', 'Read first.'),
  read(0),
  message('a1', 'agent', 'Now the tests.'),
  run('lint', 0),
  run('test', 1),
  edit,
  message('a2', 'agent', 'Done.'),
  turnEnd,
];

describe('the focus view', () => {
  let panel: Panel;
  const { open } = useChrome((opened) => {
    panel = opened;
  });
  const line = () => panel.page.locator('.group-line');
  const entries = () =>
    panel.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('[data-entry-id]')].map((entry) => entry.dataset.entryId),
    );
  const switchOn = async (): Promise<void> => {
    await panel.send({ type: 'focusView', on: true });
    await line().first().waitFor();
  };

  it('is toggled in the session menu, and by the host for all pages', async () => {
    await open({ items: [...TURN] });
    await panel.page.getByRole('button', { name: 'More' }).click();
    await panel.page.getByRole('menuitemcheckbox', { name: 'Focus view', checked: false }).click();
    assert.equal((await panel.next('focusView')).on, true);
    await switchOn();
    await panel.page.getByRole('button', { name: 'More' }).click();
    await panel.page.getByRole('menuitemcheckbox', { name: 'Focus view', checked: true }).click();
    assert.equal((await panel.posted('focusView')).at(-1)?.on, false);
    await panel.send({ type: 'focusView', on: false });
    await line().waitFor({ state: 'detached' });
    await panel.page.locator('[data-entry-id=edit]').waitFor();
    assert.equal((await entries()).length, TURN.length - 1);
  });

  it('collapses the activity of a turn, but not failures', async () => {
    await open({ items: [...TURN] });
    await switchOn();
    assert.equal(await line().innerText(), 'Read 1 file · Edited 1 file · Ran 1 command');
    assert.deepEqual(await entries(), ['u', 'group:th', 'a1', 'test', 'a2']);
  });

  it('expands and collapses a turn by keyboard', async () => {
    await open({ items: [...TURN] });
    await switchOn();
    await line().press('Enter');
    await panel.page.getByText('file0.ts').waitFor();
    assert.deepEqual(await entries(), ['u', 'th', 'r0', 'a1', 'lint', 'test', 'edit', 'a2']);
    await panel.page.waitForFunction(() => document.activeElement?.matches('.group-line'));
    await panel.page.keyboard.press('Enter');
    await panel.page.getByText('file0.ts').waitFor({ state: 'detached' });
  });

  it('shows a diff until its file no longer waits for review', async () => {
    const review = { files: 2, added: 3, removed: 1, version: 1 };
    await open({ items: [...TURN], session: { review, waitingFiles: [DIFF.path, '/work/other.ts'] } });
    await switchOn();
    assert.deepEqual(await entries(), ['u', 'group:th', 'a1', 'test', 'edit', 'a2']);
    const left = { review: { ...review, files: 1, version: 2 }, waitingFiles: ['/work/other.ts'] };
    await panel.update({ op: 'session', patch: left });
    await panel.page.getByText('Edited 1 file').waitFor();
    assert.deepEqual(await entries(), ['u', 'group:th', 'a1', 'test', 'a2']);
    await panel.update({ op: 'session', patch: { ...left, waitingFiles: null } });
    await panel.page.locator('[data-entry-id=edit]').waitFor();
  });

  it('shows a call while it requests permission', async () => {
    const asks = tool('asks', { title: 'Run it', toolKind: 'execute', status: 'pending' });
    const items = [...TURN.slice(0, 5), asks];
    await open({ items, session: { ...RUNNING, phase: 'requiresAction', permissions: [permission(5)] } });
    await switchOn();
    await panel.page.locator('[data-permission-id]').waitFor();
    assert.deepEqual(await entries(), ['u', 'group:th', 'a1', 'asks']);
    await panel.update({ op: 'session', patch: { permissions: [], phase: 'running' } });
    await panel.page.locator('[data-entry-id=asks]').waitFor({ state: 'detached' });
    assert.equal(await line().innerText(), 'Read 1 file · Ran 2 commands');
    await panel.update({ op: 'session', patch: { permissions: [permission(5)], phase: 'requiresAction' } });
    await panel.page.locator('[data-permission-id]').waitFor();
  });

  it('expands a turn to show a match', async () => {
    await open({ items: [...TURN] });
    await switchOn();
    await panel.page.keyboard.press('Control+f');
    await panel.page.getByRole('textbox', { name: 'Find', exact: true }).fill('file0');
    const { id } = await panel.next('find');
    await panel.send({ type: 'found', id, counts: [[2, 1]], isDone: true });
    await panel.page.locator('[data-entry-id=r0]').waitFor();
    assert.equal(await line().getAttribute('aria-expanded'), 'true');
  });

  it('expands a turn to show a match in a subagent', async () => {
    const agent = tool('agent', { title: 'Explore', nested: { calls: 1, open: 0 } });
    const child = { ...read(7), path: [2] } as ItemView;
    await open({ items: [message('u', 'user', 'Go.'), read(0), agent, child, message('a', 'agent', 'Done.')] });
    await switchOn();
    assert.equal(await line().innerText(), 'Read 1 file · 1 subagent');
    await panel.send({ type: 'reveal', index: 3 });
    const { index, from } = await panel.next('nested');
    await panel.send({ type: 'nested', revision: 2, index, from, total: 1, items: [{ index: 3, item: child }] });
    await panel.page.locator('[data-entry-id=r7]').waitFor();
  });

  it("keeps the focus on the line of a running turn, and hides its subagents' entries", async () => {
    const agent = tool('agent', { title: 'Explore', nested: { calls: 1, open: 0 } });
    await open({ items: [message('u', 'user', 'Go.'), agent, read(0)], session: RUNNING });
    await switchOn();
    const lineElement = await line().elementHandle();
    await lineElement!.focus();
    await panel.update({ op: 'put', index: 3, item: read(1) });
    await panel.page.getByText('Read 2 files · 1 subagent').waitFor();
    assert.ok(await lineElement!.evaluate((node) => node === document.activeElement));
    assert.equal(await panel.page.locator('.nest').count(), 0);
  });

  it('does not expand a turn when moving across it', async () => {
    await open({ items: [message('u', 'user', 'Go.'), read(0), read(1), read(2)], session: RUNNING });
    await switchOn();
    await panel.page.locator('[data-entry-id=u]').focus();
    for (const key of ['ArrowDown', 'Home', 'End', 'ArrowUp', 'ArrowDown']) await panel.page.keyboard.press(key);
    await panel.page.waitForFunction(() => document.activeElement?.matches('.group'));
    assert.deepEqual(await entries(), ['u', 'group:r0']);
  });
});
