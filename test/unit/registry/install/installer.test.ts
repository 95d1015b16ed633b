// Installing agents of the registry: complete or not at all.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { runProgram } from '../../../../src/agents/runProgram';
import { silentLog } from '../../../../src/base/log';
import { InstalledAgents } from '../../../../src/registry/install/installedAgents';
import { Installer, type InstallPlan, meetsRange, type ProgramStart } from '../../../../src/registry/install/installer';
import { installSources, machineName } from '../../../../src/registry/install/installSource';
import { parseRegistry, type RegistryAgent } from '../../../../src/registry/list/registryAgent';
import { tgzOf, zipOf } from '../../../support/archives';
import { holdLock } from '../../../support/holdLock';
import { removeScratch, scratchFile, scratchFolder } from '../../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';
import { NpmRegistry } from '../../../support/servers/npmRegistry';

const { signal } = new AbortController();
const PROGRAM = '#!/usr/bin/env node\nconsole.log("runs");\n';

function agentOf(distribution: Record<string, unknown>, version = '1.0.0'): RegistryAgent {
  const entry = { id: 'tiny', name: 'Tiny', version, description: 'An agent', license: 'MIT', distribution };
  const { agents, problems } = parseRegistry(JSON.stringify({ agents: [entry] }));
  assert.deepEqual(problems, []);
  return agents[0] ?? assert.fail('no agent');
}

describe('installSources', () => {
  it('prefers sources that need no other program, and pins package versions', () => {
    const binary = { archive: 'https://a.example/a.zip', cmd: './a' };
    const agent = agentOf({
      npx: { package: '@scope/tiny' },
      uvx: { package: 'tiny[acp]==2.0' },
      binary: { 'linux-x86_64': binary },
    });
    assert.deepEqual(
      installSources(agent, 'linux-x86_64').map((source) => [source.kind, 'version' in source && source.version]),
      [
        ['binary', false],
        ['npx', '1.0.0'],
        ['uvx', '2.0'],
      ],
    );
    const [, npm] = installSources(agent, 'linux-x86_64');
    assert.equal(npm?.kind === 'npx' && npm.name, '@scope/tiny');
  });

  it('rejects URLs, files, options and ranges as package names', () => {
    const evil = ['git+https://e.example/x', 'file:../x', '../x', '--registry=http://e', 'tiny@latest', 'tiny@^1.0.0'];
    evil.push('--global', '-g@1.0.0', '--x@1.0.0', '@-x/tiny', '@scope/-g');
    for (const spec of [...evil, 'https://e.example/x.tgz', 'Tiny@1.0.0 --force', 'a/b/c@1.0.0'])
      assert.throws(() => installSources(agentOf({ npx: { package: spec } })), { code: 'bad-package' }, spec);
    for (const spec of ['--index-url=http://e', 'tiny>=1', 'tiny @ file:///x', '-r x', 'git+https://x'])
      assert.throws(() => installSources(agentOf({ uvx: { package: spec } })), { code: 'bad-package' }, spec);
  });

  it('reports that an agent does not support this platform', () => {
    const agent = agentOf({ binary: { 'windows-aarch64': { archive: 'https://a.example/a.zip', cmd: 'a' } } });
    assert.throws(() => installSources(agent, 'linux-x86_64'), {
      code: 'not-for-this-machine',
      message: /linux-x86_64/,
    });
    assert.deepEqual(
      [machineName('darwin', 'arm64'), machineName('win32', 'x64'), machineName('freebsd', 'ia32')],
      ['darwin-aarch64', 'windows-x86_64', 'freebsd-ia32'],
    );
  });
});

