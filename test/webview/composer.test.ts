// The composer in a real browser, by accessible names and roles.
import assert from 'node:assert/strict';
import { readFromWebview } from '../../src/workbench/chat/fromWebview';
import type { Panel } from './harness/browser';
import { message, SESSION_FULL } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

describe('composer', () => {
  let panel: Panel;
  const { browser, open, field, button } = useChrome((opened) => {
    panel = opened;
  });

  it('sends with Enter, inserts a line break with Shift+Enter, and keeps the text until the host has it', async () => {
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
    await panel.send({ type: 'accepted', clientId, revision: 100 });
    await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'more');
    assert.equal((await panel.posted('send')).length, 1, 'the same text must not go twice');
  });

  it('ignores a key that is still held from an earlier action', async () => {
    await open({ session: SESSION_FULL });
    const { keyboard } = panel.page;
    await field().fill('half a thought');
    await button('New session').focus();
    await keyboard.down('Enter');
    await field().focus();
    await keyboard.down('Enter'); // a repeat, as the key is still down
    await keyboard.up('Enter');
    await field().fill('/');
    await panel.page.getByRole('listbox').waitFor();
    await keyboard.down('Enter');
    await panel.page.getByRole('listbox').waitFor({ state: 'detached' });
    await keyboard.down('Enter');
    await keyboard.up('Enter');
    assert.match(await field().inputValue(), /^\/\w+/);
    assert.deepEqual(await panel.posted('send'), []);
    assert.equal((await panel.posted('command')).length, 1, 'a button is pressed once');
    await keyboard.press('Enter');
    assert.match((await panel.next('send')).text, /^\/\w+/);
  });

  it('keeps text typed and sent while the panel is loading', async () => {
    panel = await browser.blank();
    const { page } = panel;
    let load = (): void => {};
    const scriptReleased = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/main.js', (route) => scriptReleased.then(() => route.continue()));
    await page.goto(browser.harness.server.url('dark'), { waitUntil: 'commit' });
    await field().pressSequentially('first words');
    await page.keyboard.press('Enter');
    const before = await field().elementHandle();
    load();
    const { text } = await panel.next('send');
    assert.equal(text, 'first words');
    assert.equal(await field().inputValue(), 'first words');
    assert.ok(await before?.evaluate((node) => node.isConnected && node === document.activeElement), 'the same field');
    assert.deepEqual(
      (await page.evaluate(() => host.posted)).map(({ type }) => type).slice(0, 3),
      ['begun', 'hello', 'send'],
      'in this order',
    );
  });

  it('keeps a rejected message and shows the reason', async () => {
    await open();
    await field().fill('hello');
    await button('Send').click();
    const { clientId } = await panel.next('send');
    await panel.send({ type: 'rejected', clientId, reason: 'The agent is gone.' });
    await panel.page.getByRole('alert').filter({ hasText: 'The agent is gone.' }).waitFor();
    assert.equal(await field().inputValue(), 'hello');
  });

  it('does not send while an input method is composing', async () => {
    await open();
    await field().fill('に');
    await field().dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
    assert.equal((await panel.posted('send')).length, 0);
  });

  it('shows Send when idle, Queue and Stop while a turn is running', async () => {
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

  it('stops the turn and sends immediately with Ctrl+Enter, and queues with Enter', async () => {
    await open();
    await field().fill('first');
    await field().press('Control+Enter');
    assert.equal('now' in (await panel.next('send')), false, 'nothing runs that could be stopped');
    await panel.update({ op: 'session', patch: RUNNING });
    await field().fill('instead');
    assert.match((await button('Queue').getAttribute('title')) ?? '', /Ctrl\+Enter stops the turn/);
    await field().press('Control+Enter');
    const { text, now } = (await panel.posted('send')).at(-1)!;
    assert.deepEqual({ text, now }, { text: 'instead', now: 'sendNow' });
  });

  it('steers the turn with Ctrl+Enter if the agent supports it, except with a command', async () => {
    await open({ session: { ...RUNNING, canSteer: true, commands: SESSION_FULL.commands ?? [] } });
    await field().fill('also this');
    assert.match((await button('Queue').getAttribute('title')) ?? '', /Ctrl\+Enter steers the running turn/);
    await field().press('Control+Enter');
    assert.equal((await panel.next('send')).now, 'steer');
    await panel.update({ op: 'session', patch: { canSteer: true } });
    await field().fill('/compact');
    assert.match((await button('Queue').getAttribute('title')) ?? '', /Ctrl\+Enter stops the turn/);
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

  it('sends a completely typed command with Enter, even if it is a prefix of another one', async () => {
    const commands = ['review-pr', 'review'].map((name) => ({ name, description: name }));
    await open({ session: { commands } });
    await field().pressSequentially('/review');
    await panel.page.getByRole('listbox', { name: 'Commands' }).waitFor();
    await field().press('Enter');
    assert.equal((await panel.next('send')).text, '/review');
  });

  it('shows complete command names at any width, however long the descriptions', async () => {
    const commands = ['review-security', 'init'].map((name) => ({ name, description: 'Long words. '.repeat(80) }));
    await open({ session: { commands }, width: 300 });
    await field().pressSequentially('/');
    const names = panel.page.locator('.completion-list .popup-label');
    await names.first().waitFor();
    const cut = await names.evaluateAll((all) =>
      all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
    );
    assert.equal(cut.length, 0);
    const heights = await panel.page
      .locator('.completion-list [role=option]')
      .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().height));
    assert.ok(
      heights.every((height) => height < 30),
      String(heights),
    );
  });

  const OFFERS = [
    { id: 'selection', kind: 'selection', label: 'src/a.ts:3–9', description: 'Selection' },
    { id: 'path:src/server.ts', kind: 'file', label: 'src/server.ts' },
    { id: 'path:src', kind: 'folder', label: 'src' },
  ] as const;

  it('completes file mentions by keyboard, attaches the files, and removes a mention with Backspace', async () => {
    await open();
    await field().pressSequentially('see @');
    assert.partialDeepStrictEqual(await panel.next('mentions'), { key: 's1', query: '' });
    await panel.send({ type: 'mentions', query: '', offers: OFFERS });
    const list = panel.page.getByRole('listbox', { name: 'Mentions' });
    await list.getByRole('option', { name: 'src/server.ts' }).waitFor();
    assert.deepEqual(await list.getByRole('option').allInnerTexts(), [
      'src/a.ts:3–9\nSelection',
      'src/server.ts',
      'src',
      'Attach file…',
    ]);
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('Enter');
    assert.equal(await field().inputValue(), 'see @src/server.ts ');
    assert.deepEqual(await panel.next('mention'), { type: 'mention', key: 's1', id: 'path:src/server.ts' });
    assert.equal(await list.count(), 0);
    const attachments = [{ id: 'm1', kind: 'file', label: 'src/server.ts' }] as const;
    await panel.update({ op: 'session', patch: { attachments } });
    await panel.page.keyboard.press('Backspace');
    assert.equal(await field().inputValue(), 'see ');
    assert.deepEqual(await panel.next('detach'), { type: 'detach', key: 's1', id: 'm1' });
    await panel.update({ op: 'session', patch: { attachments: [] } });
    await field().press('Control+z');
    assert.equal(await field().inputValue(), 'see @src/server.ts ');
    assert.deepEqual(await panel.next('mention'), { type: 'mention', key: 's1', id: 'path:src/server.ts' });
  });

  it('detaches files whose mention is removed, and removes mentions of detached files', async () => {
    const attachments = [
      { id: 'm1', kind: 'file', label: 'src/a.ts' },
      { id: 'm2', kind: 'file', label: 'src/a.tsx' },
      { id: 'm3', kind: 'file', label: 'added.ts' },
    ] as const;
    await open();
    await panel.update({ op: 'session', patch: { attachments } });
    await field().fill('see @src/a.ts and @src/a.tsx ');
    await field().press('ControlOrMeta+a');
    await field().press('Delete');
    const detached = async () => (await panel.posted('detach')).map(({ id }) => id);
    assert.deepEqual(await detached(), ['m1', 'm2']);
    await field().fill('see @src/a.ts and @src/a.tsx now');
    await panel.page.getByRole('button', { name: 'Remove src/a.ts', exact: true }).click();
    assert.equal(await field().inputValue(), 'see and @src/a.tsx now');
    await panel.page.getByRole('button', { name: 'Remove added.ts' }).click();
    assert.deepEqual(await detached(), ['m1', 'm2', 'm1', 'm3']);
  });

  it('truncates a long path at its start', async () => {
    await open({ width: 300 });
    await field().pressSequentially('@n');
    const label = `packages/${'server/'.repeat(9)}name.ts`;
    await panel.send({ type: 'mentions', query: 'n', offers: [{ id: 'path:name', kind: 'file', label }] });
    const path = panel.page.getByRole('option', { name: label }).locator('bdi');
    const { left, right, end } = await path.evaluate((node) => ({
      left: node.parentElement!.getBoundingClientRect().left - node.getBoundingClientRect().left,
      right: node.getBoundingClientRect().right,
      end: node.parentElement!.getBoundingClientRect().right,
    }));
    assert.ok(left > 50 && Math.abs(right - end) < 2, `${left} ${right} ${end}`);
  });

  it('continues with the items of a kind, and keeps the active item while results arrive', async () => {
    await open();
    await field().pressSequentially('@');
    const kind = { id: 'kind:session', kind: 'session', label: 'Earlier Sessions', prefix: 'session:' } as const;
    await panel.send({ type: 'mentions', query: '', offers: [kind] });
    await panel.page.getByRole('option', { name: 'Earlier Sessions' }).waitFor();
    await panel.page.keyboard.press('Enter');
    assert.equal(await field().inputValue(), '@session:');
    assert.equal((await panel.posted('mentions')).at(-1)?.query, 'session:');
    assert.equal((await panel.posted('mention')).length, 0);
    const titles = ['Parser', 'Fix the parser', 'A parser'];
    const [first, second, late] = titles.map((label) => ({ id: `session:${label}`, kind: 'session', label }) as const);
    await panel.send({ type: 'mentions', query: 'session:', offers: [first!, second!] });
    await panel.page.getByRole('option', { name: 'Fix the parser' }).waitFor();
    await panel.page.keyboard.press('ArrowDown');
    await panel.send({ type: 'mentions', query: 'session:', offers: [late!, first!, second!] });
    await panel.page.getByRole('option', { name: 'A parser' }).waitFor();
    assert.equal(await panel.page.locator('[role=option][aria-selected=true]').innerText(), 'Fix the parser');
    await panel.page.keyboard.press('Enter');
    assert.equal(await field().inputValue(), '@Fix the parser ');
    assert.equal((await panel.next('mention')).id, 'session:Fix the parser');
  });

  it('ignores outdated results, and does not reopen a closed list', async () => {
    await open();
    await field().pressSequentially('@se');
    await panel.send({ type: 'mentions', query: 's', offers: OFFERS });
    const list = panel.page.getByRole('listbox', { name: 'Mentions' });
    await list.waitFor();
    assert.deepEqual(await list.getByRole('option').allInnerTexts(), ['src/server.ts']);
    await panel.send({ type: 'mentions', query: 'se', offers: OFFERS.slice(1, 2) });
    await panel.page.keyboard.press('Escape');
    await field().pressSequentially('r');
    await panel.send({ type: 'mentions', query: 'ser', offers: OFFERS.slice(1, 2) });
    assert.equal(await list.count(), 0);
    await panel.page.keyboard.press('Enter');
    assert.equal((await panel.next('send')).text, '@ser');
  });

  it('starts a mention with its button, and offers files outside the workspace', async () => {
    await open();
    await button('Add context…').click();
    await panel.send({ type: 'mentions', query: '', offers: [] });
    await panel.page.getByRole('option', { name: 'Attach file…' }).click();
    assert.deepEqual(await panel.next('command'), { type: 'command', key: 's1', command: 'attachFile' });
    assert.equal(await field().inputValue(), '');
  });

  it('sends the draft to the host, and restores it after a reload', async () => {
    await open({ draft: 'from the host' });
    assert.equal(await field().inputValue(), 'from the host');
    await field().fill('typed');
    assert.equal((await panel.next('draft')).text, 'typed');
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ draft: 'older' });
    await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'typed');
  });

  it('restores the last message with ArrowUp only in an empty field', async () => {
    await open({ items: [message('u', 'user', 'said before')] });
    await field().press('ArrowUp');
    assert.equal(await field().inputValue(), 'said before');
    await field().fill('x');
    await field().press('ArrowUp');
    assert.equal(await field().inputValue(), 'x');
  });

  it('leaves the second key of a chord to VS Code', async () => {
    await open();
    await field().pressSequentially('a');
    for (const key of ['Control+k', 'j', 'b', 'Control+k', 'Enter', 'c']) await field().press(key);
    assert.equal(await field().inputValue(), 'abc');
    assert.equal((await panel.posted('send')).length, 0);
  });

  it('types the next letter if the focus left the page after the first key of a chord', async () => {
    await open();
    await field().press('Control+k');
    await panel.page.evaluate(() => window.dispatchEvent(new FocusEvent('blur')));
    await field().press('j');
    assert.equal(await field().inputValue(), 'j');
  });

  it('recalls sent messages with Up and Down, and keeps an edited one', async () => {
    const messages = ['one', 'first line\nlast line', 'three'].map((text, index) => message(`u${index}`, 'user', text));
    await open({ items: messages });
    const press = async (key: string): Promise<string> => {
      await field().press(key);
      return field().inputValue();
    };
    assert.equal(await press('ArrowUp'), 'three');
    assert.equal(await press('ArrowUp'), 'first line\nlast line');
    assert.equal(await press('ArrowUp'), 'first line\nlast line', 'the caret goes to the first line');
    assert.equal(await press('ArrowUp'), 'one');
    assert.equal(await press('ArrowUp'), 'one', 'there is none before');
    assert.equal(await press('ArrowDown'), 'first line\nlast line');
    assert.equal(await press('ArrowDown'), 'three');
    assert.equal(await press('ArrowDown'), '');
    assert.equal(await press('ArrowDown'), '');
    await press('ArrowUp');
    await field().press('x');
    assert.equal(await press('ArrowUp'), 'threex');
    assert.equal(await press('ArrowDown'), 'threex');
  });

  it('shows the argument hint of a command until something is typed', async () => {
    await open({ session: { commands: [{ name: 'review', description: 'Reviews', hint: 'file or folder' }] } });
    await field().pressSequentially('/rev');
    await panel.page.getByRole('option').getByText('file or folder').waitFor();
    await field().press('Tab');
    await panel.page.getByRole('textbox', { name: 'Message', description: 'file or folder' }).waitFor();
    await field().press('x');
    await panel.page.locator('.command-hint').waitFor({ state: 'detached' });
  });

  const transfer = (kind: 'paste' | 'drop', type: string, text: string): Promise<void> =>
    field().evaluate(
      (node, [event, format, words]) => {
        const data = new DataTransfer();
        data.setData(format, words);
        const options = { bubbles: true, cancelable: true };
        node.dispatchEvent(
          event === 'paste'
            ? new ClipboardEvent('paste', { ...options, clipboardData: data })
            : new DragEvent('drop', { ...options, dataTransfer: data }),
        );
      },
      [kind, type, text] as const,
    );

  it('attaches a long pasted text, and inserts it into the message on undo', async () => {
    await open();
    await field().pressSequentially('Why? ');
    await transfer('paste', 'text/plain', 'x'.repeat(2000));
    assert.equal((await panel.posted('attachFile')).length, 0, 'short enough to read');
    const long = `${'é'.repeat(30)}\n`.repeat(100);
    await transfer('paste', 'text/plain', long);
    const sent = await panel.next('attachFile');
    assert.partialDeepStrictEqual(sent, { mimeType: 'text/plain', name: 'Pasted text 1.txt' });
    assert.equal(Buffer.from(sent.data, 'base64').toString('utf8'), long);
    const attachments = [{ id: 'p1', kind: 'file', label: 'Pasted text 1.txt' }] as const;
    await panel.update({ op: 'session', patch: { attachments } });
    await field().press('Control+z');
    assert.partialDeepStrictEqual(await panel.next('detach'), { id: 'p1' });
    assert.equal(await field().inputValue(), `Why? ${long}`);
    await field().press('Control+z');
    assert.equal(await field().inputValue(), 'Why? ');
  });

  it('keeps VS Code from handling the undo of a pasted text, which would undo its insertion', async () => {
    await open();
    // As VS Code does for each webview.
    await panel.page.evaluate(() =>
      window.addEventListener('keydown', ({ ctrlKey, key }) => {
        if (ctrlKey && key === 'z') document.execCommand('undo');
      }),
    );
    const long = 'x'.repeat(3000);
    await transfer('paste', 'text/plain', long);
    const { name } = await panel.next('attachFile');
    await panel.update({ op: 'session', patch: { attachments: [{ id: 'p1', kind: 'file', label: name }] } });
    await field().press('Control+z');
    assert.equal(await field().inputValue(), long);
  });

  it('inserts a pasted text of many lines in one go', async () => {
    await open();
    await field().pressSequentially('Why? ');
    const long = 'line\n'.repeat(5000);
    await transfer('paste', 'text/plain', long);
    const { name } = await panel.next('attachFile');
    await panel.update({ op: 'session', patch: { attachments: [{ id: 'p1', kind: 'file', label: name }] } });
    await field().press('Control+z');
    assert.equal(await field().inputValue(), `Why? ${long}`);
  });

  it('undoes text edits once the attachment of a pasted text was sent', async () => {
    await open();
    await transfer('paste', 'text/plain', 'x'.repeat(3000));
    const { name } = await panel.next('attachFile');
    await panel.update({ op: 'session', patch: { attachments: [{ id: 'p1', kind: 'file', label: name }] } });
    await panel.update({ op: 'session', patch: { attachments: [] } });
    await field().press('Control+z');
    assert.equal(await field().inputValue(), '');
  });

  it('inserts a pasted text that is too large for an attachment', async () => {
    await open();
    const isTaken = await field().evaluate((node) => {
      const data = new DataTransfer();
      data.setData('text/plain', 'x'.repeat(10 * 1024 * 1024 + 1));
      return !node.dispatchEvent(new ClipboardEvent('paste', { cancelable: true, bubbles: true, clipboardData: data }));
    });
    assert.equal(isTaken, false);
  });

  it('inserts a link that is dropped from a web page as text', async () => {
    await open();
    await transfer('drop', 'text/uri-list', 'https://example.com/');
    await transfer('drop', 'application/vnd.code.uri-list', 'file:///w/a.ts');
    assert.deepEqual((await panel.next('attachUris')).uris, ['file:///w/a.ts']);
  });

  it('sends the URIs of items dropped from a VS Code list', async () => {
    await open();
    await transfer('drop', 'application/vnd.code.uri-list', 'file:///w/a.ts\r\nfile:///w/b.ts');
    assert.deepEqual(await panel.next('attachUris'), {
      type: 'attachUris',
      key: 's1',
      uris: ['file:///w/a.ts', 'file:///w/b.ts'],
    });
    assert.equal(await field().inputValue(), '');
  });

  it('sends a pasted image to the host', async () => {
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
      key: 's1',
      data: 'AQID',
      mimeType: 'image/png',
      name: 'shot.png',
    });
  });

  it("sends a thumbnail of a pasted image, and shows the host's", async () => {
    await open();
    await panel.page.evaluate(async () => {
      const canvas = document.createElement('canvas');
      canvas.width = 1200;
      canvas.height = 600;
      const context = canvas.getContext('2d')!;
      for (let x = 0; x < 1200; x++) {
        context.fillStyle = `hsl(${(x * 37) % 360} 90% 50%)`;
        context.fillRect(x, 0, 1, 600);
      }
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
      const data = new DataTransfer();
      data.items.add(new File([blob!], 'shot.png', { type: 'image/png' }));
      document
        .querySelector('textarea')!
        .dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    const message = await panel.next('attachImage');
    const { thumbnail } = message;
    assert.ok(thumbnail !== undefined && thumbnail.length <= 8192);
    assert.deepEqual(readFromWebview(message), message);
    const attachments = [{ id: 'i', kind: 'image', label: 'shot.png', thumbnail }] as const;
    await panel.update({ op: 'session', patch: { attachments } });
    const image = panel.page.locator('.attachments img');
    await image.waitFor();
    await image.evaluate((node: HTMLImageElement) => node.decode());
    assert.deepEqual(
      await image.evaluate((node: HTMLImageElement) => [node.naturalWidth, node.naturalHeight]),
      [64, 32],
    );
  });

  it('undoes a completed command and inserted text', async () => {
    await open({ session: { commands: [{ name: 'review', description: '' }] } });
    await field().pressSequentially('/rev');
    await field().press('Enter');
    assert.equal(await field().inputValue(), '/review ');
    await field().press('Control+z');
    assert.equal(await field().inputValue(), '/rev');
    await field().press('Control+Shift+z');
    assert.equal(await field().inputValue(), '/review ');
    await panel.send({ type: 'insert', text: 'a.ts:4\nb.ts:5' });
    await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === '/review a.ts:4\nb.ts:5');
    await field().press('Control+z');
    assert.equal(await field().inputValue(), '/review ');
    await field().press('Control+Enter');
    assert.equal((await panel.next('send')).text, '/review ');
  });

  it('shows attachments and removes one', async () => {
    await open({ session: { attachments: SESSION_FULL.attachments ?? [] } });
    await button('Remove src/server.ts').click();
    assert.deepEqual(await panel.next('detach'), { type: 'detach', key: 's1', id: 'a1' });
  });

  describe('the list of attachments', () => {
    const attachments = [
      { id: 'a1', kind: 'file', label: 'src/server.ts', detail: '/work/src/server.ts' },
      { id: 'a2', kind: 'selection', label: 'src/a.ts:4–6', bytes: 2000 },
      { id: 'a3', kind: 'image', label: 'shot.png', bytes: 3_000_000 },
    ] as const;
    const line = () => panel.page.getByRole('list', { name: 'Attachments' });
    const selection = { id: 'active', kind: 'selection', label: 'src/a.ts:4–6' } as const;
    const file = { id: 'active', kind: 'file', label: 'src/b.ts' } as const;

    it('shows each size, what is sent as a path only, and the total', async () => {
      await open({ session: { attachments } });
      const texts = await line().getByRole('listitem').allTextContents();
      assert.deepEqual(texts, ['src/server.ts', 'src/a.ts:4–62 KB', 'shot.png2.9 MB', '2.9 MB in total']);
      await panel.page.getByTitle(/Only the path is sent\. The agent reads the file\.$/).waitFor();
    });

    it('offers the active file or selection, and adds it only on demand', async () => {
      await open();
      await panel.send({ type: 'activeEditor', offer: file });
      await button('Add src/b.ts to the message').waitFor();
      await panel.send({ type: 'activeEditor', offer: selection });
      await field().fill('Why?');
      await field().press('Enter');
      assert.deepEqual((await panel.posted('mention')).length, 0);
      assert.equal((await panel.next('send')).text, 'Why?');
      await field().press('Shift+Tab');
      await button('Add src/a.ts:4–6 to the message').and(panel.page.locator(':focus')).waitFor();
      await panel.page.keyboard.press('Enter');
      assert.deepEqual(await panel.next('mention'), { type: 'mention', key: 's1', id: 'active' });
      await field().and(panel.page.locator(':focus')).waitFor();
      await panel.update({ op: 'session', patch: { attachments: [attachments[1]] } });
      await button('Add src/a.ts:4–6 to the message').waitFor({ state: 'detached' });
      await panel.send({ type: 'activeEditor', offer: null });
      await panel.update({ op: 'session', patch: { attachments: [] } });
      await line().waitFor({ state: 'detached' });
    });

    it('fits at every width', async () => {
      const long = `packages/${'a-very-long-folder-name/'.repeat(4)}server.ts`;
      for (const [theme, language, width] of [
        ['light', 'en', 800],
        ['dark', 'de', 280],
        ['hc', 'en', 420],
        ['dark', 'en', 800],
      ] as const) {
        const all = [...attachments, { id: 'a4', kind: 'file', label: long } as const];
        await open({ theme, language, width, session: { ...SESSION_FULL, phase: 'ready', attachments: all } });
        await panel.send({ type: 'activeEditor', offer: { ...file, label: `b/${long}` } });
        await panel.page.locator('.offered').waitFor();
        await panel.page.screenshot({ path: `out/screenshots/context-${theme}-${language}-${width}.png` });
        const overflow = await panel.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok(Number(overflow) <= 0, `${overflow} px too wide`);
      }
    });
  });

  it("inserts text at the caret, and takes the focus at the host's request", async () => {
    await open();
    await field().fill('see');
    await panel.send({ type: 'insert', text: '@a.ts' });
    await panel.page.waitForFunction(() => document.querySelector('textarea')?.value === 'see @a.ts');
    await panel.send({ type: 'focus', on: 'composer' });
    await panel.page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
  });

  it('reports the first interaction once', async () => {
    await open();
    assert.equal((await panel.posted('wake')).length, 0);
    await field().click();
    await field().pressSequentially('ab');
    assert.equal((await panel.posted('wake')).length, 1);
  });

  describe("the agent's suggestion", () => {
    const suggestion = { text: 'Run the tests', always: false };
    const placeholder = (): Promise<string | null> => field().getAttribute('placeholder');

    it('is shown in the empty field until the user types, and never sent on its own', async () => {
      await open({ session: { suggestion } });
      assert.equal(await placeholder(), 'Run the tests');
      await panel.page.keyboard.press('Enter');
      await field().pressSequentially('no');
      await field().fill('');
      assert.notEqual(await placeholder(), 'Run the tests');
      await panel.page.keyboard.press('Enter');
      assert.deepEqual(await panel.posted('send'), []);
    });

    it('is accepted by Tab and can be undone; without one, Tab leaves the field', async () => {
      await open({ session: { suggestion } });
      await field().focus();
      await panel.page.keyboard.press('Tab');
      assert.equal(await field().inputValue(), 'Run the tests');
      assert.deepEqual(await panel.posted('send'), []);
      await panel.page.keyboard.press('Control+z');
      assert.equal(await field().inputValue(), '');
      await panel.page.keyboard.press('Tab');
      assert.equal(await field().evaluate((node) => node === document.activeElement), false);
    });

    it('is dismissed by Escape until the next turn ends', async () => {
      await open({ session: { suggestion } });
      await field().focus();
      await panel.page.keyboard.press('Escape');
      assert.notEqual(await placeholder(), 'Run the tests');
      assert.deepEqual(await panel.posted('cancel'), []);
      await panel.update({ op: 'session', patch: { turnCount: 9 } });
      await panel.page.waitForFunction(() => document.querySelector('textarea')?.placeholder === 'Run the tests');
    });

    it('is hidden while a turn is running, when Escape stops the agent', async () => {
      await open({ session: { ...RUNNING, suggestion } });
      await field().focus();
      assert.notEqual(await placeholder(), 'Run the tests');
      await panel.page.keyboard.press('Escape');
      await panel.next('cancel');
    });

    it('is exposed to screen readers only if enabled, and then announced', async () => {
      await open();
      await panel.page.evaluate(() => document.body.classList.add('vscode-using-screen-reader'));
      await panel.update({ op: 'session', patch: { suggestion } });
      assert.notEqual(await placeholder(), 'Run the tests');
      await panel.update({ op: 'session', patch: { suggestion: { ...suggestion, always: true } } });
      await panel.page.waitForFunction(() => document.querySelector('textarea')?.placeholder === 'Run the tests');
      await panel.page
        .getByText('Suggested message: Run the tests. Press Tab to insert it.')
        .waitFor({ state: 'attached' });
    });
  });

  it('changes modes and options by keyboard', async () => {
    const { modes, mode, config, usage } = SESSION_FULL;
    await open({ session: { modes: modes!, mode: mode!, config: config!, usage: usage! } });
    await button('Mode: Ask').press('Enter');
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await panel.next('setMode'), { type: 'setMode', key: 's1', modeId: 'code' });
    await button('Model: Opus').click();
    await panel.page.getByRole('option', { name: /Haiku/ }).click();
    assert.deepEqual(await panel.next('setConfig'), { type: 'setConfig', key: 's1', id: 'model', value: 'haiku' });
    await panel.page.getByRole('switch', { name: 'Web' }).click();
    assert.deepEqual((await panel.posted('setConfig'))[1], { type: 'setConfig', key: 's1', id: 'web', value: false });
    assert.match(
      (await panel.page.getByRole('button', { name: '34% of context used' }).getAttribute('title')) ?? '',
      /68K of 200K/,
    );
  });
});
