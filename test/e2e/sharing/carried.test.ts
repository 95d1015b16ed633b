// Sessions that move, in the installed extension: copied as a link and opened elsewhere, opened with gaps that are filled later, handed to other agents, parted into branches, and
// asked by other programs through the local server.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { mintId, type SessionDescriptor, textPart } from '../../../src/distributed/model/model';
import { readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { MIX, QUOTES } from '../../support/hostile/nested';
import { removeFolder, removeScratch } from '../../support/scratch';
import { sdk, sdkClient } from '../../support/servers/sdkClient';
import {
  agentOf,
  echo,
  historyEcho,
  part,
  type RunningServer,
  rivalOf,
  serve,
  stopServers,
} from '../../support/servers/servedAgents';
import { json, type StubServer, stopStubs, stubServer } from '../../support/servers/stubServer';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { chooseInList, command, copied, inList, quickInput } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-carried-'));
const secondLog = join(scratch, 'second.ndjson');

/** What was said in a session that three servers keep; the third is not one that anybody may ask. */
const SAID = [
  'We move the archive to the new building in May. What has to be ready by then?',
  'Three things: shelves for **4,200** boxes, a climate of 18 °C, and a list of what goes first.',
  'Who makes the list?',
  'The reading room: it knows what people ask for.',
  'And the shelves?',
  'They come on the 3rd, in two deliveries.',
  'Then the first boxes can go on the 10th.',
  'Yes. I would keep the week after free for what is found to be missing.',
];

const message = (index: number): object => {
  const isUser = index % 2 === 0;
  const part = {
    content_type: isUser ? 'text/plain' : 'text/markdown',
    content: SAID[index],
    content_encoding: 'plain',
  };
  return { role: isUser ? 'user' : 'agent/planner', parts: [part] };
};

/** What lies behind the addresses of parts. */
const TEXTS: ReadonlyMap<string, string | Buffer> = new Map<string, string | Buffer>([
  ['/texts/plan', 'The plan: shelves **first**, then boxes, and the cellar last.'],
  ['/texts/inventory', `The inventory. ${'A box of letters. '.repeat(20_000)}`],
  ['/texts/order', 'The order: cellar **first**, then attic.'],
  ['/pictures/stamp.png', readFileSync('media/icon.png')],
  ['/pictures/seal.png', readFileSync('media/icon.png')],
]);

/** A message that is mostly elsewhere. */
const inParts = (base: string): object => ({
  role: 'agent/planner',
  parts: [
    { content: 'I wrote it down:' },
    { content_url: `${base}/texts/plan` },
    { content_url: `${base}/texts/inventory` },
    { content_url: `${base}/pictures/stamp.png`, content_type: 'image/png' },
    { content_url: `${base}/texts/gone` },
    { content: 'Ask me if anything is missing.' },
  ],
});

const hostileMessage = (content: string): object => ({ role: 'agent/stranger', parts: [{ content }] });

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = {
  plain: { ...scriptedAgent('plain'), name: 'Plain' },
  second: { ...scriptedAgent('plain', secondLog), name: 'Second' },
};
const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'plain' };

const notice = (chat: Chat, title: string): Locator => chat.entries('notice').filter({ hasText: title });
const gap = (chat: Chat, number: number): Locator =>
  chat.frame.locator('[role=article][data-kind=gap]', { hasText: `Message ${number} is missing.` });
const agentSaid = (chat: Chat, text: string): Locator => chat.entries('agent').getByText(text, { exact: true });

