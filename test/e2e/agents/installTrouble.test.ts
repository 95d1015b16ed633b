// VS Code is killed while agents are installed: nothing is half installed, and what was downloaded is used at the next attempt.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tinyAgent } from '../../support/agents/tinyAgent';
import { tgzOf } from '../../support/archives';
import { noise } from '../../support/noise';
import { goneFrom } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { closeLoopbacks } from '../../support/servers/loopback';
import { RegistryServer } from '../../support/servers/registryServer';
import { AddAgent } from '../../support/vscode/addAgent';
import { openWindow, screenshot, type Window } from '../../support/vscode/openWindow';
import { descendants, kill } from '../../support/vscode/processTree';
import { vsixPath } from '../../support/vscode/repository';
import { type Server, startServer } from '../../support/vscode/startServer';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, showNotifications } from '../../support/vscode/workbench';

const AGENT = { name: 'agent', text: tinyAgent('Hello.'), mode: 0o755 };

describe('an installation that is interrupted', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-install-trouble-')));
  mkdirSync(join(home, 'user'));
  const settings: Record<string, unknown> = {};
  const options = {
    theme: 'dark',
    folder: join(home, 'workspace'),
    dataDir: join(home, 'data'),
    viewport: { width: 1100, height: 800 },
    settings,
    env: { HOME: join(home, 'user'), SHELL: '/bin/sh' },
  } as const;
  let registry: RegistryServer;
  let again: { readonly server: Server; readonly window: Window } | undefined;
  /** Of the program whose download takes long. */
  let archive: Buffer;

  before('start the registries', async () => {
    registry = await RegistryServer.start();
    settings['parley.registry.url'] = registry.list();
    writeFileSync(join(home, 'user/.profile'), `export PATH="${dirname(process.execPath)}:${process.env.PATH}"\n`);
    writeFileSync(join(home, 'user/.npmrc'), `registry=${registry.origin}/\nfetch-retries=0\n`);
    archive = await tgzOf([AGENT, { name: 'data', text: Buffer.from(noise(3e5)) }]);
    await registry.npm.add({
      name: 'slow-package',
      version: '1.0.0',
      manifest: { bin: 'cli.js', license: 'MIT' },
      files: { 'cli.js': tinyAgent('Hello from npm.') },
    });
    registry.agents = [
      registry.program('Slow program', '1.0.0', archive),
      registry.entry('Slow package', '1.0.0', { npx: { package: 'slow-package@1.0.0' } }),
    ];
  });

  const vscode = useVsCode(options);

  after(async () => {
    await again?.window.close();
    await again?.server.stop();
    await closeLoopbacks();
    await removeFolder(home);
  });

  it('starts over after VS Code was killed, and reuses what was downloaded', async function () {
    this.timeout(240_000);
    const { server, window } = vscode;
    let agents = new AddAgent(window.page, server);
    const half = archive.subarray(0, archive.length / 2);
    const whole = { 'content-length': archive.length, etag: '"one"' };
    const isHalf = (name: string): boolean => statSync(join(agents.storage, '.downloads', name)).size === half.length;
    registry.serve('/slow-program-1.0.0.tar.gz', (request, response) => {
      response.writeHead(200, whole);
      if (request.method === 'HEAD') response.end();
      else response.write(half);
    });
    registry.npm.beforeTarball = () => true;
    await agents.install('Slow program', '1.0.0');
    await until('half of the archive is there', () => agents.downloads.some(isHalf));
    await agents.install('Slow package', '1.0.0');
    await until('npm downloads', () => registry.npm.served.includes('slow-package@1.0.0'));
    const shown = await showNotifications(window.page);
    await shown.getByText('downloading and installing packages').first().waitFor();
    await shown
      .getByText(/downloaded \d+ KB/)
      .first()
      .waitFor();
    await screenshot(window.page, 'installing-dark');

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

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 30_000; !isSo(); await delay(50)) assert.ok(Date.now() < deadline, what);
  }
});
