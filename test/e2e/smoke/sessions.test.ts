// Several messages in the packaged extension: the queue, notifications, names of agents, and a
// reload in the middle of a turn.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { draftIsKept } from '../../support/vscode/keptState';
import { inNewDocuments } from '../../support/vscode/newDocuments';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { command, inList, showNotifications } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-smoke-'));
const log = join(scratch, 'agent.ndjson');

/** What would be an icon and a link in VS Code's interface if it were not taken as text. */
const NAME = '$(zap~spin) [Open](command:workbench.action.files.newUntitledFile)';

/**
 * Notes in each document what the chat says of its agent from the first moment on, and whether it
 * invites to begin.
 */
const NOTE_STATES = `{
  const seen = (window.parleyStates = []);
  setInterval(() => {
    const agent = document.querySelector('[role=status][aria-label="Agent"]');
    if (!agent || agent.textContent.trim() === '') return;
    const state = agent.dataset.state + (document.querySelector('.empty p') ? ', empty' : '');
    if (seen.at(-1) !== state) seen.push(state);
  }, 10);
}`;

const prompts = (): string[] =>
  readAgentLog(log).flatMap(({ dir, msg }) => {
    if (dir !== 'in' || msg?.method !== 'session/prompt') return [];
    const { prompt } = msg.params as { readonly prompt: readonly { readonly text?: string }[] };
    return [prompt[0]?.text ?? ''];
  });

after(() => removeFolder(scratch));

describe('sessions', () => {
  let chat: Chat;
  const vscode = useChat(
    {
      theme: 'dark',
      settings: {
        'parley.agents': {
          plain: { ...scriptedAgent('plain', log), name: NAME },
        },
        'parley.defaultAgent': 'plain',
        'parley.background': 'finishTurn',
      },
    },
    (opened) => {
      chat = opened;
    },
  );

  /** A file that holds back the end of a flood for as long as it is there. */
  function hold(name: string): string {
    const path = join(scratch, name);
    writeFileSync(path, '');
    return path;
  }

  const starts = (): number => readAgentLog(log).filter(({ ev }) => ev === 'start').length;
  /** Starts of the agent before the window was reloaded. */
  let started = 0;

  const queued = (): Promise<string[]> => chat.queue.locator('.queue-text').allTextContents();

  it('queue messages during a turn, pause on Stop, and send them in order on request', async () => {
    await chat.send('say Working.\nwait');
    await chat.entries('agent').getByText('Working.').waitFor();
    for (const text of ['say The quick brown fox', 'say two']) await chat.send(text);
    await chat.queue.nth(1).waitFor();
    assert.deepEqual(await queued(), ['say The quick brown fox', 'say two']);
    await screenshot(vscode.window.page, 'queue-dark');
    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.button('Send 2 queued messages').click();
    for (let count = 0; count < 2; count++) assert.equal(await chat.turnEnd(), 'end_turn');
    assert.deepEqual(prompts(), ['say Working.\nwait', 'say The quick brown fox', 'say two']);
  });

  it('are answered from a notification, which shows text of the agent as text', async () => {
    const { page } = vscode.window;
    const held = hold('asks');
    const toolCall = { toolCallId: 'a', title: 'npm test', kind: 'execute', rawInput: { command: 'npm test' } };
    await chat.send(`flood 5 0 END ${held}\npermission ${JSON.stringify({ toolCall })}`);
    await chat.state('running');
    await command(page, 'File: New Untitled Text File');
    rmSync(held);
    const item = (await showNotifications(page)).filter({ hasText: 'wants to run: npm test' });
    await item.waitFor();
    assert.match((await item.textContent()) ?? '', /\[Open\]/);
    assert.equal(await item.locator('.notification-list-item-message a, .codicon-zap').count(), 0);
    await screenshot(page, 'notification-answers-dark');
    // A button that is pressed sooner shows the session.
    await delay(500);
    await item.getByRole('button', { name: 'Allow', exact: true }).click();
    await command(page, 'View: Close Editor');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('agent').getByText('"optionId":"allow"').waitFor();
  });

  it('show names of agents as text in lists of VS Code', async () => {
    const { page } = vscode.window;
    const row = await inList(page, 'Parley: New Session with…', async (list, patience) => {
      await list.getByPlaceholder('Select an agent').waitFor(patience);
      const one = list.locator('.monaco-list-row', { hasText: 'newUntitledFile' });
      return { text: await one.textContent(patience), icons: await one.locator('.codicon-zap').count() };
    });
    assert.equal(row.icons, 0);
    assert.match(row.text ?? '', /\[Open\]/);
    await page.keyboard.press('Escape');
  });

  it('keep transcript, draft and queue when the window is reloaded during a turn', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    assert.equal(await chat.run('say Before the reload'), 'end_turn');
    await chat.send(`flood 100 0 END ${hold('reload')}`);
    await chat.send('say afterwards');
    await chat.queue.first().waitFor();
    started = starts();
    await chat.composer.fill('half a thought');
    await draftIsKept(vscode.server, page, 'half a thought');
    const endNotes = await inNewDocuments(page, NOTE_STATES);
    await command(page, 'Developer: Reload Window');
    chat = await Chat.at(page, 'panel');
    await endNotes();
    await chat.entries('agent').getByText('Before the reload').waitFor();
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.state('running');
    assert.equal(await chat.composer.inputValue(), 'half a thought');
    assert.deepEqual(await queued(), ['say afterwards']);
    await screenshot(page, 'reloaded-dark');
  });

  it('continue in the background: the turn ends as usual, and the queue follows', async () => {
    rmSync(join(scratch, 'reload'));
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.state('ready');
    const states = (await chat.log.evaluate('window.parleyStates')) as readonly string[];
    assert.deepEqual([...new Set(states)], ['running', 'ready'], 'nothing else flashes up');
    assert.equal(await chat.copyTurn(), 'afterwards');
    assert.equal(await chat.frame.getByText('END-OF-FLOOD-END').count(), 1);
    assert.equal(await chat.entries('notice').count(), 0);
    assert.equal(starts(), started, 'no agent was started again');
  });
});
