// Session commands in a real VS Code, with an agent that stores its sessions.

import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { SessionInfo } from '../../../src/acp/protocol/dialect';
import { localize } from '../../../src/base/localizable';
import { silentLog } from '../../../src/base/log';
import type { SessionSnapshot } from '../../../src/client/view/snapshot';
import type { ParleyApi } from '../../../src/workbench/api';
import { FolderConsent } from '../../../src/workbench/config/folderConsent';
import { McpServers } from '../../../src/workbench/config/mcpServers';
import { type SessionAgentScript, sessionScript } from '../../support/agents/sessionScript';
import { memory } from '../../support/memory';
import { removeFolder } from '../../support/scratch';
import { until } from '../editing';
import { activated, configure, run, scripted } from '../extension';

describe('sessions in the workbench', function () {
  this.timeout(60_000);
  let api: ParleyApi;
  let cwd: string;

  before(async () => {
    api = await activated();
    cwd = realpathSync(await mkdtemp(join(tmpdir(), 'parley-workbench-sessions-')));
    const entry = (store: string, script: SessionAgentScript) => scripted(sessionScript(join(cwd, store), script));
    const terminal = { id: 'tty', name: 'Log in', type: 'terminal', args: ['--login'], env: { LOGIN_TOKEN: 'x' } };
    const offers = ['list', 'fork', 'close', 'delete', 'title', 'archive'] as const;
    await configure('agents', {
      keeper: entry('sessions', { load: true, offers, forkReplays: true }),
      mcp: scripted({
        commands: [{ name: 'mcp', description: 'Servers', input: { hint: '[reconnect [<server>]]' } }],
        scenes: { '*': 'say done' },
      }),
      locked: entry('locked', { authMethods: [terminal], signedIn: join(cwd, 'signed-in'), logout: true }),
    });
  });

  after(async () => {
    await configure('agents');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(cwd);
  });

  async function snapshotOf(key: string, fits: (snapshot: SessionSnapshot) => boolean): Promise<SessionSnapshot> {
    await until(() => fits(api.snapshot(key)), api.onDidChange);
    return api.snapshot(key);
  }

  const tabs = (): string[] => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));

  function tab(name: string): Promise<void> {
    return until(() => tabs().includes(name), vscode.window.tabGroups.onDidChangeTabs);
  }

  it('are opened, listed, renamed, archived and deleted by a script', async () => {
    const key = await api.openSession({ agent: 'keeper', cwd });
    await api.send(key, 'one');
    const { sessionId } = api.snapshot(key);
    assert.ok(sessionId);
    const list = (): Thenable<SessionInfo[]> => run('sessions', { action: 'list', session: key });
    assert.deepEqual(
      (await list()).map((info) => [info.sessionId, info.cwd]),
      [[sessionId, cwd]],
    );
    assert.equal(await run('sessions', { action: 'rename', session: key, sessionId, title: 'First' }), 'First!');
    assert.equal((await list())[0]?.title, 'First!');

    const fork = await run<string>('forkSession', { session: key });
    await snapshotOf(fork, ({ entries }) => entries.some(({ text }) => text === 'Heard one'));
    const { sessionId: forked } = api.snapshot(fork);
    assert.notEqual(forked, sessionId);
    await run('sessions', { action: 'archive', session: key, sessionId: forked });
    assert.equal((await list()).length, 1);
    await run('sessions', { action: 'delete', session: key, sessionId: forked });
    await run('closeSession', { session: fork });

    await run('closeSession', { session: key });
    assert.throws(() => api.snapshot(key), { code: 'no-such-session' });
    const again = await api.openSession({ agent: 'keeper', cwd, resume: sessionId });
    const { entries, sessionId: same } = api.snapshot(again);
    assert.equal(same, sessionId);
    assert.deepEqual(
      entries.map(({ kind, text }) => [kind, text ?? '']),
      [
        ['user', 'one'],
        ['tool', ''],
        ['agent', 'Heard one'],
      ],
    );
    await assert.rejects(api.openSession({ agent: 'keeper', cwd, resume: 'nobody' }), { code: 'session-not-found' });
  });

  it('open in full if the agent lists them, whose history may contain less', async () => {
    const key = await api.openSession({ agent: 'keeper', cwd });
    await api.send(key, 'two');
    const { sessionId, turns } = api.snapshot(key);
    await run('closeSession', { session: key });
    const lister = await api.openSession({ agent: 'keeper', cwd });
    assert.equal(await run('sessions', { session: lister, action: 'open', sessionId }), key);
    assert.deepEqual(api.snapshot(key).turns, turns);
    for (const session of [lister, key]) await run('closeSession', { session });
  });

  it("continue from before a message in the agent's own fork, and in a fork of that", async () => {
    let key = await api.openSession({ agent: 'demo', cwd });
    const sessionIds = new Set([api.snapshot(key).sessionId]);
    await run('setConfigOption', { session: key, id: 'pace', value: 'instant' });
    await api.send(key, 'one');
    for (const text of ['two', 'three']) {
      const { turnId } = await api.send(key, text);
      key = await run<string>('editAndResend', { session: key, turnId, how: 'fork' });
      const { entries, sessionId } = api.snapshot(key);
      sessionIds.add(sessionId);
      assert.deepEqual(
        entries.flatMap(({ kind, text: said }) => (kind === 'user' ? [said] : [])),
        ['one'],
      );
      assert.match(entries.at(-2)?.text ?? '', /^Continued from an earlier message/);
      assert.match(entries.at(-1)?.text ?? '', /^Forked session\nThe agent knows the messages above/);
    }
    assert.equal(sessionIds.size, 3);
  });

  it('open as Markdown with everything that was said', async () => {
    const key = await api.openSession({ agent: 'demo', cwd });
    await api.send(key, 'two');
    await run('openAsMarkdown', { session: key });
    const { document } = vscode.window.activeTextEditor ?? assert.fail('no editor');
    assert.equal(document.languageId, 'markdown');
    assert.match(document.getText(), /^# [^\n]+\n\n## You\n\ntwo\n\n## Demo\n\n\S/);
    await run('closeSession', { session: key });
  });

  it('are exported as a page and as JSON, which can be imported as a new session', async () => {
    const key = await api.openSession({ agent: 'demo', cwd });
    await api.send(key, 'two');
    const [page, file] = [join(cwd, 'session.html'), join(cwd, 'session.json')];
    assert.equal(await run('export', { session: key, format: 'html', path: page }), page);
    assert.match(readFileSync(page, 'utf8'), /<h2>You<\/h2><div class="user"><p dir="auto">two<\/p>/);
    assert.equal(await run('export', { session: key, format: 'json', path: file }), file);
    const said = (one: string) =>
      api
        .snapshot(one)
        .entries.filter(({ kind }) => kind === 'user' || kind === 'agent')
        .map(({ kind, text }) => [kind, text]);
    const before = said(key);
    await run('closeSession', { session: key });
    const again = await run<string>('import', { path: file });
    assert.notEqual(again, key);
    assert.deepEqual(said(again), before);
    assert.match(JSON.stringify(api.snapshot(again).entries), /Imported from session\.json/);
    await api.send(again, 'three');
    assert.ok(said(again).length > before.length + 1);
    await run('closeSession', { session: again });
    await assert.rejects(async () => run('import', { path: page }), { code: 'not-a-session' });
  });

  it('have their title in their tab', async () => {
    const key = await run<string>('newSession', { agent: 'keeper', cwd });
    await run('renameSession', { title: 'The tab' });
    await tab('The tab!');
    assert.equal(api.snapshot(key).title, 'The tab!');
  });

  it("are shown when chosen in this window's list", async () => {
    const key = await run<string>('newSession', { agent: 'keeper', cwd });
    const chooseFirst = async (): Promise<void> => {
      const choosing = run('sessions');
      let open = true;
      void choosing.then(() => {
        open = false;
      });
      // The list appears with a delay; until then there is nothing to accept.
      while (open) await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    };
    // A chat being shown may take focus, which closes the list, so it is opened again.
    let isOlder = false;
    for (let left = 4; left > 0 && !isOlder; left--) {
      await chooseFirst();
      await run('renameSession', { title: `Chosen ${left}` });
      isOlder = api.snapshot(key).title !== `Chosen ${left}!`;
    }
    assert.ok(isOlder, 'the first of the list is an older one');
  });

  it('are unlocked by signing in in a terminal', async function () {
    // The oldest VS Code does not reliably report the end of a terminal here; sign-in is tested in
    // Node too.
    if (/^1\.10\d\./.test(vscode.version)) this.skip();
    const key = await run<string>('newSession', { agent: 'locked', cwd });
    assert.equal(api.snapshot(key).state, 'authRequired');
    const sent = api.send(key, 'after');
    await run('signIn', { method: 'tty' });
    assert.equal((await sent).stopReason, 'end_turn');
    assert.equal(existsSync(join(cwd, 'signed-in')), true);
    await run('signOut');
    assert.equal(api.snapshot(key).state, 'authRequired');
    assert.equal(existsSync(join(cwd, 'signed-in')), false);
  });

  it("reconnect an MCP server with the agent's command", async () => {
    await configure('mcpServers', { files: { command: process.execPath } });
    const session = await run<string>('newSession', { agent: 'mcp', cwd });
    await until(() => api.snapshot(session).commands.length > 0, api.onDidChange);
    let isOpen = true;
    const shown = Promise.resolve(run('mcp.show', { session })).finally(() => {
      isOpen = false;
    });
    // The first server, then the first action.
    while (isOpen) await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    await shown;
    await until(() => api.snapshot(session).turns[0]?.stopReason !== undefined, api.onDidChange);
    assert.match(JSON.stringify(api.snapshot(session)), /\/mcp reconnect files/);
    await configure('mcpServers');
  });

  describe("with a workspace's MCP servers", () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const file = join(folder?.uri.fsPath ?? '', '.vscode', 'mcp.json');

    after(() => rmSync(file, { force: true }));

    function servers(agree: (detail: string) => boolean | undefined): McpServers {
      const context = { workspaceState: memory() } as vscode.ExtensionContext;
      return new McpServers({
        context,
        environment: async () => ({ PATH: '' }),
        consent: new FolderConsent({ context, log: silentLog, agree: async (_text, detail) => agree(detail) }),
      });
    }

    async function write(url: string): Promise<void> {
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, `{ "servers": { "docs": { "url": "${url}", }, }, } // ours`);
    }

    it('ask the user once per version of the file', async () => {
      const asked: string[] = [];
      const mcp = servers((detail) => {
        asked.push(detail);
        return true;
      });
      await write('https://one.example/');
      const [first, second] = await Promise.all([mcp.gather(cwd), mcp.gather(cwd)]);
      assert.deepEqual(
        first.servers.map((server) => 'url' in server && server.url),
        ['https://one.example/'],
      );
      assert.deepEqual(second, first);
      assert.equal(asked.length, 1);
      assert.match(asked[0] ?? '', /docs: https:\/\/one\.example\//);
      await write('https://two.example/');
      await mcp.gather(cwd);
      assert.equal(asked.length, 2);
      await mcp.reset();
      await mcp.gather(cwd);
      assert.equal(asked.length, 3);
    });

    it('report an unreadable file', async () => {
      await writeFile(file, '{ "servers": ');
      const { problems } = await servers(() => true).gather(cwd);
      assert.match(localize(problems[0] ?? ''), /Couldn't read .*mcp\.json/);
    });
  });
});
