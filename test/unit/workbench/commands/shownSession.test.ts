// Contributed commands apply to the session shown, and change no other one.
import { strict as assert } from 'node:assert';
import { mkdir, readFile } from 'node:fs/promises';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { COMMAND_ALIASES, UNLISTED_COMMANDS } from '../../../../src/workbench/activation/unlistedCommands';
import { scriptedAgent } from '../../../support/agents/definition';
import { useChangeSession } from '../../../support/changes/changeSession';
import { openInFakeEditor, useFakeEditor } from '../../../support/fakeEditor';
import { scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';

const setEditor = useFakeEditor();
const { contributions } = await import('../../../../src/workbench/product');
const { runCommand } = await import('../../../../src/workbench/commands/runCommand');
const { fakeWorkbench } = await import('../../../support/workbench/fakeWorkbench');
const { ReviewIndex } = await import('../../../../src/workbench/changes/reviewIndex');
const { RestoreActions } = await import('../../../../src/workbench/changes/restoreActions');
const { SessionRestore } = await import('../../../../src/workbench/changes/sessionRestore');
const { parseAgents } = await import('../../../../src/agents/agentDefinition');

const { contributes } = JSON.parse(await readFile('package.json', 'utf8')) as {
  contributes: { commands: { command: string }[] };
};
const CONTRIBUTED = contributes.commands.map(({ command }) => command);

function nothing(): never {
  const calls: unknown = new Proxy(() => {}, {
    get: (_target, name) => (name === 'then' ? undefined : name === Symbol.iterator ? [][Symbol.iterator] : calls),
    apply: () => ({ dispose() {} }),
  });
  return calls as never;
}

describe('commands', () => {
  let closing: () => Promise<void>;
  afterEach(() => closing()); // before the folders are removed
  const test = useChangeSession();
  let other: Conversation;
  let shown: Conversation;
  let all: readonly Conversation[];
  let current: readonly Conversation[];
  let inEditors: readonly Conversation[];
  let ids: readonly string[];
  let run: (id: string, ...args: unknown[]) => Promise<unknown>;

  const filesOf = (): Promise<readonly string[]> =>
    Promise.all(['a.txt', 'b.txt'].map((name) => readFile(test.path(name), 'utf8')));
  const stateOf = async (conversation: Conversation): Promise<string> =>
    JSON.stringify([
      await filesOf(),
      snapshotOf(conversation),
      conversation.unsent.draft,
      conversation.unsent.attachments,
    ]);

  beforeEach(async () => {
    setEditor({}, true, [test.session.folder]);
    openInFakeEditor(undefined);
    other = await test.started();
    await test.turn('edit a.txt agent');
    await test.turn('edit b.txt agent');
    void other
      .send('permission {"toolCall":{"toolCallId":"t1","title":"Run it","kind":"execute"}}')
      .done.catch(() => {});
    await test.session.until(({ model }) => model.state.permissions.size > 0);
    void other.send('later').done.catch(() => {});
    const folder = await scratchFolder();
    const [agent] = parseAgents({ tested: scriptedAgent('plain', `${folder}/log`) }).agents;
    assert.ok(agent);
    await mkdir(`${folder}/work`);
    const second = testConversation({ agent, cwd: `${folder}/work`, key: 'B', services: { changes: test.changes } });
    shown = second.conversation;
    closing = () => second.close();
    await shown.start();
    current = inEditors = [shown];

    all = [other, shown];
    const find = (key: string): Conversation | undefined => all.find((one) => one.key === key);
    const conversations = {
      list: () => all,
      find,
      get: (key: string) => find(key) ?? assert.fail(`no session ${key}`),
      peek: () => other,
      active: () => other,
      create: () => shown,
      recall: find,
      folders: [test.session.folder],
      onDidChange: () => ({ dispose() {} }),
      close: async () => {},
    };
    const surface = { conversation: shown, focus() {}, insert() {}, painted: async () => {} };
    const chat = {
      get current() {
        return current;
      },
      get inEditors() {
        return inEditors;
      },
      isVisible: true,
      open: () => surface,
      present: () => surface,
      openTab: () => surface,
      show() {},
      start() {},
      begin() {},
      focusOn() {},
      move() {},
    };
    const store = (name: string): FileStore => new FileStore(`${folder}/${name}`);
    const restore = new RestoreActions(
      new SessionRestore({ files: test.changes.files, store: store('restores'), logs: store('logs') }),
    );
    await other.changes.loadReview();
    const noAnswers = { list: () => [] };
    const workbench = fakeWorkbench(
      {
        Conversations: conversations,
        ChatHome: chat,
        RestoreActions: restore,
        ReviewIndex: new ReviewIndex(conversations as never),
        Away: { toggle() {} },
        FolderConsent: noAnswers,
        AllowedOrigins: noAnswers,
        AgentCatalog: { list: () => [], find: () => undefined, preferred: () => agent },
        Overview: { view: { filter: {}, show() {}, group() {} }, next() {}, showInbox() {}, showRunning() {} },
        SessionWorktrees: { list: async () => [], of: async () => assert.fail('no worktree') },
      },
      nothing(),
    );
    for (const one of contributions({} as never)) one.commands?.(workbench);
    ids = workbench.commandIds.map((id) => `parley.${id}`);
    run = (id, ...args) => runCommand(workbench, id.replace('parley.', ''), args);
  });

  it('are registered by a feature exactly if VS Code knows them', () => {
    const own = ['parley.openDocumentation', 'parley.showLog']; // work without the product
    assert.deepEqual([...ids, ...own].sort(), [...CONTRIBUTED, ...UNLISTED_COMMANDS].sort());
  });

  it('have earlier ids as aliases that are not commands themselves', () => {
    const known = [...CONTRIBUTED, ...UNLISTED_COMMANDS];
    for (const [alias, [command]] of Object.entries(COMMAND_ALIASES)) {
      assert.ok(known.includes(command), command);
      assert.ok(!known.includes(alias), alias);
    }
  });

  it('change no other session while one without content is shown', async () => {
    const before = await stateOf(other);
    for (const args of [[], [{ groupId: 1 }], [{ to: 'chat' }]]) {
      for (const id of ids) {
        await run(id, ...args).catch(() => undefined);
        assert.equal(await stateOf(other), before, `${id} ${JSON.stringify(args)}`);
      }
    }
  });

  it('report that nothing changed if the session shown changed nothing', async () => {
    for (const id of ['undoTurn', 'reviewWith', 'restoreCheckpoint', 'stageTurn'])
      await assert.rejects(run(`parley.${id}`, { ask: false }), {
        code: 'no-changes',
        message: /^Nothing changed in “New session”/,
      });
    for (const id of ['undoAll', 'keepAll', 'reviewChanges'])
      await assert.rejects(run(`parley.${id}`, {}), { code: 'no-changes', message: /pending review in “New session”/ });
  });

  it('report that as information, since nothing failed', async () => {
    const { window } = await import('vscode');
    const { showInformationMessage, showErrorMessage } = window;
    const told: string[] = [];
    const tell = (as: string) => async (text: string) => void told.push(`${as}: ${text}`);
    Object.assign(window, { showInformationMessage: tell('info'), showErrorMessage: tell('error') });
    try {
      await run('parley.undoTurn');
    } finally {
      Object.assign(window, { showInformationMessage, showErrorMessage });
    }
    assert.deepEqual(told, ['info: Parley: Nothing changed in “New session”.']);
  });

  it('apply to the session that they name, by key, group or Source Control row', async () => {
    const row = { resourceUri: { fsPath: test.path('a.txt') }, session: 'test' };
    await run('parley.changes.undoFile', { path: row.resourceUri.fsPath, session: row.session });
    assert.deepEqual(await filesOf(), ['one\ntwo\nthree\n', 'agent']);
    await run('parley.undoAll', { id: 'test' });
    assert.deepEqual(await filesOf(), ['one\ntwo\nthree\n', 'b\n']);
    await run('parley.queue.clear', { session: 'test' });
    assert.deepEqual(other.queue.items, []);
  });

  it('ask about the active file if another session changed it, unless their own did', async () => {
    openInFakeEditor(test.path('a.txt'));
    await run('parley.changes.undoFile');
    assert.equal((await filesOf())[0], 'agent', 'nobody has answered');
    current = [other];
    await run('parley.changes.undoFile');
    assert.equal((await filesOf())[0], 'one\ntwo\nthree\n');
  });

  it("apply to the window's only session if no chat is visible, and ask if there are several", async () => {
    current = [];
    const before = await stateOf(other);
    await run('parley.cancel');
    await assert.rejects(run('parley.cancel', {}), { code: 'several-sessions' });
    assert.equal(await stateOf(other), before);
    all = [other];
    await run('parley.queue.clear');
    assert.deepEqual(other.queue.items, []);
  });

  it("ask for the session if two are visible and the editor title doesn't tell", async () => {
    inEditors = [shown, other];
    const before = await stateOf(other);
    await run('parley.queue.clear', { groupId: 2 });
    assert.equal(await stateOf(other), before);
    inEditors = [other];
    await run('parley.queue.clear', { groupId: 2 });
    assert.deepEqual(other.queue.items, []);
  });
});
