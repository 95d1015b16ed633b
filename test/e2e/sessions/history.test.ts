// The window goes and comes back: reloaded, killed, opened twice. What was said, what waits and what is half written is there again, and nothing is sent or started by itself.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { draftIsKept } from '../../support/vscode/keptState';
import { screenshot } from '../../support/vscode/openWindow';
import { descendants, kill } from '../../support/vscode/processTree';
import { useChat } from '../../support/vscode/useChat';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-history-'));
const log = join(scratch, 'agent.ndjson');
const DOUBT = 'May already have been sent';

/** Types and begins a new session before the page has told of what was typed: the clock by which it does stands still meanwhile. */
const typeAndLeave = `(() => {
  const later = window.setTimeout;
  const field = document.querySelector('textarea[aria-label="Message"]');
  window.setTimeout = () => 0;
  field.value = 'half a thought';
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  window.setTimeout = later;
  document.querySelector('button[aria-label="New session"]').click();
})()`;

/** The texts of all prompts that agents were sent, in order. */
function prompts(): string[] {
  return readAgentLog(log).flatMap(({ dir, msg }) =>
    dir === 'in' && msg?.method === 'session/prompt' ? [JSON.stringify(msg.params)] : [],
  );
}

const starts = (): number => readAgentLog(log).filter(({ ev }) => ev === 'start').length;

after(() => removeFolder(scratch));

const settings = {
  'parley.agents': { plain: { ...scriptedAgent('plain', log), name: 'Plain' } },
  'parley.defaultAgent': 'plain',
};

describe('a window that ends in the middle of a turn', () => {
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  const waiting = (): Promise<string[]> => chat.queue.locator('.queue-text').allTextContents();

  /** Three messages wait behind a turn, and half of a fourth is written. */
  async function fillQueue(turn: string, draft: string): Promise<void> {
    await chat.send(turn);
    await chat.state('running');
    for (const word of ['one', 'two', 'three']) await chat.send(`say ${word}`);
    await chat.queue.nth(2).waitFor();
    await chat.composer.fill(draft);
    await draftIsKept(vscode.server, vscode.window.page, draft);
  }

  /** The chat of the window that came back, as it stands before the user does anything. */
  async function comesBack(page: Page, draft: string): Promise<void> {
    chat = await Chat.at(page, 'panel');
    await chat.queue.first().waitFor();
    await chat.state('idle');
    assert.equal(await chat.composer.inputValue(), draft);
    await chat.button(/^Send \d queued messages?$/).waitFor();
  }

  it('shows the transcript, the queue and the draft after a reload, and sends nothing unasked', async () => {
    const { page } = vscode.window;
    await fillQueue('say Working.\nwait', 'half a thought');
    await chat.entries('agent').getByText('Working.').waitFor();
    const [sent, started] = [prompts().length, starts()];

    await page.reload();
    await comesBack(page, 'half a thought');
    assert.deepEqual(await waiting(), ['say one', 'say two', 'say three']);
    await chat.entries('agent').getByText('Working.').waitFor();
    assert.equal(await chat.turnEnd(), 'error');
    await chat.frame.getByText('Review queued messages').first().waitFor();
    await screenshot(page, 'reloaded-dark');
    assert.equal(prompts().length, sent, 'nothing is sent by itself');
    assert.equal(starts(), started, 'no agent is started by itself');

    await chat.button('Send 3 queued messages').click();
    for (let count = 0; count < 3; count++) assert.equal(await chat.turnEnd(), 'end_turn');
    assert.deepEqual(
      prompts()
        .slice(sent)
        .map((text) => /say (one|two|three)/.exec(text)?.[1]),
      ['one', 'two', 'three'],
    );
    assert.equal(await chat.composer.inputValue(), 'half a thought');
    await chat.composer.fill('');
  });

  it('sends each message once where the extension host is killed', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    // A turn of which the agent has said nothing yet.
    await fillQueue('sleep 60000', 'the other half');
    const [sent, started] = [prompts().length, starts()];
    const hosts = descendants(vscode.server.pid).filter(({ command }) => command.includes('--type=extensionHost'));
    assert.ok(hosts.length > 0);
    for (const { pid } of hosts) kill(pid);

    // VS Code starts another host by itself, and the tab of the one that broke is replaced by one that works.
    await chat.button('Stop').waitFor({ state: 'detached' });
    await comesBack(page, 'the other half');
    assert.deepEqual(await waiting(), ['sleep 60000', 'say one', 'say two', 'say three']);
    await chat.queue.first().getByText(DOUBT).waitFor();
    await screenshot(page, 'killed-host-dark');
    assert.equal(prompts().length, sent, 'nothing is sent by itself');
    assert.equal(starts(), started, 'no agent is started by itself');
  });

  it('returns to the message field what is sent while the extension host is dead', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    await chat.send('sleep 60000');
    await chat.state('running');
    await chat.send('say next');
    await chat.queue.first().waitFor();
    const sent = prompts().length;
    for (const { pid, command } of descendants(vscode.server.pid))
      if (command.includes('--type=extensionHost')) kill(pid);
    await chat.composer.fill('written to nobody');
    await chat.composer.press('Enter');
    await chat.button('Stop').waitFor({ state: 'detached' });
    await comesBack(page, 'written to nobody');
    assert.equal(prompts().length, sent);
  });
});

