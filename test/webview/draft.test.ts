// Drafts in a real browser: nothing typed is lost and nothing sent reappears, even after crashes.
import assert from 'node:assert/strict';
import type { Panel, PanelOptions } from './harness/browser';
import { message } from './harness/samples';
import type { PageStorage } from './harness/server';
import { useHarness } from './harness/useHarness';

describe('a draft', () => {
  const browser = useHarness();
  let panel: Panel;

  const field = () => panel.page.getByRole('textbox', { name: 'Message' });
  const written = (text: string) =>
    panel.page.waitForFunction((wanted) => document.querySelector('textarea')?.value === wanted, text);
  const of = (key: string, options: PanelOptions = {}) => ({ ...options, session: { key } });
  const postedDrafts = async () => (await panel.posted('draft')).map(({ key, text }) => `${key}: ${text}`);

  /**
   * Replaces the page, like a reload of the window or a crash of the panel.
   * @param lost storage that the new page lacks: VS Code's webview state (session storage), or
   * local storage
   */
  async function reopen(options: PanelOptions, lost?: PageStorage): Promise<void> {
    await panel.page.goto(browser.harness.server.url('dark', 'en', lost && [lost]));
    await panel.next('hello');
    await panel.snapshot(options);
  }

  it('is sent to the host while the user types, not only when they pause', async () => {
    panel = await browser.open(of('first'));
    await field().pressSequentially('half a thought that goes on and on', { delay: 20 });
    const [first] = await panel.posted('draft');
    assert.ok(first && first.text.length < 34, 'a part of it was told before the end');
    await panel.page.waitForFunction(() =>
      host.posted.some((message) => message.type === 'draft' && message.text === 'half a thought that goes on and on'),
    );
  });

  it('is sent to the host immediately when the panel is hidden or loses the focus', async () => {
    for (const event of ['blur', 'pagehide']) {
      panel = await browser.open(of('first'));
      await field().fill('half');
      await panel.page.evaluate((type) => window.dispatchEvent(new Event(type)), event);
      assert.deepEqual(await postedDrafts(), ['first: half'], event);
    }
  });

  it('is complete after the page was destroyed while typing', async () => {
    for (const lost of [undefined, 'sessionStorage', 'localStorage'] as const) {
      panel = await browser.open(of('first'));
      await field().fill('half a thou');
      await reopen(of('first', { draft: { text: 'half', revision: 0 } }), lost);
      await written('half a thou');
      await panel.next('draft');
      assert.deepEqual(await postedDrafts(), ['first: half a thou'], 'the host gets what it has not');
    }
  });

  it("uses the host's version if that is newer", async () => {
    panel = await browser.open(of('first'));
    await field().fill('old words');
    const { revision } = await panel.next('draft');
    await reopen(of('first', { draft: { text: 'newer words', revision: revision + 1 } }));
    await written('newer words');
  });

  it('uses the newest version of all pages', async () => {
    for (const [later, text] of [
      [5, 'of the other page'],
      [-5, 'of this page'],
    ] as const) {
      panel = await browser.open(of('first', { draft: { text: '', revision: 10 } }));
      await field().fill('of this page');
      const { revision } = await panel.next('draft');
      await panel.page.evaluate(
        (value) => localStorage.setItem('parley.draft.first', JSON.stringify({ at: 1, value })),
        { text: 'of the other page', revision: revision + later },
      );
      await reopen(of('first', { draft: { text: '', revision: 10 } }));
      await written(text);
    }
  });

  it('stays with its session', async () => {
    panel = await browser.open(of('first'));
    await field().fill('half a thought');
    await panel.snapshot(of('second', { draft: 'of the second' }));
    await written('of the second');
    assert.deepEqual(await postedDrafts(), ['first: half a thought']);
    await reopen(of('second', { draft: 'of the second' }));
    await written('of the second');
    await panel.snapshot(of('first', { draft: { text: 'half a thought', revision: 9 } }));
    await written('half a thought');
  });

  it('is empty if the message was sent, even if the page was destroyed before the confirmation', async () => {
    panel = await browser.open(of('first'));
    await field().fill('deploy to production');
    await field().press('Enter');
    const { revision } = await panel.next('send');
    await reopen(of('first', { draft: { text: '', revision: revision + 1 } }));
    await written('');
  });

  it('is restored if the message was sent to a host that has exited', async () => {
    for (const lost of [undefined, 'sessionStorage', 'localStorage'] as const) {
      panel = await browser.open(of('first'));
      await field().fill('typed while nobody listened');
      await field().press('Enter');
      await reopen(of('first', { draft: { text: 'typed whi', revision: 0 } }), lost);
      await written('typed while nobody listened');
      await panel.page.getByRole('alert').filter({ hasText: "wasn't sent" }).waitFor();
      assert.deepEqual(await panel.posted('send'), [], 'it is not sent by itself');
    }
  });

  const unsent = async () =>
    (await panel.posted('unsent')).map(({ key, messages, text }) => [key, messages, text] as const);

  it('is kept separate from messages sent to a host that has exited, which are queued individually', async () => {
    for (const lost of [undefined, 'sessionStorage', 'localStorage'] as const) {
      panel = await browser.open(of('first'));
      await field().fill('one');
      await field().press('Enter');
      for (const word of ['two', 'three']) {
        await field().pressSequentially(word);
        await field().press('Enter');
      }
      await field().pressSequentially('half a thought');
      const host = of('first', { draft: { text: '', revision: 0 } });
      await reopen(host, lost);
      await written('half a thought');
      assert.deepEqual(await unsent(), [['first', ['one', 'two', 'three'], 'half a thought']]);
      // The host exits again before it has answered.
      await field().pressSequentially('!');
      await reopen(host, lost);
      await written('half a thought!');
      assert.deepEqual(await unsent(), [['first', ['one', 'two', 'three'], 'half a thought!']]);
      const { clientId, revision } = await panel.next('unsent');
      await panel.send({ type: 'accepted', clientId, revision: revision + 1 });
      await panel.page.waitForFunction(() => localStorage.getItem('parley.draft.first') === null);
      await reopen(of('first', { draft: { text: 'half a thought!', revision: revision + 1 } }), lost);
      await written('half a thought!');
      assert.deepEqual(await unsent(), []);
    }
  });

  it('excludes a message that the host received before it exited', async () => {
    panel = await browser.open(of('first'));
    await field().fill('one');
    await field().press('Enter');
    const { revision } = await panel.next('send');
    await field().pressSequentially('two');
    await field().press('Enter');
    await field().pressSequentially('rest');
    await reopen(of('first', { draft: { text: '', revision: revision + 1 } }));
    await written('rest');
    assert.deepEqual(await unsent(), [['first', ['two'], 'rest']]);
  });

  it('of a new session is restored in that session, even if another one is shown after a crash', async () => {
    panel = await browser.open(of('new'));
    await field().fill('the first words');
    await field().press('Enter');
    await reopen(of('old', { items: [message('u', 'user', 'said before')], draft: { text: 'mine', revision: 3 } }));
    await written('mine');
    assert.deepEqual(await unsent(), [['new', [], 'the first words']]);
    const { clientId, revision } = await panel.next('unsent');
    await panel.send({ type: 'accepted', clientId, revision: revision + 1 });
    await panel.page.waitForFunction(() => localStorage.getItem('parley.draft.new') === null);
    await reopen(of('old', { draft: { text: 'mine', revision: 3 } }));
    await written('mine');
    assert.deepEqual(await unsent(), []);
  });

  it('keeps attachments until a restarted host has them', async () => {
    panel = await browser.open(of('first'));
    const attach = () =>
      panel.page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(['{}'], 'data.json', { type: 'application/json' }));
        document
          .querySelector('textarea')
          ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
      });
    const able = (options: PanelOptions) => ({ ...options, session: { ...options.session, canAttachFiles: true } });
    panel = await browser.open(able(of('first')));
    await attach();
    assert.equal((await panel.next('attachFile')).name, 'data.json');
    await reopen(able(of('first')));
    assert.equal((await panel.next('attachFile')).name, 'data.json', 'it is posted again');
    const chip = { id: 'a', kind: 'file', label: 'data.json' } as const;
    await panel.update({ op: 'session', patch: { attachments: [chip] } });
    await panel.page.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith('parley.attach.')));
  });

  it('is removed from local storage once the host has the message', async () => {
    panel = await browser.open(of('first'));
    await field().fill('one');
    const draftKeys = () =>
      panel.page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('parley.draft.')));
    assert.deepEqual(await draftKeys(), ['parley.draft.first']);
    await field().press('Enter');
    const { clientId, revision } = await panel.next('send');
    await panel.send({ type: 'accepted', clientId, revision: revision + 1 });
    await written('');
    assert.deepEqual(await draftKeys(), []);
  });

  it('keeps text typed after a sent message, even without its confirmation', async () => {
    panel = await browser.open(of('first'));
    await field().fill('one');
    await field().press('Enter');
    const { revision } = await panel.next('send');
    await field().pressSequentially(' and two');
    await reopen(of('first', { draft: { text: '', revision: revision + 1 } }));
    await written('and two');
  });

  it('is sent without the previous message if Enter is pressed before that is confirmed', async () => {
    panel = await browser.open(of('first'));
    await field().fill('one');
    await field().press('Enter');
    const { clientId, revision } = await panel.next('send');
    await field().pressSequentially('two');
    await field().press('Enter');
    assert.equal((await panel.posted('send')).length, 1);
    await panel.send({ type: 'accepted', clientId, revision: revision + 1 });
    await panel.page.waitForFunction(() => host.posted.filter(({ type }) => type === 'send').length === 2);
    const second = (await panel.posted('send'))[1];
    assert.equal(second?.text, 'two');
    await panel.send({ type: 'accepted', clientId: second.clientId, revision: second.revision + 1 });
    await written('');
  });

  it('contains only text typed since, when the message of another session is accepted', async () => {
    panel = await browser.open(of('first'));
    await field().fill('one');
    await field().press('Enter');
    const { clientId, revision } = await panel.next('send');
    await field().pressSequentially(' and two');
    await panel.snapshot(of('second', { draft: 'of the second' }));
    await panel.send({ type: 'accepted', clientId, revision: revision + 1 });
    await panel.page.waitForFunction(() =>
      host.posted.some((message) => message.type === 'draft' && message.key === 'first' && message.text === 'and two'),
    );
    await written('of the second');
  });

  it('is cleared in all views when the message is sent from one', async () => {
    panel = await browser.open(of('first', { draft: { text: 'once', revision: 4 } }));
    await panel.send({ type: 'draft', key: 'first', text: '', revision: 5 });
    await written('');
    await field().press('Enter');
    assert.deepEqual(await panel.posted('send'), []);
  });

  it('shows text typed in other views, unless the user is typing here', async () => {
    panel = await browser.open(of('first'));
    await panel.send({ type: 'draft', key: 'first', text: 'from there', revision: 3 });
    await written('from there');
    await field().fill('from here');
    await panel.send({ type: 'draft', key: 'first', text: 'from there again', revision: 4 });
    await panel.page.waitForFunction(() =>
      host.posted.some((message) => message.type === 'draft' && message.text === 'from here' && message.revision > 4),
    );
    assert.equal(await field().inputValue(), 'from here');
  });

  it('that is too large is rejected with an explanation, and kept', async () => {
    panel = await browser.open(of('first'));
    const text = 'x'.repeat(2_000_001);
    await field().fill(text);
    await field().press('Enter');
    await panel.page.getByRole('alert').filter({ hasText: '2,000,000' }).waitFor();
    assert.deepEqual(await panel.posted('send'), []);
    assert.equal((await field().inputValue()).length, text.length);
    await field().fill('short');
    await field().press('Enter');
    assert.equal((await panel.next('send')).text, 'short');
  });

  it('that was rejected can be sent again, with the reason shown', async () => {
    panel = await browser.open(of('first'));
    await field().fill('hello');
    await field().press('Enter');
    await panel.send({ type: 'rejected', clientId: (await panel.next('send')).clientId, reason: 'This is too large.' });
    await panel.page.getByRole('alert').filter({ hasText: 'This is too large.' }).waitFor();
    await field().press('Enter');
    assert.equal((await panel.posted('send')).length, 2);
  });

  it("is not filled with another session's last message by Up", async () => {
    panel = await browser.open(of('A'));
    await field().fill('secret of session A');
    await field().press('Enter');
    const { clientId, revision } = await panel.next('send');
    await panel.send({ type: 'accepted', clientId, revision: revision + 1 });
    await written('');
    await panel.snapshot({ session: { key: 'B' }, items: [message('u', 'user', 'said in B')] });
    await field().press('ArrowUp');
    assert.equal(await field().inputValue(), 'said in B');
  });
});
