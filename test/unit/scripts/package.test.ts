// The package: exactly the files of the golden list, small, with a valid manifest.
import { strict as assert } from 'node:assert';
import { isAscii } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listFiles, PackageManager } from '@vscode/vsce';
import { type BuildOptions, build } from 'esbuild';
import { bundledPackages } from '../../../scripts/lib/notices';
import { packVsix } from '../../../scripts/lib/packVsix';
import { type SettingsManifest, settingsOf } from '../../../scripts/lib/settingsTables';
import { stagePackage } from '../../../scripts/lib/stagePackage';
import { vsixProblems } from '../../../scripts/lib/vsixRules';
import { vsixPath } from '../../support/vscode/repository';
import { sources } from '../house/sources';

const root = process.cwd();

interface Manifest {
  readonly engines: { readonly vscode: string };
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly dependencies?: unknown;
  readonly contributes: SettingsManifest<{ readonly scope?: string; readonly order?: number }>['contributes'] & {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category?: string }[];
    readonly keybindings: readonly { readonly key: string }[];
  };
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] };
  };
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

const text = readFileSync(join(root, 'package.json'), 'utf8');
const manifest = JSON.parse(text) as Manifest;

describe('the package', () => {
  let stage = '';

  before('build', function () {
    this.timeout(180_000);
    // `npm test` has built the package already, and other suites use its files.
    if (!process.env.PARLEY_PACKAGED) {
      const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, encoding: 'utf8' });
      assert.equal(built.status, 0, built.stderr);
    }
    stage = mkdtempSync(join(tmpdir(), 'parley-package-'));
    stagePackage(stage);
  });

  after(() => rmSync(stage, { recursive: true, force: true }));

  it('contains exactly the files of the golden list', async () => {
    const files = await listFiles({ cwd: stage, packageManager: PackageManager.None });
    // Names of chunks contain a hash of their content.
    const shipped = files.map((file) => file.replaceAll('\\', '/').replace(/-[A-Z0-9]{8}\.(js|css)$/, '-*.$1')).sort();
    assert.deepEqual(shipped, readFileSync(join(root, 'test/golden/vsix-files.txt'), 'utf8').trim().split('\n'));
  });

  it('meets the rules of the Marketplace and Open VSX, in 3 MB', async function () {
    this.timeout(180_000);
    // The package of `npm test`, or one made of these files.
    const vsix = process.env.PARLEY_PACKAGED ? vsixPath : join(stage, 'parley.vsix');
    if (vsix !== vsixPath) await packVsix(vsix);
    assert.deepEqual(await vsixProblems(vsix), []);
  });

  it('contains the licence of everything that is bundled', () => {
    const notices = readFileSync(join(root, 'dist/ThirdPartyNotices.txt'), 'utf8');
    for (const name of ['zod', 'preact', 'highlight.js', 'ws', 'vscode-jsonrpc', '@vscode/codicons', '@vscode/l10n'])
      assert.match(notices, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\([\\w.-]+\\)$`, 'm'), name);
    assert.match(notices, /Redistribution and use in source and binary forms/);
    assert.match(notices, /Permission is hereby granted, free of charge/);
    assert.equal(notices.includes(root), false);
  });

  it('contains each package as published, in the version of the lock file', async function () {
    this.timeout(60_000);
    const { bundles } = (await import(pathToFileURL('scripts/build.mjs').href)) as {
      bundles(options: { dev: boolean }): readonly BuildOptions[];
    };
    const options = bundles({ dev: false });
    // No plugins.
    assert.deepEqual(
      options.filter(({ plugins, alias, inject }) => plugins ?? alias ?? inject),
      [],
    );
    const built = await Promise.all(options.map((one) => build({ ...one, write: false, metafile: true })));
    const folders = new Set(built.flatMap(({ metafile }) => bundledPackages(metafile)));
    assert.ok(folders.size > 10);
    const [locked, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map(
      (path) => (JSON.parse(readFileSync(join(root, path), 'utf8')) as Lock).packages,
    );
    const others = [...folders].filter((folder) => {
      const integrity = locked?.[folder]?.integrity;
      return integrity === undefined || integrity !== installed?.[folder]?.integrity;
    });
    assert.deepEqual(others, []);
  });

  it('contains no absolute path of the build machine', () => {
    for (const file of [
      'dist/extension.js',
      'dist/workbench/product.js',
      'dist/demo/agent.js',
      'dist/editorTools.js',
      'dist/webview/main.js',
    ]) {
      assert.equal(readFileSync(join(root, file), 'utf8').includes(root), false, file);
    }
  });

  // The bundler escapes strings and our regular expressions use escapes, but not those of Temml.
  it('has ASCII bundles, which the engine stores with one byte per character', () => {
    const bundles = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });
    const beyond = bundles.filter(
      (file) => file.endsWith('.js') && !file.endsWith('math.js') && !isAscii(readFileSync(join(root, 'dist', file))),
    );
    assert.ok(bundles.includes(join('workbench', 'product.js')));
    assert.deepEqual(beyond, []);
  });
});

describe('the manifest', () => {
  it('has exactly one text in package.nls.json for each key of package.json', () => {
    const texts = JSON.parse(readFileSync(join(root, 'package.nls.json'), 'utf8')) as Record<string, string>;
    const used = new Set([...text.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key ?? ''));
    assert.deepEqual(
      [...used].filter((key) => !(key in texts)),
      [],
    );
    assert.deepEqual(
      Object.keys(texts).filter((key) => !used.has(key)),
      [],
    );
  });

  it('contains every command that messages tell the user to run', () => {
    const texts = Object.values(JSON.parse(readFileSync(join(root, 'package.nls.json'), 'utf8')) as object);
    const named = sources().flatMap(({ text }) => [...text.matchAll(/“Parley: ([^”]+)”/g)].map(([, title]) => title));
    assert.deepEqual([...new Set(named)].sort(), [
      'Manage Agents…',
      'Manage Permissions and Approvals…',
      'New Session with…',
      'Sharing and Server…',
    ]);
    assert.deepEqual(
      named.filter((title) => !texts.includes(title)),
      [],
    );
  });

  it('orders settings unambiguously within each section', () => {
    for (const section of manifest.contributes.configuration) {
      const orders = Object.values(section.properties).map(({ order }) => order);
      assert.ok(orders.every((order) => order !== undefined));
      assert.deepEqual([...new Set(orders)], orders);
    }
  });

  it('restricts settings that name a program in untrusted folders', () => {
    const properties = settingsOf(manifest);
    const strict = ['machine', 'application', 'machine-overridable'];
    for (const key of ['parley.agents', 'parley.defaultAgent', 'parley.mcpServers', 'parley.mcp.useWorkspace']) {
      assert.ok(strict.includes(properties[key]?.scope ?? ''), `${key} has a scope that a workspace can set freely`);
      assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(key), key);
    }
  });

  it('binds no key that types a character: Ctrl+Alt is AltGr, and Linux desktops lock the screen with Ctrl+Alt+L', () => {
    assert.deepEqual(
      manifest.contributes.keybindings.filter(({ key }) => /ctrl\+alt\+(?:shift\+)?[^ +]$/.test(key)),
      [],
    );
  });

  it('puts a category in front of each command in the palette', () => {
    assert.deepEqual(
      manifest.contributes.commands.filter(({ category }) => category !== 'Parley').map(({ command }) => command),
      [],
    );
  });

  it('compiles against the API of the oldest supported VS Code', () => {
    const minor = (version: string | undefined): number => Number(/1\.(\d+)/.exec(version ?? '')?.[1]);
    assert.ok(minor(manifest.devDependencies['@types/vscode']) <= minor(manifest.engines.vscode));
  });

  it('needs no package outside the bundle', () => {
    assert.equal(manifest.dependencies, undefined);
  });
});