/** Answers the question that VS Code asks in the middle of the window. */
async function answer(page: Page, question: string, button: string): Promise<void> {
  const dialog = page.getByRole('dialog').filter({ hasText: question });
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Copies the active session. @param form as the list has it */
function copySession(page: Page, form: 'Link' | 'JSON'): Promise<string> {
  return copied(page, async () => {
    await chooseInList(page, 'Parley: Copy Session Link', 'Copy the session as', form);
    await answer(page, "This session can't be opened on another machine.", 'Copy');
  });
}

/** Opens a session by what somebody sent. */
async function openFrom(page: Page, link: string): Promise<void> {
  await command(page, 'Parley: Open Session from Link…');
  const box = quickInput(page);
  await box.getByText('Session link, descriptor').waitFor();
  await box.locator('input.input').fill(link);
  await page.keyboard.press('Enter');
}

describe('shared sessions', () => {
  let archive: StubServer;
  let remote: RunningServer;
  let away: string;

  before('serve an agent and a history with gaps', async () => {
    archive = await stubServer(({ path }, response) => {
      const index = Number(/^\/messages\/(\d)/.exec(path)?.[1]);
      if (path.includes('gone')) return json(response, 404, {});
      const hostile = /^\/hostile\/(\d)/.exec(path)?.[1];
      if (hostile !== undefined) return json(response, 200, hostileMessage(hostile === '0' ? QUOTES : MIX));
      if (path === '/parts') return json(response, 200, inParts(archive.baseUrl));
      const text = TEXTS.get(path);
      if (text !== undefined) return response.end(text);
      return path.includes('exp=') ? json(response, 403, {}) : json(response, 200, message(index));
    });
    const other = await stubServer(() => undefined);
    away = other.baseUrl;
    await other.stop();
    const writer = agentOf('writer', async (_input, out) => {
      out.part(textPart('I wrote this order:'));
      out.part(part({ content_url: `${archive.baseUrl}/texts/order` }));
      out.part(part({ content_url: `${archive.baseUrl}/pictures/seal.png`, content_type: 'image/png' }));
      out.part(textPart('That is the order.'));
    });
    remote = await serve([historyEcho, echo, writer]);
    const headers = { Authorization: `Bearer ${remote.token}` };
    const { baseUrl: url } = remote;
    agents.past = { type: 'communication', name: 'Far echo', url, agent: historyEcho.name, headers };
    agents.writer = { type: 'communication', name: 'Writer', url, agent: writer.name, headers };
    agents.echo = { type: 'communication', name: 'Far', url, agent: echo.name, headers };
    // Its server is one of the user's own by this.
    agents.planner = { type: 'communication', name: 'Planner', url: archive.baseUrl, agent: 'planner' };
  });

  after(async () => {
    await stopServers();
    await stopStubs();
    await removeScratch();
    await removeFolder(scratch);
  });

  describe('for a user', () => {
    let chat: Chat;
    /** Says something in a session on the server, in which nobody here knows of it. */
    let other: (text: string) => Promise<unknown>;
    const vscode = useChat({ theme: 'dark', settings }, (opened) => {
      chat = opened;
    });

    it('arrive whole in another window', async () => {
      const { page } = vscode.window;
      assert.equal(await chat.run('say The first answer'), 'end_turn');
      assert.equal(await chat.run('say The second answer'), 'end_turn');
      const link = await copySession(page, 'Link');
      assert.match(link, /^[a-z-]+:\/\/parley\.parley\/session\?d=/);

      const other = await vscode.window.context.newPage();
      await other.goto(vscode.server.url);
      await other.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
      await openFrom(other, link);
      const opened = await Chat.at(other, 'panel');
      // A page of this VS Code keeps its secrets to itself, so its window is to the first one what another machine is.
      await answer(other, 'Read this session from', 'Allow Once');
      await notice(opened, 'Plain continues from here').waitFor();
      await agentSaid(opened, 'The first answer').waitFor();
      await agentSaid(opened, 'The second answer').waitFor();
      assert.equal(await opened.entries('user').count(), 2);
      await screenshot(other, 'opened-dark');
      await other.close();
    });

    it('show a gap for a message that a server refuses, and load it on Retry', async () => {
      const { page } = vscode.window;
      const at = (index: number): string => `${archive.baseUrl}/messages/${index}`;
      const history = [
        ...[at(0), at(1), `${away}/messages/2`, 'http://169.254.169.254/messages/3'],
        ...[at(4), `${at(5)}/gone`, `${at(6)}?exp=1700000000&sig=x`, at(7)],
      ];
      await openFrom(page, JSON.stringify({ id: '5c1f7f4e-54a5-4a53-8b4f-1d9c5bc4f0aa', history }));
      await answer(page, `Read this session from ${away}`, 'Allow Once');
      await notice(chat, "4 messages couldn't be loaded").waitFor();
      for (const [number, why] of [
        [3, `${new URL(away).host} refuses connections.`],
        [4, "169.254.169.254 isn't on the public internet or the list of allowed servers."],
        [6, `${new URL(archive.baseUrl).host} no longer has it.`],
        [7, 'The link has expired.'],
      ] as const)
        await gap(chat, number).getByText(why).waitFor();
      assert.equal(await gap(chat, 7).getByRole('button').count(), 0, 'what is final offers no retry');
      await screenshot(page, 'history-gaps-dark');

      await stubServer((_request, response) => json(response, 200, message(2)), Number(new URL(away).port));
      await gap(chat, 3).getByRole('button', { name: 'Retry', exact: true }).click();
      await chat.entries('user').getByText('Who makes the list?').waitFor();
      await gap(chat, 3).waitFor({ state: 'detached' });
      const texts = await chat.log.locator('[role=article]').allTextContents();
      const [before, here, behind] = ['Three things', 'Who makes the list?', 'Message 4 is missing'].map((text) =>
        texts.findIndex((one) => one.includes(text)),
      ) as [number, number, number];
      assert.deepEqual([here, behind], [before + 1, before + 2]);
      chat = await Chat.at(page, 'panel');
      assert.equal(await chat.run('say The session goes on'), 'end_turn');
      await agentSaid(chat, 'The session goes on').waitFor();
    });

    it('are read with parts stored elsewhere, and the next agent gets their text', async () => {
      const { page } = vscode.window;
      const { host } = new URL(archive.baseUrl);
      await openFrom(page, JSON.stringify({ id: mintId(), history: [`${archive.baseUrl}/parts`] }));
      await chat.entries('agent').getByText('The plan: shelves first, then boxes').waitFor();
      const part = (text: string): Locator => chat.entries('gap').filter({ hasText: text });
      await part(`gone (text/plain) is missing. ${host} no longer has it`)
        .getByRole('button', { name: 'Retry' })
        .waitFor();
      await part(`inventory (text/plain) is stored on ${host}.`).getByRole('button', { name: 'Load' }).waitFor();
      await screenshot(page, 'parts-dark');
      await part('stamp.png (image/png)').getByRole('button', { name: 'Load' }).click();
      await chat.entries('agent').locator('img').waitFor();
      await screenshot(page, 'parts-loaded-dark');
      await part('inventory').getByRole('button', { name: 'Load' }).click();
      await part('inventory').waitFor({ state: 'detached' });
      await chat.entries('agent').getByText('A box of letters.').last().waitFor();
      assert.equal(await chat.entries('gap').count(), 1);
      chat = await Chat.at(page, 'panel');
      await chooseInList(page, 'Parley: Continue with Another Agent…', 'Select an agent to continue with', 'Second');
      await notice(chat, "1 message couldn't be loaded").getByText('Second starts a new session').waitFor();
      await chat.send('say The plan is known');
      await agentSaid(chat, 'The plan is known').waitFor();
      await chat.state('ready');
      assert.match(
        JSON.stringify(readAgentLog(secondLog)),
        /The plan: shelves \*\*first\*\*, then boxes, and the cellar last/,
      );
    });

    it('are read with parts stored elsewhere in an answer, and the next agent gets their text', async () => {
      const { page } = vscode.window;
      await chooseInList(page, 'Parley: Continue with Another Agent…', 'Select an agent to continue with', 'Writer');
      await notice(chat, "1 message couldn't be loaded").getByText('Writer gets the session').waitFor();
      await chat.send('write it down');
      await agentSaid(chat, 'That is the order.').waitFor();
      await chat.entries('agent').getByText('The order: cellar first, then attic').waitFor();
      const seal = chat.entries('gap').filter({ hasText: 'seal.png (image/png)' });
      await screenshot(page, 'answer-parts-dark');
      await seal.getByRole('button', { name: 'Load' }).click();
      await seal.waitFor({ state: 'detached' });
      await chat.state('ready');
      await chooseInList(page, 'Parley: Continue with Another Agent…', 'Select an agent to continue with', 'Second');
      await notice(chat, "1 message couldn't be loaded").getByText('Second starts a new session').waitFor();
      await chat.send('say The order is known');
      await agentSaid(chat, 'The order is known').waitFor();
      await chat.state('ready');
      assert.match(JSON.stringify(readAgentLog(secondLog)), /The order: cellar \*\*first\*\*, then attic/);
    });

    it('keep the page responsive where messages nest without end', async () => {
      const { page } = vscode.window;
      const history = [0, 1].map((index) => `${archive.baseUrl}/hostile/${index}`);
      await openFrom(page, JSON.stringify({ id: mintId(), history }));
      await notice(chat, 'Plain continues from here').waitFor();
      await chat.send('say The page answers');
      await agentSaid(chat, 'The page answers').waitFor();
      await chat.state('ready');
    });

    it('ask one question about all the servers that they are on', async () => {
      const { page } = vscode.window;
      // A chat that had the focus gets it back when the list of the command closes, which may be
      // after the question is there.
      await command(page, 'View: Focus into Primary Side Bar');
      const history = Array.from({ length: 25 }, (_, at) => `http://127.0.0.1:${at + 2}/message`);
      await openFrom(page, JSON.stringify({ id: mintId(), history }));
      const question = 'This session has messages on 25 servers on this machine or in your network.';
      const dialog = page.getByRole('dialog').filter({ hasText: question });
      await dialog.getByText('http://127.0.0.1:26 (this machine, 1 message)').waitFor();
      await screenshot(page, 'servers-question-dark');
      // The chat comes to the front behind the question a second later, and leaves the focus there.
      const refusal = dialog.getByRole('button', { name: "Don't Allow", exact: true }).and(dialog.locator(':focus'));
      await refusal.waitFor();
      await chat.entries('gap').first().waitFor();
      await page.keyboard.type('typed'); // a space would press the button
      assert.equal(await chat.composer.inputValue(), '');
      await answer(page, question, "Don't Allow");
      await notice(chat, "25 messages couldn't be loaded").waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
      assert.equal(await chat.entries('gap').count(), 25);
    });

    it('show at a change of agent who had them and what is not carried over', async () => {
      const { page } = vscode.window;
      await chat.newSession();
      assert.equal(await chat.run('say The word is blue'), 'end_turn');
      await chooseInList(page, 'Parley: Continue with Another Agent…', 'Select an agent to continue with', 'Second');
      await notice(chat, 'Continued from Plain, 2 messages').waitFor();
      await notice(chat, 'Second continues from here')
        .getByText(/starts a new session\. The transcript will be sent/)
        .waitFor();
      await notice(chat, 'Second continues from here')
        .getByText(/Mode, options, running tool calls/)
        .waitFor();
      await agentSaid(chat, 'The word is blue').waitFor();
      await chat.send('say The word was blue');
      await agentSaid(chat, 'The word was blue').waitFor();
      await chat.state('ready');
      assert.equal(await notice(chat, 'started a new session').count(), 0, 'it was said already that one begins');
      await screenshot(page, 'hand-over-dark');
      assert.match(JSON.stringify(readAgentLog(secondLog)), /Transcript of the conversation so far.*The word is blue/);

      await notice(chat, 'Continued from Plain').getByRole('button', { name: 'Show session' }).click();
      await notice(chat, 'Continued with Second').waitFor();
      await screenshot(page, 'handed-over-dark');
    });

    it('become two named branches where two agents continue them', async () => {
      const { page } = vscode.window;
      await chat.send('say The word is red now');
      await agentSaid(chat, 'The word is red now').waitFor();
      await notice(chat, 'This session has another branch')
        .getByText(/after 2 messages/)
        .waitFor();
      await screenshot(page, 'fork-dark');
      await chat.button('Show other branch').click();
      await agentSaid(chat, 'The word was blue').waitFor();
      await notice(chat, 'This session has another branch')
        .getByText(/with Plain/)
        .waitFor();
      assert.equal(await agentSaid(chat, 'The word is red now').count(), 0);
    });

    it('are passed to an HTTP agent unchanged', async () => {
      const { page } = vscode.window;
      await chooseInList(page, 'Parley: Continue with Another Agent…', 'Select an agent to continue with', 'Far echo');
      await notice(chat, 'Continued from Second, 4 messages').waitFor();
      await notice(chat, 'Far echo gets the session with your next message').waitFor();
      await chat.send('What was said?');
      await agentSaid(chat, 'say The word is blue').waitFor();
      await agentSaid(chat, 'What was said?').waitFor();
      await chat.state('ready');
      await screenshot(page, 'hand-over-http-dark');
    });

    it('show a second branch that a server has', async () => {
      const { page } = vscode.window;
      await chat.selectAgent('Far');
      chat = await Chat.at(page, 'panel');
      await chat.state('ready');
      await chat.run('We meet on Monday.');
      const descriptor = JSON.parse(await copySession(page, 'JSON')) as SessionDescriptor;
      const rival = rivalOf(remote, descriptor);
      other = rivalOf(remote, descriptor);
      await chat.run('At nine.');
      await rival('No, on Friday.');
      await chat.run('And bring the keys.');
      const told = notice(chat, 'has another branch of this session');
      await told.getByText(/share 2 messages\. The other one continues with 3 messages/).waitFor();
      await screenshot(page, 'fork-server-dark');
      await told.getByRole('button', { name: 'Show other branch' }).click();
      await notice(chat, 'Another branch of the session with Far').waitFor();
      await agentSaid(chat, 'No, on Friday.').waitFor();
      assert.equal(await chat.log.getByText('At nine.').count(), 0);
      await notice(chat, 'Far gets the session with your next message').waitFor();
      await screenshot(page, 'fork-shown-dark');
    });

    it('let the user choose among branches', async () => {
      const { page } = vscode.window;
      await notice(chat, 'Another branch of the session with Far')
        .getByRole('button', { name: 'Show session' })
        .click();
      await chat.entries('user').getByText('At nine.').waitFor();
      for (const text of ['No, on Sunday.', 'Before noon.']) await other(text);
      await chat.send('Who has the keys?');
      const told = notice(chat, 'has another branch of this session');
      await told.getByText(/share 2 messages\. The other one continues with 5 messages/).waitFor();
      const title = 'Parley: Show Other Branch…';
      await inList(page, title, async (list, patience) => {
        for (const count of [3, 5]) await list.getByText(`${count} messages that aren't here`).waitFor(patience);
      });
      await screenshot(page, 'branches-dark');
      await page.keyboard.press('Escape');
      await chooseInList(page, title, 'Select a branch to show', "5 messages that aren't here");
      await agentSaid(chat, 'Before noon.').waitFor();
      await agentSaid(chat, 'No, on Sunday.').waitFor();
      for (const text of ['At nine.', 'No, on Friday.']) assert.equal(await chat.log.getByText(text).count(), 0);
    });

    it('can be used by other programs, which get permission requests', async () => {
      const { page, server } = { ...vscode.window, server: vscode.server };
      server.configure({ 'parley.server.enabled': true, 'parley.server.agents': ['plain'] });
      await page.getByRole('button', { name: 'Parley: Serving 1 agent' }).waitFor();
      const baseUrl = await copied(page, () => command(page, 'Parley: Copy Server Address'));
      const token = await copied(page, () => command(page, 'Parley: Copy Server Token'));
      const client = sdkClient({ baseUrl, token });
      const asked = await client.runSync('plain', 'permission');
      assert.equal(asked.status, 'awaiting');
      assert.match(asked.await_request?.message.parts[0]?.content ?? '', /asks for permission: touch a-file/);
      assert.equal(await chat.permission.count(), 0, 'whoever called is asked, not the user of the window');
      const allow = sdk.Message.parse({ parts: [{ content: 'Allow' }] });
      const run = await client.runResumeSync(asked.run_id, { type: 'message', message: allow });
      assert.equal(run.status, 'completed');
      assert.match(JSON.stringify(run.output), /"optionId\\":\\"allow\\"/);
      await screenshot(page, 'served-dark');
      server.configure({ 'parley.server.enabled': false });
      await page.getByRole('button', { name: 'Parley: Serving 1 agent' }).waitFor({ state: 'detached' });
      await assert.rejects(client.agent('plain'));
    });
  });
});
