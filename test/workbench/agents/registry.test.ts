// The registry in an extension host: VS Code's proxy, and the user's settings.
import { strict as assert } from 'node:assert';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationTarget, type ExtensionContext, Uri, workspace } from 'vscode';
import { silentLog } from '../../../src/base/log';
import type { InstalledAgent } from '../../../src/registry/install/installedAgents';
import { installSources } from '../../../src/registry/install/installSource';
import type { RegistryAgent } from '../../../src/registry/list/registryAgent';
import { RegistryList } from '../../../src/registry/list/registryList';
import { AgentEntries } from '../../../src/workbench/registry/agentEntries';
import { useFoundAgent } from '../../../src/workbench/registry/agentPicker';
import { AgentRegistry } from '../../../src/workbench/registry/agentRegistry';
import type { FoundAgent } from '../../../src/workbench/registry/foundAgents';
import { dropEntries, groupInstalled, useVersion } from '../../../src/workbench/registry/installedEntries';
import { actionsOf, describePlan, installAgent } from '../../../src/workbench/registry/installFlow';
import { removeFolder } from '../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../support/servers/loopback';

describe('the agent registry', () => {
  let before: unknown;
  let folder: string;

  const set = (section: string, key: string, value: unknown): Thenable<void> =>
    workspace.getConfiguration(section).update(key, value, ConfigurationTarget.Global);
  const entries = (): unknown => workspace.getConfiguration('parley').inspect('agents')?.globalValue;

  beforeEach(async () => {
    before = entries() ?? {};
    folder = await mkdtemp(join(tmpdir(), 'parley-registry-'));
  });

  afterEach(async () => {
    await set('parley', 'agents', before);
    await set('http', 'proxy', undefined);
    await set('parley', 'registry.url', undefined);
    await closeLoopbacks();
    await removeFolder(folder);
  });

  it("is requested through VS Code's proxy", async () => {
    const list = await readFile(join(process.env.PARLEY_REPOSITORY ?? '', 'test/fixtures/registry/registry.json'));
    const asked: (string | undefined)[] = [];
    const { host } = await httpLoopback((request, response) => {
      asked.push(request.url);
      response.end(list);
    });
    await set('http', 'proxy', `http://${host}`);
    const registry = new RegistryList({ file: join(folder, 'registry.json'), log: silentLog });
    const url = 'http://registry.example/registry.json';
    const { agents } = await registry.load(url, new AbortController().signal);
    assert.equal(agents.length, 11);
    assert.deepEqual(asked, [url]);
  });

  it('is not requested if its address is empty', async () => {
    await set('parley', 'registry.url', '');
    const extension = { packageJSON: { version: '1.0.0' } } as ExtensionContext['extension'];
    const context = { globalStorageUri: Uri.file(folder), extension };
    const registry = new AgentRegistry({ context, log: silentLog, environment: async () => ({}) });
    assert.deepEqual((await registry.load(new AbortController().signal)).agents, []);
  });

  const version = (number: string, installedAt: number): InstalledAgent => ({
    id: 'tiny',
    name: 'Tiny',
    version: number,
    program: 'bin/tiny',
    args: ['--acp', number],
    env: {},
    installedAt,
    size: 10,
    folder: join(folder, number),
    command: join(folder, number, 'bin/tiny'),
  });

  it("updates an agent's entry to another version, preserving the user's changes", async () => {
    const [one, two] = [version('1.0.0', 1), version('2.0.0', 2)];
    const own = new AgentEntries({ globalStorageUri: Uri.file(folder) });
    await set('parley', 'agents', { tiny: { command: 'mine' } });
    assert.equal(await useVersion(one, [one], own), 'tiny-2', "the user's own agent of that id stays");
    assert.deepEqual(entries(), {
      tiny: { command: 'mine' },
      'tiny-2': { name: 'Tiny', command: one.command, args: one.args },
    });
    assert.equal(await useVersion(two, [two, one], own), 'tiny-2');
    const [group] = groupInstalled([two, one], own);
    assert.deepEqual(
      [group?.current.version, group?.previous?.version, group?.entry, group?.size],
      ['2.0.0', '1.0.0', 'tiny-2', 20],
    );
    await set('parley', 'agents', {
      mine: { name: 'My own', command: two.command, args: ['--mine'], env: { A: '1' } },
    });
    assert.equal(await useVersion(one, [two, one], own), 'mine');
    assert.deepEqual(entries(), { mine: { name: 'My own', command: one.command, args: ['--mine'], env: { A: '1' } } });
    const [back] = groupInstalled([two, one], own);
    assert.deepEqual([back?.current.version, back?.previous], ['1.0.0', undefined]);
    await dropEntries([two, one], own);
    assert.deepEqual(entries() ?? {}, {});
  });

  const CODEX: FoundAgent = {
    id: 'codex',
    name: 'Codex',
    program: 'codex',
    args: [],
    answersVersion: true,
    adapters: ['codex-acp'],
    path: '/usr/bin/codex',
    command: 'codex',
  };

  it('offers the adapter of a program without ACP, which is installed if the user agrees', async () => {
    const list = await readFile(join(process.env.PARLEY_REPOSITORY ?? '', 'test/fixtures/registry/registry.json'));
    let listed: Buffer | string = list;
    const { host } = await httpLoopback((_request, response) => response.end(listed));
    await set('parley', 'registry.url', `http://${host}/registry.json`);
    const extension = { packageJSON: { version: '1.0.0' } } as ExtensionContext['extension'];
    const context = { globalStorageUri: Uri.file(folder), extension };
    const registry = new AgentRegistry({
      context,
      log: silentLog,
      environment: async () => ({ ...process.env }) as Record<string, string>,
    });
    // Package sizes would be requested from the real npm registry.
    const plan = async (agent: RegistryAgent) => ({ agent, source: installSources(agent)[0], tool: undefined });
    Object.assign(registry.installer, { plan });
    const asked: string[] = [];
    const refuse = async (question: string): Promise<boolean> => {
      asked.push(question);
      return false;
    };
    await useFoundAgent(CODEX, registry, refuse);
    assert.equal(asked.length, 1);
    assert.match(asked[0] ?? '', /^Install Codex.* \d/);
    assert.deepEqual(entries() ?? {}, {}, 'nothing is added where the user refuses');
    listed = JSON.stringify({ version: '1.0.0', agents: [] });
    await assert.rejects(
      useFoundAgent({ ...CODEX, adapters: ['no-such'] }, registry, refuse),
      /doesn't list an adapter for Codex/,
    );
  });

  it('updates previews only to previews, and offers the other channel separately', () => {
    const stable = { id: 'tiny', name: 'Tiny', version: '2.0.0' } as RegistryAgent;
    const preview = { ...stable, version: '3.0.0-preview.2', isPreview: true } as const;
    const offered = (current: Partial<InstalledAgent>, listed: RegistryAgent): readonly string[] => {
      const group = {
        id: 'tiny',
        current: { ...version('1.0.0', 1), ...current },
        entry: 'tiny',
        previous: undefined,
        size: 1,
      };
      return actionsOf(group, [listed], {} as AgentRegistry).map(({ tooltip }) => tooltip);
    };
    const both = { ...stable, preview };
    assert.deepEqual(offered({}, stable), ['Update to 2.0.0', 'Remove']);
    assert.deepEqual(offered({}, both), ['Update to 2.0.0', 'Switch to preview 3.0.0-preview.2', 'Remove']);
    const old = { version: '1.9.0-preview.1', isPreview: true } as const;
    assert.deepEqual(offered(old, both), [
      'Update to 3.0.0-preview.2 (preview)',
      'Switch to stable version 2.0.0',
      'Remove',
    ]);
    assert.deepEqual(offered(old, stable), ['Switch to stable version 2.0.0', 'Remove']);
    assert.deepEqual(offered({ ...old, version: '2.0.0' }, stable), ['Remove']);
  });

  it('asks before switching to the preview channel, and explains it', async () => {
    const asked: string[] = [];
    const agent = { id: 'tiny', name: 'Tiny', version: '3.0.0-preview.2', isPreview: true, binary: new Map() } as const;
    const source = { kind: 'npx', name: 'tiny', version: '3.0.0-preview.2', args: [], env: {} } as const;
    const installer = {
      installed: { versions: async () => [version('1.0.0', 1)] },
      plan: async () => ({ agent, source, license: 'MIT', tool: undefined }),
    };
    await installAgent(agent as never, { installer } as never, async (...words) => asked.push(...words) === 0);
    assert.equal(asked[0], 'Switch Tiny to version 3.0.0-preview.2 (preview)?');
    assert.match(asked[1] ?? '', /^A preview may be less stable\. Its updates are previews until you switch\.$/m);
  });

  it("starts no line of the question with registry text, and asks nothing that it can't show in full", async () => {
    const evil = 'MIT\nLicense: trusted\u2028\u202eSource: https://good.example';
    const agent = {
      id: 'evil',
      name: 'Evil',
      version: '1.0.0',
      binary: new Map(),
      repository: `https://a.example/${evil}`,
    };
    const source = { kind: 'npx', name: 'evil', version: '1.0.0', args: ['--acp'], env: {} } as const;
    const plan = (more: object) => ({ agent, source: { ...source, ...more }, license: evil, tool: undefined }) as never;
    const lines = describePlan(plan({})).split(/[\n\u2028\u2029]/);
    assert.equal(lines.filter((line) => line.startsWith('License: ')).length, 1);
    assert.equal(lines.filter((line) => line.startsWith('Source: ')).length, 1);
    const registry = {
      installer: { installed: { versions: async () => [] }, plan: async () => plan({ args: ['x'.repeat(9000)] }) },
    };
    const never = async (): Promise<boolean> => assert.fail('it is asked');
    await assert.rejects(installAgent(agent as never, registry as never, never), /more arguments or variables/);
  });
});