describe('earlier sessions', () => {
  const vscode = useVsCode({ theme: 'dark', settings });
  let chat: Chat;

  before('have three conversations, and close them', async () => {
    const { page } = vscode.window;
    chat = await Chat.open(page);
    for (const text of ['say The quick brown fox', 'say A heron over the mill pond', 'say Nothing of note']) {
      await chat.newSession();
      assert.equal(await chat.run(text), 'end_turn');
    }
    for (const text of ['Nothing of note', 'A heron over', 'The quick brown']) {
      await chat.entries('user').getByText(text).waitFor();
      await command(page, 'Parley: Close Session');
      await chat.entries('user').getByText(text).waitFor({ state: 'detached' });
    }
    await chat.state('idle');
  });

  it('are found by what was said in them, with the keyboard alone', async () => {
    const { page } = vscode.window;
    const started = starts();
    await inList(page, 'Parley: Sessions', async (list, patience) => {
      const row = (text: string) => list.locator('.monaco-list-row', { hasText: text });
      await row('Nothing of note').waitFor(patience);
      await page.keyboard.type('pond her');
      await row('A heron over the mill pond').first().waitFor(patience);
      await row('Nothing of note').waitFor({ state: 'detached', ...patience });
    });
    await screenshot(page, 'history-search-dark');
    await page.keyboard.press('Enter');
    chat = await Chat.at(page, 'panel');
    await chat.entries('agent').getByText('A heron over the mill pond').waitFor();
    await chat.state('idle');
    await screenshot(page, 'recalled-dark');
    assert.equal(starts(), started, 'it is read without its agent');
    assert.equal(await chat.run('say And a frog'), 'end_turn');
  });

  it('can be renamed and deleted', async () => {
    const { page } = vscode.window;
    const press = (text: string, name: string): Promise<void> =>
      inList(page, 'Parley: Sessions', async (list, patience) => {
        const row = list.locator('.monaco-list-row', { hasText: text });
        await row.hover(patience);
        await row.locator(`[aria-label="${name}"]`).click(patience);
      });
    await press('The quick brown fox', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await inList(page, 'Parley: Sessions', async (list, patience) => {
      await list.locator('.monaco-list-row', { hasText: 'Nothing of note' }).waitFor(patience);
      await list
        .locator('.monaco-list-row', { hasText: 'The quick brown fox' })
        .waitFor({ state: 'detached', ...patience });
    });
    await press('Nothing of note', 'Rename');
    const title = quickInput(page);
    await title.getByText('Session title').waitFor();
    await title.getByRole('textbox').fill('Of some note');
    await page.keyboard.press('Enter');

    await title.waitFor({ state: 'hidden' });
    await inList(page, 'Parley: Sessions', (list, patience) =>
      list.locator('.monaco-list-row', { hasText: 'Of some note' }).click(patience),
    );
    await page.getByRole('tab', { name: 'Of some note' }).waitFor();
    await chat.entries('agent').getByText('Nothing of note').waitFor();
  });

  it('keep the draft that was typed before another one was shown', async () => {
    const { page } = vscode.window;
    await chat.composer.evaluate(typeAndLeave);
    await chat.entries('agent').first().waitFor({ state: 'detached' });
    await chat.state('ready');
    assert.equal(await chat.composer.inputValue(), '');
    await inList(page, 'Parley: Sessions', (list, patience) =>
      list.locator('.monaco-list-row', { hasText: 'Of some note' }).click(patience),
    );
    await chat.entries('agent').getByText('Nothing of note').waitFor();
    assert.equal(await chat.composer.inputValue(), 'half a thought');
  });
});

describe('two windows on one workspace', () => {
  const vscode = useVsCode({ theme: 'dark', settings });

  it('write into a session one at a time, and the second takes over when the first is gone', async () => {
    const first = await Chat.open(vscode.window.page);
    assert.equal(await first.run('say From the first window'), 'end_turn');
    const started = starts();

    const page = await vscode.window.context.newPage();
    await page.goto(vscode.server.url);
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await command(page, 'Parley: Focus Chat');
    const second = await Chat.at(page, 'panel');
    await second.entries('agent').getByText('From the first window').waitFor();
    await second.frame.locator('[data-error-code="session-held"]').waitFor();
    await screenshot(page, 'held-dark');
    await second.send('say Against each other');
    await second.frame.getByText('open in another window').first().waitFor();
    assert.equal(await second.composer.inputValue(), 'say Against each other');
    await second.button('Take over').click();
    await page.getByText('This session is still open in the other window.').first().waitFor();
    assert.equal(starts(), started);

    await vscode.window.page.goto('about:blank');
    // There is no sign in this window of the end of the other: a person tries again.
    while (await second.button('Take over').isVisible())
      await second
        .button('Take over')
        .click({ timeout: 1000 })
        .catch(() => undefined);
    await second.state('idle');
    await second.composer.press('Enter');
    await second.entries('agent').getByText('Against each other').waitFor();
    await second.state('ready');
    await page.close();
  });
});

describe('an agent that keeps crashing', () => {
  const vscode = useVsCode({ theme: 'dark', settings: { 'parley.defaultAgent': 'demo' } });

  it('is restarted at first, and no longer when it keeps crashing', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    for (let count = 1; count <= 2; count++) {
      await chat.send('/crash');
      assert.equal(await chat.turnEnd(), 'error');
      await chat.state('ready');
    }
    // With something that waits: it goes only when the user says so, and the third pause is long enough to be seen.
    await chat.send('/slow');
    for (const text of ['/crash', 'Go on, please']) await chat.send(text);
    await chat.queue.nth(1).waitFor();
    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.button('Send 2 queued messages').click();
    assert.equal(await chat.turnEnd(), 'error');
    await chat.state('recovering');
    await screenshot(page, 'recovering-dark');
    await chat.state('ready');
    await chat.queue.getByText('Go on, please').waitFor();
    await screenshot(page, 'recovered-dark');
    await chat.button('Clear').click();
    await chat.queue.first().waitFor({ state: 'detached' });

    await chat.send('/crash');
    await chat.frame.locator('[data-error-code="restart-loop"]').getByText('4 times in a row').waitFor();
    await screenshot(page, 'restart-loop-dark');
    await chat.button('Restart agent').click();
    await chat.state('ready');
  });
});
