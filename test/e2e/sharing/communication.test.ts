// HTTP agents of the Agent Communication Protocol in the installed extension: chosen like any other, watched while they work, answered, stopped, and waited for while they are down.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deferred } from '../../../src/base/deferred';
import { textPart } from '../../../src/distributed/model/model';
import { removeScratch } from '../../support/scratch';
import { agentOf, part, type RunningServer, serve, stopServers, textIn } from '../../support/servers/servedAgents';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { command, quickInput } from '../../support/vscode/workbench';

/** Opened by the test, in this order, while the streamed answer is on its way. */
const [mayGoOn, wasStopped] = [new Deferred<void>(), new Deferred<void>()];

const reader = agentOf('reader', async (input, out, _context, signal) => {
  const asked = input.map(textIn).join('');
  if (asked === 'read without end') {
    out.part(textPart('Chapter one. '));
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        wasStopped.resolve();
        reject(signal.reason);
      });
    });
  }
  out.part(textPart('The river rises in the **north** '));
  await mayGoOn.promise;
  out.part(textPart('and ends in the sea.'));
});

const releases = agentOf('releases', async (_input, out) => {
  out.part(part({ metadata: { kind: 'trajectory', message: 'Nobody said which version; the changelog will.' } }));
  const search = { kind: 'trajectory', message: 'Compare the tags', tool_name: 'git_log' } as const;
  out.part(part({ metadata: { ...search, tool_input: { range: 'v2.3.0..main' }, tool_output: '14 commits' } }));
  out.part(textPart('Version **2.4.0** is ready: 14 commits since 2.3.0, all checks are green. The notes are in '));
  const notes = '# 2.4.0\n\n- Sessions move between servers.\n- Histories show what is missing.\n';
  out.part({ name: 'notes.md', content_type: 'text/markdown', content: notes, content_encoding: 'plain' });
  const source = { kind: 'citation', url: 'https://example.com/policy', title: 'Release policy' } as const;
  out.part(part({ content: '', metadata: source }));
  const answer = await out.ask([
    textPart('Publish **2.4.0** to the registry? Say *yes*, or what should be different.'),
  ]);
  out.part(textPart(`You said “${textIn(answer)}”: 2.4.0 is published.`));
});

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = {};
const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'demo' };

describe('HTTP agents', () => {
  let server: RunningServer;
  /** Its address is known, but nothing listens there. */
  let down: RunningServer;

  const define = ({ baseUrl: url, token }: RunningServer, agent: string, name: string): object => ({
    type: 'communication',
    ...{ name, url, agent, headers: { Authorization: `Bearer ${token}` } },
  });

  before('serve two agents, and none on a third address', async () => {
    server = await serve([reader, releases]);
    down = await serve([releases]);
    await down.server.stop();
    agents.reader = define(server, 'reader', 'Reader');
    agents.releases = define(server, 'releases', 'Release desk');
    agents.night = define(down, 'releases', 'Night desk');
  });

  after(async () => {
    await stopServers();
    await removeScratch();
  });

  describe('for a user', () => {
    let chat: Chat;
    const vscode = useChat({ theme: 'dark', settings }, (opened) => {
      chat = opened;
    });

    it('are in the list of agents, and stream their answers', async () => {
      await chat.selectAgent('Reader');
      await chat.state('ready');
      await chat.send('Where does it go?');
      await chat.entries('agent').getByText('The river rises in the north').waitFor();
      await chat.state('running');
      mayGoOn.resolve();
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('The river rises in the north and ends in the sea.').waitFor();
      assert.equal(await chat.entries('agent').count(), 1);
    });

    it('stop when the user stops them, and keep their text so far', async () => {
      await chat.send('read without end');
      await chat.entries('agent').getByText('Chapter one.').waitFor();
      await chat.button('Stop').click();
      assert.equal(await chat.turnEnd(), 'cancelled');
      await wasStopped.promise;
      await chat.state('ready');
      assert.ok(await chat.entries('agent').getByText('Chapter one.').isVisible());
    });

    it('show their steps, files and sources', async () => {
      await chat.selectAgent('Release desk');
      await chat.state('ready');
      await chat.send('Get the next release out of the door.');
      await chat.entries('thought').waitFor();
      await chat.entries('tool').getByText('Compare the tags').waitFor();
      await chat.entries('agent').getByText('notes.md').click();
      await chat.entries('agent').getByText('Histories show what is missing.').waitFor();
      await chat.entries('agent').getByText('Release policy').waitFor();
    });

    it('ask questions that the user sees and answers', async () => {
      await chat.entries('agent').getByText('Publish 2.4.0 to the registry?').waitFor();
      await chat.state('requiresAction');
      assert.equal(await chat.composer.getAttribute('placeholder'), 'Answer Release desk…');
      await screenshot(vscode.window.page, 'http-awaiting-dark');
      assert.equal(await chat.turnEnd(), 'end_turn');
      assert.equal(await chat.run('yes'), 'end_turn');
      await chat.entries('agent').getByText('You said “yes”: 2.4.0 is published.').waitFor();
      await chat.state('ready');
      await screenshot(vscode.window.page, 'http-answered-dark');
    });

    it('create files that are saved where the user chooses', async () => {
      const { page } = vscode.window;
      await chat.button('Save notes.md…').click();
      const input = quickInput(page).locator('input.input');
      const suggested = join(vscode.server.folder, 'notes.md');
      // VS Code's dialog reads the folder first, and has the whole of it then.
      while ((await input.inputValue()) !== suggested) await page.evaluate('new Promise(requestAnimationFrame)');
      assert.equal(existsSync(suggested), false);
      await input.press('Enter');
      // It looks at the folder once more; what is typed meanwhile would go into it.
      await input.waitFor({ state: 'hidden' });
      // No toast comes up in the windows of these tests; the list has it.
      await command(page, 'Notifications: Show Notifications');
      await page.locator('.notifications-center').getByText(`Saved: ${suggested}`).waitFor();
      assert.match(readFileSync(suggested, 'utf8'), /^# 2\.4\.0\n\n- Sessions move between servers\./);
      await command(page, 'Notifications: Clear All Notifications');
      await page.locator('.notifications-center').waitFor({ state: 'hidden' });
    });

    it('are shown as unreachable while they are, and recover', async () => {
      await chat.selectAgent('Night desk');
      await chat.failure.waitFor();
      await chat.state('failed');
      await chat.failure.getByText(new URL(down.baseUrl).host).waitFor();
      await screenshot(vscode.window.page, 'http-down-dark');
      await serve([releases], { token: down.token }, Number(new URL(down.baseUrl).port));
      await chat.failure.getByRole('button').first().click();
      await chat.state('ready');
      await chat.failure.waitFor({ state: 'detached' });
    });
  });
});
