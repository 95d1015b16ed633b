// The agents editor in VS Code with real settings; the test answers its lists and boxes.
import { strict as assert } from 'node:assert';
import { chmod, mkdir, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  ConfigurationTarget,
  commands,
  EventEmitter,
  type ExtensionContext,
  type QuickPickItem,
  type TextDocument,
  Uri,
  window,
  workspace,
} from 'vscode';
import { silentLog } from '../../../src/base/log';
import { Stages } from '../../../src/client/transport/stages';
import { importPage, manageAgents } from '../../../src/workbench/agents/agentsEditor';
import type { EditorServices } from '../../../src/workbench/agents/pages';
import { AgentCatalog } from '../../../src/workbench/config/agentCatalog';
import { FolderConsent } from '../../../src/workbench/config/folderConsent';
import { RemoteHeaders } from '../../../src/workbench/config/remoteHeaders';
import { SavedKeys } from '../../../src/workbench/config/savedKeys';
import { signInTerminal } from '../../../src/workbench/editor/signInTerminal';
import { AgentEntries } from '../../../src/workbench/registry/agentEntries';
import { AgentRegistry } from '../../../src/workbench/registry/agentRegistry';
import { tinyAgent } from '../../support/agents/tinyAgent';
import { memory } from '../../support/memory';
import { removeFolder } from '../../support/scratch';
import { once, until } from '../editing';
import { configure } from '../extension';

type Step =
  | { readonly row: string }
  | { readonly type: string | undefined }
  | { readonly press: string }
  | { readonly rows: readonly string[] };

