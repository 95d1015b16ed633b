// The local server of the installed extension: off it listens to nothing, its sessions outlive the
// window, and their messages are where the settings say.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintId, readMessage } from '../../../src/distributed/model/model';
import { scriptedAgent } from '../../support/agents/definition';
import { removeFolder, removeScratch } from '../../support/scratch';
import { type CheckedBucket, checkedBucket } from '../../support/servers/checkedBucket';
import {
  clientOf,
  echo,
  type RunningServer,
  serve,
  stopServers,
  textIn,
  userMessage,
} from '../../support/servers/servedAgents';
import type { SyncClient } from '../../support/servers/syncClient';
import { Chat } from '../../support/vscode/chat';
import { tabIsKept } from '../../support/vscode/keptState';
import { listeningPorts } from '../../support/vscode/listening';
import { descendants } from '../../support/vscode/processTree';
import { useChat } from '../../support/vscode/useChat';
import { copied, inList } from '../../support/vscode/workbench';

const signal = new AbortController().signal;

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = {};
const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'plain', 'parley.server.agents': ['plain'] };

describe('the local server', () => {
  let remote: RunningServer;
  let bucket: CheckedBucket;
  const objects = mkdtempSync(join(tmpdir(), 'parley-served-'));

  agents.plain = { ...scriptedAgent('plain'), name: 'Plain' };

  before('serve an HTTP agent and a bucket', async () => {
    remote = await serve([echo]);
    bucket = await checkedBucket(objects);
    const headers = { Authorization: `Bearer ${remote.token}` };
    agents.echo = { type: 'communication', name: 'Far', url: remote.baseUrl, agent: echo.name, headers };
  });

  after(async () => {
    await stopServers();
    await bucket.close();
    await removeFolder(objects);
    await removeScratch();
  });

  describe('for a user', () => {
    let chat: Chat;
    const vscode = useChat({ theme: 'dark', settings }, (opened) => {
      chat = opened;
    });

    /** Ports on which the window's extensions can be reached. */
    const ports = (): readonly number[] =>
      descendants(vscode.server.pid)
        .filter(({ command: line }) => line.includes('--type=extensionHost'))
        .flatMap(({ pid }) => listeningPorts(pid));

    const statusItem = (text: string) => vscode.window.page.getByRole('button', { name: text });

    /** The server as callers reach it now. */
    async function reached(): Promise<SyncClient> {
      const { page } = vscode.window;
      const choose = (item: string) => () =>
        inList(page, 'Parley: Sharing and Server…', (list, patience) =>
          list.locator('.monaco-list-row', { hasText: item }).click(patience),
        );
      const baseUrl = await copied(page, choose('Copy Server Address'));
      return clientOf(baseUrl, await copied(page, choose('Copy Server Token')));
    }

    async function texts(client: SyncClient, sessionId: string): Promise<readonly string[]> {
      const { history } = await client.session(sessionId, signal);
      return Promise.all(
        history.map(async (url) => {
          const answer = await fetch(url);
          return answer.ok ? textIn(readMessage(await answer.json())) : `status ${answer.status}`;
        }),
      );
    }

    const say = (client: SyncClient, text: string, fields: object = {}) =>
      client.runSync({ agentName: 'plain', input: [userMessage(text)], ...fields }, signal);

    it('does not listen and shows nothing while it is off, even in a chat with an HTTP agent', async function () {
      if (process.platform !== 'linux') this.skip();
      const before = ports();
      await chat.selectAgent('Far');
      chat = await Chat.at(vscode.window.page, 'panel');
      await chat.state('ready');
      assert.equal(await chat.run('Is anybody there?'), 'end_turn');
      await chat.entries('agent').getByText('Is anybody there?').waitFor();
      assert.deepEqual(ports(), before);
      assert.equal(
        await vscode.window.page.locator('.statusbar-item', { hasText: /Parley( serves| Server|:)/ }).count(),
        0,
      );
    });

    it('keeps the sessions of its callers when the window is reloaded', async () => {
      vscode.server.configure({ 'parley.server.enabled': true });
      await statusItem('Parley: Serving 1 agent').waitFor();
      const first = await reached();
      const { session_id: sessionId = '' } = await say(first, 'say Before the reload');
      await tabIsKept(vscode.window.page);
      await vscode.window.page.reload();
      chat = await Chat.at(vscode.window.page, 'panel');
      await statusItem('Parley: Serving 1 agent').waitFor();
      const second = await reached();
      assert.notEqual(second.baseUrl, first.baseUrl);
      assert.equal((await say(second, 'say After it', { sessionId })).session_id, sessionId);
      assert.deepEqual(await texts(second, sessionId), [
        'say Before the reload',
        'Before the reload',
        'say After it',
        'After it',
      ]);
      const unknown = mintId();
      assert.equal((await say(second, 'say x', { sessionId: unknown })).session_id, unknown);
    });
  });
});
