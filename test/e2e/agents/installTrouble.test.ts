// Installing an agent goes wrong in the installed extension: a sentence says what, nothing is half installed, and it can be begun again.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tinyAgent } from '../../support/agents/tinyAgent';
import { type TarEntry, tgzOf } from '../../support/archives';
import { noise } from '../../support/noise';
import { goneFrom } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { closeLoopbacks } from '../../support/servers/loopback';
import { RegistryServer } from '../../support/servers/registryServer';
import { AddAgent } from '../../support/vscode/addAgent';
import { Chat } from '../../support/vscode/chat';
import { openWindow, screenshot, themes, type Window } from '../../support/vscode/openWindow';
import { descendants, kill } from '../../support/vscode/processTree';
import { vsixPath } from '../../support/vscode/repository';
import { type Server, startServer } from '../../support/vscode/startServer';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput, showNotifications } from '../../support/vscode/workbench';

const AGENT = { name: 'agent', text: tinyAgent('Hello.'), mode: 0o755 };

/** What archives bring that they must not. */
const EVIL: readonly (readonly [name: string, entries: readonly TarEntry[], why: RegExp])[] = [
  ['Path that leaves', [AGENT, { name: '../../evil', text: 'x' }], /invalid name \(“\.\.\/\.\.\/evil”\)/],
  ['Absolute path', [AGENT, { name: '/tmp/parley-evil', text: 'x' }], /invalid name \(“\/tmp\/parley-evil”\)/],
  ['Symbolic link', [AGENT, { name: 'a', type: 'symlink', linkname: '/etc' }], /neither a file nor a folder/],
  ['Hard link', [AGENT, { name: 'a', type: 'link', linkname: '/etc/passwd' }], /neither a file nor a folder/],
  ['Device', [AGENT, { name: 'a', type: 'character-device', devmajor: 1, devminor: 5 }], /neither a file nor a folder/],
  ['Endless zeros', [AGENT, { name: 'zeros', text: Buffer.alloc(60_000_000) }], /unpacks to more than \d+ MB/],
];

