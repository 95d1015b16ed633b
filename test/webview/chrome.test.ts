// The header, the composer, the queue and the questions in a real browser, by the names and roles that tests and assistive technology use.
import assert from 'node:assert/strict';
import { Harness, Panel, type PanelOptions } from './harness/browser';
import { DIFF, message, permission, SESSION_FULL, tool } from './harness/samples';

const RUNNING = {
  phase: 'running',
  turn: { id: 't1', number: 1, origin: 'user', startedAt: 0, tools: 0, files: 0 },
} as const;

describe('chrome', () => {
  let harness: Harness;
  let panel: Panel;
  before(async () => {
    harness = await Harness.start();
  });
  after(() => harness.stop());
  afterEach(async () => {
    assert.deepEqual(await panel.problems(), []);
    await panel.page.close();
  });

  async function open(options: PanelOptions = {}): Promise<Panel> {
    panel = await harness.open(options);
    return panel;
  }

  const field = () => panel.page.getByRole('textbox', { name: 'Message' });
  const button = (name: string) => panel.page.getByRole('button', { name, exact: true });

  describe('composer', () => {
    it('sends with Enter, breaks with Shift+Enter, and keeps the text until the host has it', async () => {
      await open();
      await field().pressSequentially('one');
      await panel.page.keyboard.press('Shift+Enter');
      await field().pressSequentially('two');
      await panel.page.keyboard.press('Enter');
      const { clientId, text } = await panel.next('send');
      assert.equal(text, 'one\ntwo');
      assert.equal(await field().inputValue(), 'one\ntwo');
      await panel.page.keyboard.press('Enter');
      await field().pressSequentially(' more');
      await panel.send({ type: 'accepted', clientId });
      await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'more');
      assert.equal((await panel.posted('send')).length, 1, 'the same text must not go twice');
    });

    it('loses what is written and sent while the panel is still loading', async () => {
      const page = await harness.page('about:blank');
      panel = new Panel(page);
      let load = (): void => {};
      const held = new Promise<void>((resolve) => {
        load = resolve;
      });
      await page.route('**/main.js', (route) => held.then(() => route.continue()));
      await page.goto(harness.server.url('dark'), { waitUntil: 'commit' });
      await field().pressSequentially('first words');
      await page.keyboard.press('Enter');
      const before = await field().elementHandle();
      load();
      const { text } = await panel.next('send');
      assert.equal(text, 'first words');
      assert.equal(await field().inputValue(), 'first words');
      assert.ok(
        await before?.evaluate((node) => node.isConnected && node === document.activeElement),
        'the same field',
      );
      assert.deepEqual(
        (await page.evaluate(() => host.posted)).map(({ type }) => type).slice(0, 2),
        ['hello', 'send'],
        'in this order',
      );
    });

    it('says why a message was not taken and keeps it', async () => {
      await open();
      await field().fill('hello');
      await button('Send').click();
      const { clientId } = await panel.next('send');
      await panel.send({ type: 'rejected', clientId, reason: 'The agent is gone.' });
      await panel.page.getByRole('alert').filter({ hasText: 'The agent is gone.' }).waitFor();
      assert.equal(await field().inputValue(), 'hello');
    });

    it('does not send what an input method is still composing', async () => {
      await open();
      await field().fill('に');
      await field().dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
      assert.equal((await panel.posted('send')).length, 0);
    });

    it('is Send when idle, Queue and Stop while a turn runs', async () => {
      await open();
      assert.equal(await button('Send').count(), 1);
      assert.equal(await button('Stop').count(), 0);
      await panel.update({ op: 'session', patch: RUNNING });
      await button('Stop').click();
      await panel.next('cancel');
      await field().fill('next');
      await button('Queue').click();
      assert.equal((await panel.next('send')).text, 'next');
      await panel.update({ op: 'session', patch: { phase: 'ready', turn: null } });
      assert.equal(await button('Send').count(), 1);
    });

    it('completes the agent’s commands by keyboard', async () => {
      await open({ session: { commands: SESSION_FULL.commands ?? [] } });
      await field().pressSequentially('/');
      const list = panel.page.getByRole('listbox', { name: 'Commands' });
      assert.equal(await list.getByRole('option').count(), 3);
      await panel.page.keyboard.press('ArrowDown');
      const active = await field().getAttribute('aria-activedescendant');
      assert.match(await panel.page.locator(`[id="${active}"]`).innerText(), /\/compact/);
      await panel.page.keyboard.press('Tab');
      assert.equal(await field().inputValue(), '/compact ');
      assert.equal(await list.count(), 0);
      await field().fill('');
      await field().pressSequentially('/in');
      await panel.page.keyboard.press('Escape');
      assert.equal(await list.count(), 0);
    });

    it('keeps the draft: told to the host, restored after a reload', async () => {
      await open({ draft: 'from the host' });
      assert.equal(await field().inputValue(), 'from the host');
      await field().fill('typed');
      assert.equal((await panel.next('draft')).text, 'typed');
      await panel.page.reload();
      await panel.next('hello');
      await panel.snapshot({ draft: 'older' });
      await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'typed');
    });

    it('brings back the last message with ArrowUp in an empty field only', async () => {
      await open({ items: [message('u', 'user', 'said before')] });
      await field().press('ArrowUp');
      assert.equal(await field().inputValue(), 'said before');
      await field().fill('x');
      await field().press('ArrowUp');
      assert.equal(await field().inputValue(), 'x');
    });

    it('hands a pasted image to the host', async () => {
      await open();
      await field().focus();
      await panel.page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array([1, 2, 3])], 'shot.png', { type: 'image/png' }));
        document
          .querySelector('textarea')!
          .dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      });
      assert.deepEqual(await panel.next('attachImage'), {
        type: 'attachImage',
        data: 'AQID',
        mimeType: 'image/png',
        name: 'shot.png',
      });
    });

    it('shows attachments and lets go of one', async () => {
      await open({ session: { attachments: SESSION_FULL.attachments ?? [] } });
      await button('Remove src/server.ts').click();
      assert.deepEqual(await panel.next('detach'), { type: 'detach', id: 'a1' });
    });

    it('inserts text at the caret and takes the focus when the host says so', async () => {
      await open();
      await field().fill('see');
      await panel.send({ type: 'insert', text: '@a.ts' });
      await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'see @a.ts');
      await panel.send({ type: 'focus' });
      await panel.page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
    });

    it('tells the host of the first touch once', async () => {
      await open();
      assert.equal((await panel.posted('wake')).length, 0);
      await field().click();
      await field().pressSequentially('ab');
      assert.equal((await panel.posted('wake')).length, 1);
    });

    it('changes modes and options by keyboard', async () => {
      const { modes, mode, config, usage } = SESSION_FULL;
      await open({ session: { modes: modes!, mode: mode!, config: config!, usage: usage! } });
      await button('Mode').press('Enter');
      await panel.page.keyboard.press('ArrowDown');
      await panel.page.keyboard.press('Enter');
      assert.deepEqual(await panel.next('setMode'), { type: 'setMode', modeId: 'code' });
      await button('Model').click();
      await panel.page.getByRole('option', { name: /Haiku/ }).click();
      assert.deepEqual(await panel.next('setConfig'), { type: 'setConfig', id: 'model', value: 'haiku' });
      await panel.page.getByRole('switch', { name: 'Web' }).click();
      assert.deepEqual((await panel.posted('setConfig'))[1], { type: 'setConfig', id: 'web', value: false });
      assert.match(
        (await panel.page.getByRole('img', { name: 'Context 34 % used' }).getAttribute('title')) ?? '',
        /68k of 200k/,
      );
    });
  });

  describe('queue', () => {
    const queue = SESSION_FULL.queue!;
    const item = (at: number) =>
      panel.page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem').nth(at);

    it('lists what waits, and why, and acts on each item', async () => {
      await open({ session: { ...RUNNING, queue } });
      assert.equal(await item(0).getAttribute('data-queue-state'), 'queued');
      assert.match(await item(0).innerText(), /Then update the changelog\.\s*waits for your answer/);
      await item(0).getByRole('button', { name: 'Move down' }).click();
      await item(1).getByRole('button', { name: 'Move up' }).click();
      await item(1).getByRole('button', { name: 'Send now' }).click();
      await item(1).getByRole('button', { name: 'Remove' }).click();
      const actions = (await panel.posted('queue')).map(({ action }) => action);
      assert.deepEqual(actions, [
        { kind: 'move', id: 'q1', to: 1 },
        { kind: 'move', id: 'q2', to: 0 },
        { kind: 'sendNow', id: 'q2' },
        { kind: 'remove', id: 'q2' },
      ]);
    });

    it('holds an item while it is edited', async () => {
      await open({ session: { ...RUNNING, queue } });
      await item(0).getByRole('button', { name: 'Edit' }).click();
      const editor = item(0).getByRole('textbox');
      await editor.fill('changed');
      await editor.press('Enter');
      await item(1).getByRole('button', { name: 'Edit' }).click();
      await item(1).getByRole('textbox').press('Escape');
      const actions = (await panel.posted('queue')).map(({ action }) => action);
      assert.deepEqual(actions, [
        { kind: 'hold', id: 'q1', held: true },
        { kind: 'edit', id: 'q1', text: 'changed' },
        { kind: 'hold', id: 'q1', held: false },
        { kind: 'hold', id: 'q2', held: true },
        { kind: 'hold', id: 'q2', held: false },
      ]);
    });

    it('is put in another order by dragging', async () => {
      await open({ session: { ...RUNNING, queue } });
      await item(1).dragTo(item(0));
      assert.deepEqual((await panel.next('queue')).action, { kind: 'move', id: 'q2', to: 0 });
    });

    it('says that it is paused and goes on when told', async () => {
      await open({ session: { queue, queuePaused: 'Paused: you stopped the turn' } });
      await panel.page.getByText('Paused: you stopped the turn').waitFor();
      await button('Resume').click();
      assert.deepEqual((await panel.next('queue')).action, { kind: 'resume' });
    });
  });

  describe('permission', () => {
    const asked = tool('c9', {
      title: 'Edit a.ts',
      toolKind: 'edit',
      status: 'pending',
      content: [{ type: 'diff', diff: DIFF }],
    });
    const card = () => panel.page.getByRole('group', { name: /^Permission:/ });

    it('shows the change before the answers, and one button for each, named as the agent named it', async () => {
      await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
      assert.deepEqual(
        await card()
          .getByRole('button')
          .evaluateAll((all) => all.map((one) => one.textContent?.replace(/\d$/, ''))),
        ['Allow', 'Always npm test', 'Reject'],
      );
      const order = await card().evaluate((node) => {
        const diff = node.querySelector('.diff')!;
        return Boolean(diff.compareDocumentPosition(node.querySelector('button')!) & Node.DOCUMENT_POSITION_FOLLOWING);
      });
      assert.ok(order, 'the diff must come first');
      await button('Always npm test').click();
      assert.deepEqual(await panel.next('permission'), { type: 'permission', id: 'p1', optionId: 'always' });
    });

    it('answers to 1, 2, 3 in the transcript, never while a message is typed', async () => {
      await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
      await field().pressSequentially('3');
      assert.equal((await panel.posted('permission')).length, 0);
      await panel.page.locator('.transcript').focus();
      await panel.page.keyboard.press('3');
      assert.deepEqual(await panel.next('permission'), { type: 'permission', id: 'p1', optionId: 'no' });
      await panel.page.keyboard.press('1');
      assert.equal((await panel.posted('permission')).length, 1, 'a question is answered once');
    });

    it('is dismissed with Escape', async () => {
      await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
      await card().focus();
      await panel.page.keyboard.press('Escape');
      assert.deepEqual(await panel.next('permission'), { type: 'permission', id: 'p1', optionId: null });
    });

    it('can be dismissed where the agent offers nothing', async () => {
      await open({ items: [asked], session: { permissions: [permission(0, { options: [] })] } });
      await card().getByText('The agent offered no answer to choose from.').waitFor();
      await card().getByRole('button', { name: 'Dismiss' }).click();
      assert.deepEqual(await panel.next('permission'), { type: 'permission', id: 'p1', optionId: null });
    });

    it('asks for the raw input where there is nothing else to judge by', async () => {
      const blind = tool('c', { title: 'Run', toolKind: 'execute', status: 'pending', hasRaw: true });
      await open({ items: [blind], session: { permissions: [permission(0)] } });
      assert.deepEqual(await panel.next('details'), { type: 'details', index: 0 });
      await panel.update({ op: 'put', index: 0, item: { ...blind, rawInput: '{"command":"rm -rf /"}' } });
      assert.match(await card().innerText(), /rm -rf/);
    });

    it('shows a long command to its last character, and the question where it says something else', async () => {
      const command = `echo one && \\\n${'x'.repeat(200)} && rm -rf build`;
      const long = tool('c', { title: command, toolKind: 'execute', status: 'pending', hasRaw: true });
      await open({ items: [long], session: { permissions: [permission(0, { title: 'Clean up' })] } });
      const text = await card().innerText();
      assert.match(text, /rm -rf build/);
      assert.match(text, /Clean up/);
      assert.deepEqual(await panel.next('details'), { type: 'details', index: 0 });
    });

    it('shows every open question and is announced', async () => {
      const second = permission(1, { id: 'p2', title: 'Second' });
      const items = [asked, tool('c2', { status: 'pending' })];
      await open({ items, session: { permissions: [permission(0), second] } });
      assert.equal(await card().count(), 2);
      await panel.page
        .getByRole('alert')
        .filter({ hasText: 'asks for permission: Second' })
        .waitFor({ state: 'attached' });
      await panel.update({ op: 'session', patch: { permissions: [second] } });
      assert.equal(await card().count(), 1);
    });

    it('shows a question about something that is no tool call, or not here', async () => {
      await open({
        items: [message('a', 'agent', 'x')],
        session: { permissions: [permission(0), permission(7, { id: 'p2' })] },
      });
      assert.equal(await card().count(), 2);
    });
  });

  describe('header', () => {
    const status = () => panel.page.getByRole('status', { name: 'Agent' });

    it('says who and what in words and in attributes', async () => {
      await open({ session: SESSION_FULL });
      assert.equal(await status().getAttribute('data-state'), 'requiresAction');
      assert.equal(await status().getAttribute('data-liveness'), 'live');
      assert.match(
        (await status().innerText()).replace(/\s+/g, ' '),
        /Claude Fix the flaky upload test needs you · turn 2 · live/,
      );
    });

    it('has its commands as buttons and in a menu', async () => {
      await open();
      await button('New session').click();
      await button('Sessions').click();
      await button('Show log').click();
      await button('More').click();
      await panel.page.getByRole('menuitem', { name: 'Change agent…' }).click();
      const commands = (await panel.posted('command')).map(({ command }) => command);
      assert.deepEqual(commands, ['newSession', 'sessions', 'showLog', 'selectAgent']);
    });

    it('lists the stages of a start with their times', async () => {
      const now = Date.now();
      await open({
        session: {
          phase: 'initializing',
          status: 'starting: waiting for initialize',
          stages: [
            { name: 'resolve', state: 'done', startedAt: now - 5000, endedAt: now - 4900 },
            { name: 'initialize', state: 'running', startedAt: now - 3200 },
          ],
        },
      });
      const text = await panel.page.getByRole('list', { name: 'Start of the agent' }).innerText();
      assert.match(text.replace(/\s+/g, ' '), /done Find the agent 0\.1 s running Agree on the protocol \d s/);
    });

    it('shows a failed start with its reason, its last lines and what can be done', async () => {
      await open({
        session: {
          phase: 'failed',
          error: {
            code: 'spawn',
            message: 'The agent ended at once.',
            hint: 'Look at its last lines.',
            stderr: 'boom',
            actions: [{ id: 'retry', label: 'Try again', primary: true }],
          },
        },
      });
      await panel.page.getByText('Last lines the agent wrote to stderr').click();
      await panel.page.getByText('boom').waitFor();
      await button('Copy').click();
      assert.equal((await panel.next('copy')).text, 'boom');
      await button('Try again').click();
      assert.deepEqual(await panel.next('action'), { type: 'action', id: 'retry' });
      await field().fill('still here');
    });
  });

  it('reports what breaks', async () => {
    await open();
    await panel.page.evaluate(() => {
      setTimeout(() => {
        throw new Error('on purpose');
      });
    });
    assert.match((await panel.next('problem')).text, /on purpose/);
    await panel.page.reload();
  });
});
