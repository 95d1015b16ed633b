// The tools that install packages use VS Code's proxy settings.
import { strict as assert } from 'node:assert';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { findNode, runTool, withProxy } from '../../../../src/registry/install/installTools';
import { removeFolder } from '../../../support/scratch';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';

const PROXY = { proxy: 'http://proxy.example:3128', noProxy: ['npm.local', '.intern'] };

describe('the tools that install packages', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-tools-'));
  });

  afterEach(async () => {
    await closeLoopbacks();
    await removeFolder(folder);
  });

  it("use VS Code's proxy, except for its excluded domains", async function () {
    this.timeout(30_000);
    const asked: (string | undefined)[] = [];
    const { host } = await httpLoopback((request, response) => {
      asked.push(request.url);
      response.end('{}');
    });
    const ask = async (registry: string, noProxy: readonly string[]): Promise<void> => {
      const own = { PATH: process.env.PATH ?? '', npm_config_registry: registry, npm_config_cache: folder };
      const context = { env: withProxy(own, { proxy: `http://${host}`, noProxy }), except: [], log: silentLog };
      const { signal } = new AbortController();
      const { npm } = await findNode(context, signal);
      await runTool(npm, ['view', 'tiny', '--fetch-retries=0'], folder, context, signal);
    };
    await ask('http://npm.example/', ['npm.local']);
    await ask(`http://${host}/`, ['npm.local', new URL(`http://${host}`).hostname]);
    assert.deepEqual(asked, ['http://npm.example/tiny', '/tiny']);
  });

  it("keep the user's own variables, in upper or lower case", () => {
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'All_Proxy', 'no_proxy'])
      assert.deepEqual(withProxy({ [name]: 'own' }, PROXY), { [name]: 'own' });
    assert.deepEqual(withProxy({ A: 'b' }, { proxy: '', noProxy: ['a'] }), { A: 'b' });
    assert.ok(!('NO_PROXY' in withProxy({}, { ...PROXY, noProxy: [] })));
  });
});
