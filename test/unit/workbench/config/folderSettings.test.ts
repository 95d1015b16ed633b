// Which scopes count for settings that can start programs or allow requests.
import { strict as assert } from 'node:assert';
import { useFakeEditor } from '../../../support/fakeEditor';

describe('user and folder settings', () => {
  const set = useFakeEditor();
  const folderSettings = () => import('../../../../src/workbench/config/folderSettings');
  const settings = () => import('../../../../src/workbench/config/settings');
  const permissions = () => import('../../../../src/workbench/config/permissionSettings');
  const systemPrompt = () => import('../../../../src/workbench/config/systemPrompt');
  const agents = { mine: { command: 'mine' } };
  const theirs = { mine: { command: 'theirs' } };

  it("use the user's value as a whole, whatever a workspace sets", async () => {
    set({ user: { agents }, workspace: { agents: theirs } }, true, ['/a']);
    assert.deepEqual((await folderSettings()).userValue('agents'), agents);
    set({ workspace: { agents: theirs } }, true, ['/a']);
    assert.equal((await folderSettings()).userValue('agents'), undefined);
  });

  it('ignore the values of untrusted workspaces and folders', async () => {
    set({ workspace: { agents: theirs }, folders: { '/b': { agents: theirs } } }, false, ['/a', '/b']);
    assert.deepEqual((await folderSettings()).folderValues('agents'), []);
  });

  it('return the values of a trusted workspace and each of its folders, with their files', async () => {
    set({ workspace: { agents: theirs }, folders: { '/b': { agents } } }, true, ['/a', '/b']);
    assert.deepEqual((await folderSettings()).folderValues('agents'), [
      { file: '/all.code-workspace', place: 'workspace', folder: '/a', value: theirs },
      { file: '/b/.vscode/settings.json', place: 'b', folder: '/b', value: agents },
    ]);
  });

  it("treat the settings of a single folder as the workspace's", async () => {
    set({ workspace: { agents: theirs }, folders: { '/a': { agents: theirs } } }, true, ['/a']);
    assert.deepEqual((await folderSettings()).folderValues('agents'), [
      { file: '/a/.vscode/settings.json', place: 'workspace', folder: '/a', value: theirs },
    ]);
  });

  it('let a folder disable its mcp.json, but not enable what the user has disabled', async () => {
    const key = 'mcp.useWorkspace';
    const { usesWorkspaceMcp } = await settings();
    for (const [user, workspace, expected] of [
      [undefined, undefined, true],
      [true, false, false],
      [false, true, false],
    ] as const) {
      set({ user: { [key]: user }, workspace: { [key]: workspace } }, true, ['/a']);
      assert.equal(usesWorkspaceMcp(), expected, `user ${user}, workspace ${workspace}`);
    }
  });

  describe('instructions for agents', () => {
    const read = async (agent = 'mine', cwd = '/a') => (await systemPrompt()).systemPrompt(agent, cwd);

    it("are those for the agent, or else for all, with the user's before the workspace's", async () => {
      const user = { '*': 'for all', mine: 'for mine' };
      const file = '/a/.vscode/settings.json';
      set({ user: { systemPrompt: user }, workspace: { systemPrompt: { '*': 'of the folder' } } }, true, ['/a']);
      assert.deepEqual(JSON.parse(JSON.stringify(await read())), [
        { text: 'for mine' },
        { text: 'of the folder', file },
      ]);
      assert.deepEqual(
        (await read('other')).map(({ text }) => text),
        ['for all', 'of the folder'],
      );
    });

    it("come from the session's folder, and never from an untrusted workspace", async () => {
      const folders = { '/a': { systemPrompt: { mine: 'a' } }, '/b': { systemPrompt: { mine: 'b' } } };
      set({ folders }, true, ['/a', '/b']);
      assert.deepEqual(
        (await read('mine', '/b/inner')).map(({ text }) => text),
        ['b'],
      );
      set({ folders }, false, ['/a', '/b']);
      assert.deepEqual(await read('mine', '/b/inner'), []);
    });

    it('are texts of limited length', async () => {
      set({ user: { systemPrompt: { mine: 'x'.repeat(30_000), '*': 'y' } } }, true, ['/a']);
      const [only] = await read();
      assert.deepEqual([only?.text.length, only?.isCut], [20_000, true]);
      for (const value of [{ mine: 1 }, { mine: '  ' }, [], 'text', null]) {
        set({ user: { systemPrompt: value } }, true, ['/a']);
        assert.deepEqual(await read(), [], JSON.stringify(value));
      }
    });
  });

  it('skip permission rules of an untrusted workspace, and report it as untrusted', async () => {
    const rule = { kind: 'edit', action: 'reject' };
    const { permissionRules } = await permissions();
    set({ user: { permissions: [rule] }, workspace: { permissions: [rule] } }, true, ['/a']);
    assert.deepEqual(permissionRules(), { user: [rule], workspace: [[rule]], isTrusted: true });
    set({ user: { permissions: [rule] }, workspace: { permissions: [rule] } }, false, ['/a']);
    assert.deepEqual(permissionRules(), { user: [rule], workspace: [], isTrusted: false });
  });
});