describe('installing an agent that cannot be installed', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-install-trouble-')));
  mkdirSync(join(home, 'user'));
  const settings: Record<string, unknown> = {
    'parley.agents': { forgotten: { name: 'Forgotten', command: 'not-on-any-path' } },
    'parley.defaultAgent': 'forgotten',
  };
  const options = {
    theme: 'dark',
    folder: join(home, 'workspace'),
    dataDir: join(home, 'data'),
    viewport: { width: 1100, height: 800 },
    settings,
    env: { HOME: join(home, 'user'), SHELL: '/bin/sh' },
  } as const;
  let registry: RegistryServer;
  let agents: AddAgent;
  let server: Server;
  let window: Window;
  let again: { readonly server: Server; readonly window: Window } | undefined;
  let disk: string | undefined;
  /** Of the program whose download takes long. */
  let archive: Buffer;

  before('start the registries', async () => {
    registry = await RegistryServer.start();
    settings['parley.registry.url'] = registry.list();
    writeFileSync(join(home, 'user/.profile'), `export PATH="${dirname(process.execPath)}:${process.env.PATH}"\n`);
    writeFileSync(join(home, 'user/.npmrc'), `registry=${registry.origin}/\nfetch-retries=0\n`);
    const good = await tgzOf([AGENT]);
    archive = await tgzOf([AGENT, { name: 'data', text: Buffer.from(noise(3e5)) }]);
    const evil = EVIL.map(async ([name, entries]) => registry.program(name, '1.0.0', await tgzOf(entries)));
    for (const [name, size] of [
      ['slow-package', 10],
      ['large-package', 3_000_000],
    ] as const)
      await registry.npm.add({
        name,
        version: '1.0.0',
        manifest: { bin: 'cli.js', license: 'MIT' },
        files: { 'cli.js': tinyAgent('Hello from npm.'), 'data.txt': Buffer.from(noise(size)).toString('hex') },
      });
    registry.agents = [
      ...(await Promise.all(evil)),
      registry.program('Changed file', '1.0.0', good, { sha256: '0'.repeat(64) }),
      registry.program('Large file', '1.0.0', await tgzOf([AGENT, { name: 'data', text: Buffer.from(noise(3e6)) }])),
      registry.program('Large contents', '1.0.0', await tgzOf([AGENT, { name: 'data', text: Buffer.alloc(3e6) }])),
      registry.entry('Large package', '1.0.0', { npx: { package: 'large-package@1.0.0' } }),
      registry.program('Slow program', '1.0.0', archive),
      registry.entry('Slow package', '1.0.0', { npx: { package: 'slow-package@1.0.0' } }),
      registry.entry('Forgotten package', '1.0.0', { npx: { package: 'forgotten-package@1.0.0' } }),
      registry.entry('Another package', '1.0.0', { npx: { package: 'another-package@1.0.0' } }),
    ];
  });

  const vscode = useVsCode(options);

  beforeEach(() => {
    ({ server, window } = again ?? vscode);
    agents = new AddAgent(window.page, server);
  });

  after(async () => {
    await again?.window.close();
    await again?.server.stop();
    if (disk !== undefined) spawnSync('umount', [disk]);
    await closeLoopbacks();
    await removeFolder(home);
  });

  /** Tries to install an agent. @returns what the user is told */
  async function refused(name: string): Promise<string> {
    await agents.install(name, '1.0.0');
    const told = await agents.failure(`${name} 1.0.0 wasn't installed`);
    isNotThere(name);
    return told;
  }

  /** Nothing is left of an agent but, at most, an empty folder. */
  function isNotThere(name: string): void {
    const id = name.toLowerCase().replaceAll(' ', '-');
    assert.deepEqual([agents.filesOf(id), agents.downloads, agents.configured[id]], [[], [], undefined], name);
  }

  it('leads from an agent whose command is missing to its row in the list', async () => {
    const { page } = window;
    await command(page, 'Parley: Focus Chat');
    const chat = await Chat.at(page, 'panel');
    await chat.state('failed');
    await chat.button('Add agent…').click();
    const list = quickInput(page);
    await list.locator('.monaco-list-row.focused', { hasText: 'Forgotten package' }).waitFor();
    await screenshot(page, 'add-missing-agent-dark');
    await page.keyboard.press('ArrowDown');
    await list.locator('.monaco-list-row.focused', { hasText: 'Forgotten package' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
  });

  it('reports why an archive is malicious, and keeps no file of it', async function () {
    this.timeout(180_000);
    for (const [name, , why] of EVIL) {
      const told = await refused(name);
      assert.match(told, new RegExp(`^Parley: ${name} 1\\.0\\.0 wasn't installed\\. The archive was refused: `), told);
      assert.match(told, why);
    }
    assert.equal(existsSync('/tmp/parley-evil') || existsSync(join(agents.storage, '..', 'evil')), false);
    const entries = readdirSync(agents.storage, { recursive: true }).map(String);
    assert.deepEqual(
      entries.filter((path) => path.endsWith('evil')),
      [],
    );
  });

  it('reports that the checksum of a file is not the one in the registry', async function () {
    this.timeout(60_000);
    const told = await refused('Changed file');
    assert.match(told, /wasn't installed\. The file from 127\S+ doesn't have the expected checksum\./);
  });

  it('reports a full disk while it downloads, unpacks or runs npm, and succeeds when there is space', async function () {
    this.timeout(180_000);
    disk = agents.storage;
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { encoding: 'utf8' });
    if (mounted.status !== 0) {
      disk = undefined;
      this.skip(); // only root may make a small disk
    }
    for (const name of ['Large file', 'Large contents', 'Large package']) {
      const told = await refused(name);
      assert.equal(told, `Parley: ${name} 1.0.0 wasn't installed. The disk is full. Free some space, then try again.`);
    }
    await screenshot(window.page, 'install-full-disk-dark');
    assert.equal(spawnSync('mount', ['-o', 'remount,size=100m', disk]).status, 0);
    await agents.install('Large file', '1.0.0');
    await agents.answers('Large file', 'Hello.');
    assert.equal(spawnSync('umount', ['-l', disk]).status, 0);
    disk = undefined;
  });

  it('starts over after VS Code was killed, and reuses what was downloaded', async function () {
    this.timeout(240_000);
    const half = archive.subarray(0, archive.length / 2);
    const whole = { 'content-length': archive.length, etag: '"one"' };
    registry.serve('/slow-program-1.0.0.tar.gz', (request, response) => {
      response.writeHead(200, whole);
      if (request.method === 'HEAD') response.end();
      else response.write(half);
    });
    registry.npm.beforeTarball = () => true;
    await agents.install('Slow program', '1.0.0');
    await until('half of the archive is there', () => agents.downloads.some((name) => sizeOf(name) === half.length));
    await agents.install('Slow package', '1.0.0');
    await until('npm downloads', () => registry.npm.served.includes('slow-package@1.0.0'));
    const shown = await showNotifications(window.page);
    await shown.getByText('downloading and installing packages').first().waitFor();
    await shown
      .getByText(/downloaded \d+ KB/)
      .first()
      .waitFor();
    for (const theme of ['light', 'dark'] as const) {
      agents.configure({ 'workbench.colorTheme': themes[theme] });
      await window.page.locator(theme === 'light' ? '.monaco-workbench.vs' : '.monaco-workbench.vs-dark').waitFor();
      await screenshot(window.page, `installing-${theme}`);
    }

    const all = descendants(server.pid);
    const npm = all.filter(({ command }) => /npm install/.test(command));
    assert.ok(npm.length > 0);
    const own = all.filter(({ command }) => /bootstrap-fork|server-main|--type=/.test(command));
    for (const { pid } of [...own].reverse()) kill(pid);
    kill(server.pid);
    await server.exited;
    for (const { pid } of npm) await goneFrom(pid);
    assert.deepEqual(
      ['slow-program', 'slow-package'].flatMap((id) => agents.filesOf(id)).filter((name) => /^\d/.test(name)),
      [],
    );
    assert.deepEqual(
      Object.keys(agents.configured).filter((id) => id.startsWith('slow')),
      [],
    );

    const ranges: (string | undefined)[] = [];
    registry.npm.beforeTarball = undefined;
    registry.serve('/slow-program-1.0.0.tar.gz', (request, response) => {
      ranges.push(request.headers.range);
      const rest = { 'content-range': `bytes ${half.length}-${archive.length - 1}/${archive.length}`, etag: '"one"' };
      const isRest = request.headers['if-range'] === '"one"';
      response.writeHead(isRest ? 206 : 200, isRest ? rest : whole);
      response.end(request.method === 'HEAD' ? undefined : isRest ? archive.subarray(half.length) : archive);
    });
    const next = await startServer({ ...options, extensions: [vsixPath] });
    again = { server: next, window: await openWindow(next, options) };
    agents = new AddAgent(again.window.page, next);
    await command(again.window.page, 'Parley: Focus Chat');
    for (const [name, says] of [
      ['Slow program', 'Hello.'],
      ['Slow package', 'Hello from npm.'],
    ] as const) {
      await agents.install(name, '1.0.0');
      await agents.answers(name, says);
      assert.deepEqual(agents.filesOf(name.toLowerCase().replace(' ', '-')), ['1.0.0']);
    }
    assert.deepEqual(ranges.filter(Boolean), [`bytes=${half.length}-`]);
    assert.deepEqual(agents.downloads, []);
  });

  it('shows the last valid list offline, and reports that nothing can be downloaded', async function () {
    this.timeout(120_000);
    const { page } = window;
    await closeLoopbacks();
    await Promise.all([page.waitForEvent('load'), command(page, 'Developer: Reload Window')]);
    await inList(page, 'Parley: Add Agent…', async (list, patience) => {
      await list.getByText(/Agent registry, as of .+ \(127\S+ refuses connections\.\)/).waitFor(patience);
    });
    await screenshot(page, 'add-agent-offline-dark');
    await page.keyboard.press('Escape');
    await agents.choose('Changed file', '1.0.0');
    assert.equal(
      await agents.failure('Changed file 1.0.0 wasn'),
      `Parley: Changed file 1.0.0 wasn't installed. ${registry.host} refuses connections. ` +
        'Check your network connection and the proxy settings of VS Code.',
    );
    await agents.choose('Another package', '1.0.0');
    assert.equal(
      await agents.failure('Another package 1.0.0 wasn'),
      "Parley: Another package 1.0.0 wasn't installed. npm can't reach its registry. " +
        'Check your network connection and the proxy settings of npm.',
    );
    isNotThere('Changed file');
    isNotThere('Another package');
    // Of another registry there is no list to show.
    agents.configure({ 'parley.registry.url': registry.list('another') });
    await inList(page, 'Parley: Add Agent…', async (list, patience) => {
      await list.getByText("The agent registry can't be shown").waitFor(patience);
      await list.getByText(`${registry.host} refuses connections.`).waitFor(patience);
    });
  });

  const sizeOf = (download: string): number => statSync(join(agents.storage, '.downloads', download)).size;

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 30_000; !isSo(); await delay(50)) assert.ok(Date.now() < deadline, what);
  }
});