describe('the agents editor', () => {
  let folder: string;
  let before: unknown;
  let steps: Step[];
  let shown: string[];
  let secrets: Map<string, string>;
  let restarted: string[];
  let services: EditorServices;
  const { createQuickPick, showQuickPick, showInputBox, showWarningMessage, showInformationMessage, showErrorMessage } =
    window;

  const next = <K extends string>(kind: K): Extract<Step, Record<K, unknown>> => {
    const step = steps.shift();
    assert.ok(step && kind in step, `${JSON.stringify(step)} is expected, and a ${kind} is shown: ${shown.at(-1)}`);
    return step as Extract<Step, Record<K, unknown>>;
  };
  const textOf = ({ label, description = '', detail = '' }: QuickPickItem): string =>
    `${label} | ${description} | ${detail}`.replace(/\$\([\w-]+\) /g, '');
  const rowOf = <T extends QuickPickItem>(items: readonly T[], row: string): T | undefined =>
    items.find(({ label }) => label.replace(/^\$\([\w-]+\) /, '').startsWith(row));

  function fakeList(): unknown {
    const accepted = new EventEmitter<void>();
    const hidden = new EventEmitter<void>();
    const other = new EventEmitter<never>();
    const list = {
      items: [] as QuickPickItem[],
      activeItems: [],
      selectedItems: [] as QuickPickItem[],
      buttons: [],
      onDidAccept: accepted.event,
      onDidHide: hidden.event,
      onDidChangeActive: other.event,
      onDidChangeValue: other.event,
      onDidTriggerItemButton: other.event,
      onDidTriggerButton: other.event,
      show() {
        shown.push(list.items.map(textOf).join('\n'));
        setImmediate(() => {
          if (steps.length === 0) return hidden.fire();
          const { row } = next('row');
          const item = rowOf(list.items, row);
          assert.ok(item, `there is no ${row} in ${shown.at(-1)}`);
          list.selectedItems = [item];
          accepted.fire();
        });
      },
      hide: () => hidden.fire(),
      dispose() {},
    };
    return list;
  }

  beforeEach(async () => {
    before = workspace.getConfiguration('parley').inspect('agents')?.globalValue;
    await set({});
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-manage-')));
    [steps, shown, restarted, secrets] = [[], [], [], new Map()];
    Object.assign(window, {
      createQuickPick: fakeList,
      showQuickPick: async (items: QuickPickItem[], { canPickMany }: { canPickMany?: boolean }) => {
        shown.push(items.map(textOf).join('\n'));
        return canPickMany ? next('rows').rows.map((row) => rowOf(items, row)) : rowOf(items, next('row').row);
      },
      showInputBox: async ({
        prompt,
        value = '',
        validateInput,
      }: {
        prompt: string;
        value?: string;
        validateInput?: (text: string) => unknown;
      }) => {
        shown.push(`${prompt} [${value}]`);
        const { type } = next('type');
        assert.equal(type === undefined ? undefined : validateInput?.(type), undefined);
        return type;
      },
      showWarningMessage: async (text: string, _options: unknown, ...items: { title: string }[]) => {
        shown.push(text);
        const { press } = next('press');
        return items.find(({ title }) => title === press);
      },
      showInformationMessage: async (text: string) => void shown.push(text),
      showErrorMessage: async (text: string) => void shown.push(text),
    });
    const context = contextOf();
    const consent = new FolderConsent({ context, log: silentLog });
    const catalog = new AgentCatalog(context, consent, silentLog);
    const keys = new SavedKeys({ context, originOf: (id) => catalog.originOf(id), log: silentLog });
    const remote = new RemoteHeaders(context);
    const environment = async (): Promise<Record<string, string>> => ({ ...process.env }) as Record<string, string>;
    const registry = new AgentRegistry({ context, log: silentLog, environment });
    const client = { name: 'parley', title: 'Parley', version: '0' };
    services = {
      catalog,
      keys,
      remote,
      registry,
      bare: async (agent) => ({
        agent,
        cwd: folder,
        services: { client, environment, keys, remote, log: silentLog },
        stages: new Stages(Date.now, () => 20_000),
      }),
      reports: { show: async (name, report) => void shown.push(`${name}\n${report}`) },
      accountOf: () => undefined,
      signInChanged: (agent) => restarted.push(agent),
    };
  });

  afterEach(async () => {
    Object.assign(window, { createQuickPick, showQuickPick, showInputBox });
    Object.assign(window, { showWarningMessage, showInformationMessage, showErrorMessage });
    await set(before);
    await removeFolder(folder);
  });

  const set = (value: unknown): Thenable<void> => configure('agents', value);
  const entries = (): Record<string, unknown> =>
    workspace.getConfiguration('parley').inspect<Record<string, unknown>>('agents')?.globalValue ?? {};
  const run = async (...todo: readonly Step[]): Promise<void> => {
    steps = [...todo];
    await manageAgents(services);
    assert.deepEqual(steps, []);
  };
  const shows = (text: string | RegExp): void => {
    const all = shown.join('\n');
    assert.ok(typeof text === 'string' ? all.includes(text) : text.test(all), `${text} is not in\n${all}`);
  };

  function contextOf(): ExtensionContext {
    return {
      workspaceState: memory(),
      globalState: memory(),
      extensionUri: Uri.file('/ext'),
      globalStorageUri: Uri.file(join(folder, 'storage')),
      extension: { packageJSON: { version: '0' } },
      secrets: {
        keys: async () => [...secrets.keys()],
        get: async (key: string) => secrets.get(key),
        store: async (key: string, value: string) => void secrets.set(key, value),
        delete: async (key: string) => void secrets.delete(key),
      },
    } as unknown as ExtensionContext;
  }

  async function program(name: string, answer: object = {}): Promise<string> {
    const path = join(folder, name);
    const text = tinyAgent('Hello.').replace(
      'authMethods: [] }',
      `authMethods: [], ...${JSON.stringify(answer)}, agentInfo: { name: ${JSON.stringify(name)}, version: '4.5.6' } }`,
    );
    await writeFile(path, text.replace('#!/usr/bin/env node', `#!${process.execPath}`));
    await chmod(path, 0o755);
    return path;
  }

  it('adds a program by its command, tests it, changes and removes it', async () => {
    const path = await program('my agent');
    await run({ row: 'Add a program…' }, { type: `"${path}" --acp 'two words'` }, { type: 'Mine' }, { row: 'Test' });
    assert.deepEqual(entries(), { mine: { name: 'Mine', command: path, args: ['--acp', 'two words'] } });
    shows(/Agent \| my agent 4\.5\.6/);
    shows(/Protocol \| version 1/);
    shows(/session\/status \| not announced/);
    shows('Start a session');
    await set({ mine: { ...(entries().mine as object), own: { of: 'another editor' } } });
    await run(
      { row: 'Mine' },
      { row: 'Command and arguments' },
      { type: `"${path}"` },
      { row: 'Environment variables' },
      { row: 'Add a variable…' },
      { type: 'LEVEL' },
      { type: '1' },
    );
    const own = { of: 'another editor' };
    assert.deepEqual(entries(), { mine: { name: 'Mine', command: path, own, env: { LEVEL: '1' } } });
    await run({ row: 'Mine' }, { row: 'Environment variables' }, { row: 'LEVEL' }, { type: '' });
    assert.deepEqual(entries(), { mine: { name: 'Mine', command: path, own } });
    await run({ row: 'Mine' }, { row: 'Remove…' }, { press: 'Remove' });
    assert.deepEqual(entries(), {});
  });

  it('makes an agent the default for new sessions', async () => {
    await set({ one: { name: 'One', command: 'one' }, two: { name: 'Two', command: 'two' } });
    const parley = workspace.getConfiguration('parley');
    try {
      await run({ row: 'Two' }, { row: 'Use for new sessions' });
      assert.equal(services.catalog.preferred().id, 'two');
    } finally {
      await parley.update('defaultAgent', undefined, ConfigurationTarget.Global);
    }
  });

  it("opens settings.json at an agent's entry", async () => {
    await set({ one: { name: 'One', command: 'one' }, two: { name: 'Two', command: 'two' } });
    await run({ row: 'Two' }, { row: 'Edit in settings.json' });
    const isThere = (): boolean => {
      const { document, selection } = window.activeTextEditor ?? {};
      return document !== undefined && /^\s*"two": \{/.test(document.lineAt(selection?.active.line ?? 0).text);
    };
    await until(isThere, window.onDidChangeActiveTextEditor, window.onDidChangeTextEditorSelection);
    assert.equal(window.activeTextEditor?.document.isDirty, false);
    await commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it("checks an agent's conformance after asking, and shows the report", async () => {
    await set({ mine: { name: 'Mine', command: await program('my agent'), protocol: 1 } });
    await run({ row: 'Mine' }, { row: 'Check Conformance…' }, { press: 'Check' }, { row: 'View report' });
    shows('Check the conformance of Mine?');
    shows(/Rules kept|initialize \| conforms/);
    // It ignores cancellation, and reuses a session id.
    shows(/new \| breaks rules \| new\.unique: two sessions have one id/);
    shows('session/ready | not offered');
    shows(/Conformance Report\n# Conformance report[\s\S]*new\.unique: breaks/);
  });

  it('starts nothing if the conformance check is declined', async () => {
    await set({ mine: { name: 'Mine', command: 'no-such-program', protocol: 1 } });
    await run({ row: 'Mine' }, { row: 'Check Conformance…' }, { press: 'Cancel' });
    assert.ok(!shown.some((text) => text.includes('View report')));
  });

  it('stores the secrets of variables and remote agents in the secret storage', async () => {
    await set({ one: { name: 'One', command: 'one', env: { OLD_TOKEN: 'in plain text' } } });
    await run(
      { row: 'One' },
      { row: 'Environment variables' },
      { row: 'Add a variable…' },
      { type: 'ONE_API_KEY' },
      { type: 'sk-one' },
      { row: 'OLD_TOKEN' },
      { type: 'in plain text' },
    );
    assert.deepEqual(entries(), { one: { name: 'One', command: 'one' } });
    const agent = services.catalog.find('one') ?? assert.fail();
    assert.deepEqual(await services.keys.variables(agent), { ONE_API_KEY: 'sk-one', OLD_TOKEN: 'in plain text' });
    await run(
      { row: 'Add a remote agent…' },
      { type: 'wss://agents.example/acp' },
      { type: 'secret-token' },
      { type: 'Far' },
    );
    assert.deepEqual(entries().far, {
      name: 'Far',
      url: 'wss://agents.example/acp',
      headers: { Authorization: `Bearer \${secret:token}` },
    });
    assert.ok(secrets.has('parley.remote:wss://agents.example token'));
    assert.ok(!shown.join('\n').match(/sk-one|secret-token/), 'no secret is shown');
  });

  it('signs in with a key, shows that, and deletes the key when the user signs out', async () => {
    const vars = { authMethods: [{ id: 'k', name: 'API key', type: 'env_var', vars: [{ name: 'TINY_KEY' }] }] };
    await set({ tiny: { name: 'Tiny', command: await program('tiny', vars) } });
    await run({ row: 'Tiny' }, { row: 'Sign in…' }, { row: 'API key' }, { type: 'sk-tiny' });
    assert.deepEqual(restarted, ['tiny']);
    shows(/Signed in with “API key” \| since /);
    shows('TINY_KEY | saved in the secret storage');
    await run({ row: 'Tiny' }, { row: 'Sign out and delete saved keys' }, { press: 'Sign Out' });
    assert.equal(secrets.size, 0);
    assert.deepEqual(restarted, ['tiny', 'tiny']);
    shown = [];
    await run({ row: 'Tiny' });
    assert.ok(!shown.join('\n').includes('TINY_KEY'));
  });

  it('lists keys left behind by a removed entry, and deletes them', async () => {
    await set({ one: { name: 'One', command: 'one' }, two: { name: 'Two', command: 'two' } });
    for (const [id, name] of [
      ['one', 'ONE_KEY'],
      ['two', 'TWO_KEY'],
    ] as const) {
      const agent = services.catalog.find(id) ?? assert.fail();
      await services.keys.save(agent, { kind: 'variable', name }, `sk-${id}`);
    }
    await run();
    assert.ok(!shown.join('\n').includes('TWO_KEY'));
    // An entry that can't be used now keeps its keys.
    await set({ one: { name: 'One', command: 'one', url: 'https://a.example' } });
    shown = [];
    await run({ row: 'two' }, { press: 'Delete' });
    shows(/^two \| TWO_KEY \| /m);
    assert.ok(!/^one \| ONE_KEY/m.test(shown.join('\n')));
    assert.deepEqual([...secrets.values()], ['sk-one']);
  });

  it('marks workspace agents, and copies one after showing what it runs', async () => {
    const own = { evil: { command: 'evil', args: ['--x'] } };
    await workspace.getConfiguration('parley').update('agents', own, ConfigurationTarget.Workspace);
    try {
      await run({ row: 'evil (from this folder)' }, { row: 'Copy to your settings' }, { press: 'Copy' });
      assert.deepEqual(entries(), { evil: { name: 'evil', command: 'evil', args: ['--x'] } });
      shows(/From this workspace: /);
      assert.ok(!/^Arguments/m.test(shown[1] ?? ''), 'what it runs is changed in the file only');
    } finally {
      await workspace.getConfiguration('parley').update('agents', undefined, ConfigurationTarget.Workspace);
    }
  });

  it('runs a program chosen by an agent in a terminal only if the user agrees', async () => {
    const { signal } = new AbortController();
    const command = { title: 'Log in', command: '/bin/true', args: ['-x'], env: {}, cwd: folder };
    const before = window.terminals.length;
    steps = [{ press: 'Cancel' }];
    const unfamiliar = 'Log in: /bin/true -x\n    variable LD_PRELOAD = evil.so';
    assert.equal(await signInTerminal({ ...command, unfamiliar }, signal), undefined);
    shows('Run this program in a terminal to sign in?');
    assert.equal(await signInTerminal({ ...command, unfamiliar: 'x'.repeat(10_000) }, signal), undefined);
    assert.equal(window.terminals.length, before);
  });

  it('shows unusable entries with the reason', async () => {
    await set({ odd: { command: 'a', url: 'https://b' } });
    await run();
    shows(/odd \| {2}\| .*both a command and a url/);
  });

  it('does not overwrite a malformed setting', async () => {
    for (const value of [['claude --acp'], 'claude --acp']) {
      await set(value);
      await assert.rejects(services.registry.entries.set('mine', { command: 'mine' }), /must be an object/);
      assert.deepEqual(entries(), value);
    }
  });

  async function openSettingsFile(): Promise<string> {
    const isSettings = ({ uri }: TextDocument): boolean => uri.path.endsWith('/Machine/settings.json');
    const known = workspace.textDocuments.find(isSettings);
    const opened = once(workspace.onDidOpenTextDocument, isSettings);
    await commands.executeCommand('workbench.action.openRemoteSettingsFile');
    return (known ?? (await opened)).uri.fsPath;
  }

  it('preserves what another window has written, whether or not this one has noticed', async () => {
    await set({ one: { command: 'one' } });
    const file = await openSettingsFile();
    await commands.executeCommand('workbench.action.closeActiveEditor');
    const storage = join(dirname(dirname(file)), 'User', 'globalStorage', 'two-windows');
    const own = new AgentEntries({ globalStorageUri: Uri.file(storage) });
    try {
      const before = await readFile(file, 'utf8');
      await writeFile(file, before.replace('"one": {', '"other": { "command": "other" },\n"one": {'));
      await own.set('mine', { command: 'mine' });
      const all = { other: { command: 'other' }, one: { command: 'one' }, mine: { command: 'mine' } };
      assert.deepEqual(entries(), all);
      const others = new AgentEntries({ globalStorageUri: Uri.file(storage) });
      await Promise.all([
        own.set('one', undefined),
        others.set('two', { command: 'two' }),
        own.set('three', { url: 'x' }),
      ]);
      const { one: _one, ...left } = all;
      assert.deepEqual(entries(), { ...left, two: { command: 'two' }, three: { url: 'x' } });
    } finally {
      await removeFolder(storage);
    }
  });

  it('preserves comments that another program just added to the open file', async () => {
    await set({ one: { command: 'one' } });
    const file = await openSettingsFile();
    const storage = join(dirname(dirname(file)), 'User', 'globalStorage', 'commented');
    const before = await readFile(file, 'utf8');
    try {
      await writeFile(file, before.replace('"one": {', '// mine\n"other": { "command": "other" },\n"one": {'));
      await new AgentEntries({ globalStorageUri: Uri.file(storage) }).set('two', { command: 'two' });
      assert.match(await readFile(file, 'utf8'), /\/\/ mine\n/);
      assert.deepEqual(entries(), { other: { command: 'other' }, one: { command: 'one' }, two: { command: 'two' } });
    } finally {
      await commands.executeCommand('workbench.action.closeActiveEditor');
      await removeFolder(storage);
    }
  });

  it('leaves a settings file with a syntax error unchanged, and reports it', async () => {
    await set({ one: { command: 'one' } });
    const file = await openSettingsFile();
    const before = await readFile(file, 'utf8');
    const broken = before.replace('"one": {', '"one": { "name": "half');
    try {
      const changed = once(workspace.onDidChangeConfiguration);
      await writeFile(file, broken);
      await changed;
      await assert.rejects(services.registry.entries.set('mine', { command: 'mine' }), /Unable to write|errors/);
      assert.equal(await readFile(file, 'utf8'), broken);
    } finally {
      await writeFile(file, before);
      await commands.executeCommand('workbench.action.closeActiveEditor');
    }
  });

  it('imports the selected agents, storing their keys in the secret storage', async () => {
    await mkdir(join(folder, '.config/zed'), { recursive: true });
    await mkdir(join(folder, '.jetbrains'));
    await writeFile(
      join(folder, '.config/zed/settings.json'),
      '{ /* mine */ "agent_servers": { "Buddy": { "command": "buddy", "env": { "BUDDY_API_KEY": "sk-buddy" } }, "claude": {} } }',
    );
    await writeFile(
      join(folder, '.jetbrains/acp.json'),
      JSON.stringify({ agent_servers: { Roko: { command: 'roko', args: ['acp'] } } }),
    );
    await set({ buddy: { command: 'other' } });
    steps = [{ rows: ['Buddy'] }];
    const back = async (): Promise<undefined> => undefined;
    assert.equal(await importPage(services, back, { home: folder, env: {}, platform: 'linux' })(), back);
    assert.deepEqual(entries(), { buddy: { command: 'other' }, 'buddy-2': { name: 'Buddy', command: 'buddy' } });
    const agent = services.catalog.find('buddy-2') ?? assert.fail();
    assert.deepEqual(await services.keys.variables(agent), { BUDDY_API_KEY: 'sk-buddy' });
    shows('Roko | JetBrains | roko acp');
    shows('Buddy | Zed | buddy · BUDDY_API_KEY goes to the secret storage');
    shows(/Added 1 agent\. Saved 1 key in the secret storage\. claude: no command is set/);
    assert.ok(!shown.join('\n').includes('sk-buddy'));
  });

  it('reports files that could not be fully imported, where and why', async () => {
    await mkdir(join(folder, '.config/zed'), { recursive: true });
    await mkdir(join(folder, '.jetbrains'));
    const [zed, jetbrains] = [join(folder, '.config/zed/settings.json'), join(folder, '.jetbrains/acp.json')];
    await writeFile(zed, '{\n "agent_servers": {\n  "Buddy": { "command": "buddy" },\n  oops\n}');
    await writeFile(jetbrains, `{"agent_servers": {"Roko": {"command": "${'r'.repeat(1024 * 1024)}"}}}`);
    await set({});
    steps = [{ rows: ['Buddy'] }];
    const back = async (): Promise<undefined> => undefined;
    await importPage(services, back, { home: folder, env: {}, platform: 'linux' })();
    assert.deepEqual(entries(), { buddy: { name: 'Buddy', command: 'buddy' } });
    shows(`${zed} has an error in line 4: agents behind it may be missing.`);
    shows(`${jetbrains} was not read: it is larger than 1 MB.`);
    await importPage(services, back, { home: folder, env: {}, platform: 'linux' })();
    shows(new RegExp(`No other agents were found.* ${zed.replaceAll('.', '\\.')} has an error in line 4`));
  });
});