describe('meetsRange', () => {
  it('reads a range as npm does, with a prerelease before its release', () => {
    for (const range of ['>= 18.17.0 < 22', '18 || 20 || >=22', '^20', '20.x', '18.0.0 - 20', '<=20', '*', ''])
      assert.equal(meetsRange('20.11.1', range), true, range);
    for (const range of ['>=20.12', '>18 <20', '^18||^22', '18.x', '16 - 18', '20.12', '<20'])
      assert.equal(meetsRange('20.11.1', range), false, range);
    assert.equal(meetsRange('25.0.0-nightly20261101', '>=18'), true);
    assert.equal(meetsRange('17.0.0-pre', '>=18'), false);
  });

  it('is met by any version if npm cannot read the range', () => {
    for (const range of ['node', '>=', '>=a.b', '^', 'lts/*', '\u202e18'])
      assert.equal(meetsRange('20.0.0', range), true, range);
  });
});

describe('the installer', function () {
  this.timeout(60_000);
  afterEach(async () => {
    await closeLoopbacks();
    await removeScratch();
  });

  let root: string;
  let host: string;
  let npm: NpmRegistry;
  let files: Map<string, Buffer | ((response: ServerResponse) => void)>;
  let env: Record<string, string>;
  let check: (start: ProgramStart, signal: AbortSignal) => Promise<void>;
  let started: ProgramStart[];

  beforeEach(async () => {
    const home = await scratchFolder();
    root = join(home, 'agents');
    npm = new NpmRegistry();
    files = new Map();
    ({ host } = await httpLoopback((request, response) => {
      const file = files.get(request.url ?? '');
      if (typeof file === 'function') file(response);
      else if (file) response.end(file);
      else if (!npm.handle(request, response)) response.writeHead(404).end('{}');
    }));
    const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
    env = {
      ...(Object.fromEntries(own) as Record<string, string>),
      HOME: home,
      npm_config_registry: `http://${host}/`,
      npm_config_cache: join(home, 'npm-cache'),
      npm_config_fetch_retries: '0',
    };
    started = [];
    check = async (start) => {
      started.push(start);
      const options = { ...start, env: { ...env, ...start.env }, cwd: home, log: silentLog };
      const { code, stdout, stderr } = await runProgram(options);
      assert.deepEqual([code, stdout], [0, 'runs\n'], stderr);
    };
  });

  const installer = (except: readonly string[] = []): Installer =>
    new Installer({
      root,
      log: silentLog,
      context: async () => ({ env, except, log: silentLog }),
      check: (start, stop) => check(start, stop),
      trustedOrigin: () => 'http://localhost',
    });

  async function install(agent: RegistryAgent, stop = signal) {
    const one = installer();
    return one.install(await one.plan(agent, stop), () => {}, stop);
  }

  /** All remaining files in the folder of agents. */
  const left = async (): Promise<readonly string[]> => (await readdir(join(root, 'tiny')).catch(() => [])).sort();

  function binary(archive: string, more: Record<string, unknown> = {}): RegistryAgent {
    return agentOf({
      binary: { [machineName()]: { archive: `http://${host}${archive}`, cmd: './bin/tiny', ...more } },
    });
  }

  describe('with archives', () => {
    beforeEach(async () => {
      files.set('/tiny.tar.gz', await tgzOf([{ name: 'bin/tiny', text: PROGRAM, mode: 0o644 }]));
      files.set('/tiny.zip', await zipOf([{ name: 'bin/tiny', text: PROGRAM }]));
      files.set('/tiny-program', Buffer.from(PROGRAM));
    });

    it('installs the program, starts it once as a check, and stores how it is started', async () => {
      const sha256 = createHash('sha256')
        .update(files.get('/tiny.tar.gz') as Buffer)
        .digest('hex');
      const agent = binary('/tiny.tar.gz', { sha256: sha256.toUpperCase(), args: ['--acp'], env: { A: '1' } });
      const steps: string[] = [];
      const one = installer();
      const plan: InstallPlan = await one.plan(agent, signal);
      assert.equal(plan.size, undefined, 'the server states no size');
      const installed = await one.install(plan, ({ kind }) => void (steps.at(-1) !== kind && steps.push(kind)), signal);
      assert.deepEqual(steps, ['downloading', 'unpacking', 'checking']);
      assert.equal(installed.folder, join(root, 'tiny', '1.0.0'));
      assert.match(installed.command, /tiny[/\\]1\.0\.0[/\\]files[/\\]bin[/\\]tiny$/);
      assert.deepEqual([installed.args, installed.env, installed.sha256], [['--acp'], { A: '1' }, sha256]);
      assert.ok(installed.size >= PROGRAM.length);
      assert.deepEqual(await new InstalledAgents(root).versions('tiny'), [installed]);
      assert.deepEqual(await left(), ['1.0.0']);
      assert.deepEqual(await readdir(join(root, '.downloads')), []);
      assert.match(started[0]?.command ?? '', /\.stage-/);
    });

    it('installs from a zip and from a program without an archive', async () => {
      assert.match((await install(binary('/tiny.zip'))).command, /bin[/\\]tiny$/);
      assert.match((await install(binary('/tiny-program'))).command, /files[/\\]tiny$/);
    });

    it('leaves no file after a wrong checksum, a malicious archive, a missing program or an agent that does not start', async () => {
      const cases: readonly (readonly [RegistryAgent, string])[] = [
        [binary('/tiny.tar.gz', { sha256: '0'.repeat(64) }), 'wrong-checksum'],
        [binary('/evil.tgz'), 'evil-archive'],
        [binary('/tiny.zip', { cmd: './other' }), 'no-program'],
        [binary('/tiny.zip', { cmd: '../../../bin/sh' }), 'no-program'],
        [binary('/none.zip'), 'download-refused'],
      ];
      files.set('/evil.tgz', await tgzOf([{ name: '../../evil', text: 'x' }]));
      for (const [agent, code] of cases) {
        await assert.rejects(install(agent), { code }, code);
        assert.deepEqual([await left(), await installer().installed.list()], [[], []], code);
      }
      check = () => Promise.reject(new Error('it says nothing'));
      await assert.rejects(install(binary('/tiny.zip')), { message: 'it says nothing' });
      assert.deepEqual(await left(), []);
      assert.equal(existsSync(join(root, 'evil')) || existsSync(join(root, 'tiny', 'evil')), false);
    });

    it('reports that the disk is full, and leaves no file', async function () {
      if (!existsSync('/dev/full')) this.skip();
      const agent = binary('/tiny.zip');
      const url = agent.binary.get(machineName())?.archive ?? '';
      const part = `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.part`;
      await mkdir(join(root, '.downloads'), { recursive: true });
      await symlink('/dev/full', join(root, '.downloads', part));
      await assert.rejects(install(agent), { code: 'disk-full', message: 'The disk is full.' });
      assert.deepEqual([await left(), await readdir(join(root, '.downloads'))], [[], []]);
    });

    it('stops when it is cancelled, and can be repeated', async () => {
      const abort = new AbortController();
      const good = files.get('/tiny.zip') as Buffer;
      files.set('/tiny.zip', (response) => {
        response.writeHead(200, { 'content-length': good.length });
        if (response.req.method === 'HEAD') response.end();
        else response.write(good.subarray(0, 10), () => abort.abort(new Error('enough')));
      });
      await assert.rejects(install(binary('/tiny.zip'), abort.signal), { message: 'enough' });
      assert.deepEqual(await left(), []);
      files.set('/tiny.zip', good);
      await install(binary('/tiny.zip'));
      assert.deepEqual(await left(), ['1.0.0']);
    });

    it('starts over after the window closed during an installation, and ignores leftovers', async () => {
      const other = await holdLock(join(root, '.locks', 'tiny.db'));
      await assert.rejects(install(binary('/tiny.zip')), { code: 'install-busy' });
      await mkdir(join(root, 'tiny', '.stage-old', 'files'), { recursive: true });
      await mkdir(join(root, 'tiny', '1.0.0'), { recursive: true });
      await writeFile(join(root, 'tiny', '1.0.0', 'half'), '');
      await other.end();
      assert.deepEqual(await installer().installed.list(), []);
      const installed = await install(binary('/tiny.zip'));
      assert.deepEqual([await left(), await readdir(installed.folder)], [['1.0.0'], ['files', 'receipt.json']]);
    });

    it('counts hard links once', async () => {
      const { installed } = installer();
      const staged = await installed.stage('tiny');
      await writeFile(join(staged, 'program'), Buffer.alloc(1000));
      await link(join(staged, 'program'), join(staged, 'same'));
      await writeFile(join(staged, 'other'), Buffer.alloc(1000));
      const facts = { id: 'tiny', name: 'Tiny', version: '1.0.0', program: 'program', args: [], env: {} };
      assert.equal((await installed.commit(staged, { ...facts, installedAt: 1 })).size, 2000);
    });

    it('installs versions side by side, lists the newest first, and removes one', async () => {
      const first = await install(binary('/tiny.zip'));
      const second = await install({ ...binary('/tiny.zip'), version: '1.1.0', isPreview: true });
      const { installed } = installer();
      const versions = async () => (await installed.versions('tiny')).map(({ version }) => version);
      assert.deepEqual(await versions(), ['1.1.0', '1.0.0']);
      assert.deepEqual(
        (await installed.versions('tiny')).map(({ isPreview }) => isPreview),
        [true, undefined],
      );
      await installed.remove(second);
      assert.deepEqual(await versions(), ['1.0.0']);
      await installed.remove({ id: '..', version: '1.0.0' });
      assert.ok(existsSync(first.command));
    });
  });

  describe('with npm', () => {
    const mark = (name: string): string => `node -e "require('fs').writeFileSync('${name}', '')"`;

    beforeEach(async () => {
      await npm.add({
        name: 'dependency',
        version: '3.0.0',
        manifest: { scripts: { postinstall: mark('ran') } },
        files: { 'index.js': 'module.exports = "runs";\n' },
      });
      await npm.add({
        name: '@scope/tiny',
        version: '1.0.0',
        manifest: {
          bin: { tiny: 'cli.js', other: 'other.js' },
          dependencies: { dependency: '^3.0.0' },
          engines: { node: '>=18' },
          license: 'ISC',
          scripts: { postinstall: mark('ran') },
        },
        files: { 'cli.js': '#!/usr/bin/env node\nconsole.log(require("dependency"));\n', 'other.js': '' },
      });
    });

    const AGENT = agentOf({ npx: { package: '@scope/tiny@1.0.0', args: ['--acp'] } });

    it('installs the package with its dependencies, and runs only its own scripts', async () => {
      const one = installer();
      const plan = await one.plan(AGENT, signal);
      assert.equal(plan.tool?.kind, 'npm');
      assert.ok((plan.size ?? 0) > 0);
      assert.equal(plan.license, 'MIT');
      const unstated = await one.plan({ ...AGENT, license: undefined }, signal);
      assert.equal(unstated.license, 'ISC', 'npm states it where the registry does not');
      assert.deepEqual(npm.served, [], 'nothing is downloaded before the user agrees');
      const installed = await one.install(plan, () => {}, signal);
      assert.deepEqual([...npm.served].sort(), ['@scope/tiny@1.0.0', 'dependency@3.0.0']);
      const modules = join(installed.folder, 'node_modules');
      assert.ok(existsSync(join(modules, '@scope/tiny/ran')));
      assert.equal(existsSync(join(modules, 'dependency/ran')), false);
      assert.equal(started.length, 1);
      await check({ ...installed, name: 'Tiny' }, signal); // it runs from where it is now
      assert.deepEqual(await left(), ['1.0.0']);
    });

    it('reports that Node.js is missing, too old, or only in the workspace', async () => {
      const path = env.PATH ?? '';
      env.PATH = await scratchFolder();
      await assert.rejects(installer().plan(AGENT, signal), { code: 'node-missing', hint: /nodejs\.org/ });
      env.PATH = path;
      await assert.rejects(installer(path.split(':')).plan(AGENT, signal), { code: 'node-missing' });
      await npm.add({
        name: 'future',
        version: '1.0.0',
        manifest: { bin: 'a.js', engines: { node: '>=99' } },
        files: { 'a.js': '' },
      });
      const future = agentOf({ npx: { package: 'future@1.0.0' } });
      await assert.rejects(installer().plan(future, signal), {
        code: 'node-too-old',
        message: /requires Node\.js >=99; yours is \d+\./,
      });
    });

    it('reports failed downloads of npm, and leaves no file', async () => {
      await assert.rejects(install(agentOf({ npx: { package: 'nowhere@1.0.0' } })), {
        code: 'npm-failed',
        message: /doesn't have/,
      });
      const one = installer();
      const plan = await one.plan(AGENT, signal);
      npm.beforeTarball = (response) => {
        response.end('changed on the way');
        return true;
      };
      await assert.rejects(
        one.install(plan, () => {}, signal),
        { code: 'wrong-checksum' },
      );
      await closeLoopbacks();
      await assert.rejects(
        one.install(plan, () => {}, signal),
        { code: 'no-network' },
      );
      const other = agentOf({ npx: { package: 'other@1.0.0' } });
      await assert.rejects(one.plan(other, signal), { code: 'no-network' });
      assert.deepEqual(await left(), []);
    });

    it('stops npm when cancelled', async () => {
      const abort = new AbortController();
      const one = installer();
      const plan = await one.plan(AGENT, signal);
      npm.beforeTarball = () => {
        abort.abort(new Error('enough'));
        return true;
      };
      await assert.rejects(
        one.install(plan, () => {}, abort.signal),
        { message: 'enough' },
      );
      assert.deepEqual(await left(), []);
    });

    it('falls back to the package if there is no program for this platform', async () => {
      const both = agentOf({
        npx: { package: '@scope/tiny@1.0.0' },
        binary: { [machineName()]: { archive: `http://${host}/gone.dmg`, cmd: 'a' } },
      });
      assert.equal((await installer().plan(both, signal)).source.kind, 'npx');
    });
  });

  describe('with uv', () => {
    const AGENT = agentOf({ uvx: { package: 'tiny-py==2.0.1' } }, '2.0.1');

    it('installs the package into a relocatable environment', async () => {
      const bin = await scratchFolder();
      const log = join(bin, 'log');
      // A fake uv that creates the environment and the program.
      await scratchFile(
        bin,
        'uv',
        `#!/bin/sh\necho "$*" >> ${log}\ncase "$1" in\n venv) eval "home=\\\${$(($#-1))}"; mkdir -p "$home/bin";;\n` +
          ` pip) printf '#!/bin/sh\\necho runs\\n' > "$4/bin/tiny-py"; chmod +x "$4/bin/tiny-py";;\nesac\n`,
      );
      env.PATH = `${bin}:${env.PATH}`;
      const installed = await install(AGENT);
      assert.equal(installed.program, join('venv', 'bin', 'tiny-py'));
      const [venv, pip] = (await readFile(log, 'utf8')).trim().split('\n');
      assert.match(venv ?? '', /^venv --relocatable --no-project \S+venv --no-progress$/);
      assert.match(pip ?? '', /^pip install --python \S+venv tiny-py==2\.0\.1 --no-progress$/);
      await check({ ...installed, name: 'Tiny' }, signal);
    });

    it('reports that uv is missing, and errors of uv', async () => {
      const path = env.PATH ?? '';
      env.PATH = await scratchFolder();
      await assert.rejects(installer().plan(AGENT, signal), { code: 'uv-missing', hint: /docs\.astral\.sh/ });
      const bin = await scratchFolder();
      await scratchFile(bin, 'uv', '#!/bin/sh\necho "error: No solution found" >&2\nexit 1\n');
      env.PATH = `${bin}:${path}`;
      await assert.rejects(install(AGENT), { code: 'uv-failed', message: /No solution found/ });
      assert.deepEqual(await left(), []);
    });
  });
});
