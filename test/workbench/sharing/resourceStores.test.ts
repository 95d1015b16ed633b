// A bucket that rejects uploads: one warning, nothing is lost, and pending uploads resume.
import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventEmitter, type ExtensionContext, Uri } from 'vscode';
import { silentLog } from '../../../src/base/log';
import { writeFramed } from '../../../src/distributed/stores/framedFile';
import { LocalStore } from '../../../src/distributed/stores/localStore';
import type { Questions } from '../../../src/workbench/config/questions';
import type { ResourceActions } from '../../../src/workbench/sharing/resourceStores';
import { ResourceStores } from '../../../src/workbench/sharing/resourceStores';
import { removeFolder } from '../../support/scratch';
import { configure } from '../extension';

const never = new AbortController().signal;

describe("the user's bucket", function () {
  this.timeout(30_000);
  let server: Server;
  let endpoint: string;
  let folder: string;
  let rightKey: string;
  let objects: Map<string, string>;
  let stores: ResourceStores[];
  const secrets = new Map<string, string>();
  const didChangeSecret = new EventEmitter<{ key: string }>();

  beforeEach(async () => {
    objects = new Map();
    secrets.clear();
    rightKey = 'right';
    stores = [];
    folder = await mkdtemp(join(tmpdir(), 'parley-stores-'));
    server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://bucket');
      const key = /Credential=([^/]+)\//.exec(request.headers.authorization ?? '')?.[1];
      const signedBy = key ?? url.searchParams.get('X-Amz-Credential')?.split('/')[0];
      const isForged = /^0+$/.test(url.searchParams.get('X-Amz-Signature') ?? '');
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (signedBy !== rightKey || isForged) {
          response.writeHead(403).end('<Error><Code>InvalidAccessKeyId</Code></Error>');
          return;
        }
        if (request.method === 'PUT') objects.set(url.pathname, body);
        if (request.method === 'DELETE') objects.delete(url.pathname);
        const found = objects.get(url.pathname);
        response.writeHead(request.method === 'GET' && found === undefined ? 404 : 200).end(found);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await set({ type: 's3', endpoint, region: 'us-east-1', bucket: 'acp' });
  });
  afterEach(async () => {
    for (const one of stores) one.dispose();
    await set(undefined);
    server.closeAllConnections();
    server.close();
    await removeFolder(folder);
  });

  const set = (value?: unknown): Thenable<void> => configure('resources', value);

  interface Window {
    readonly stores: ResourceStores;
    readonly warned: string[];
    actions(): ResourceActions;
    keys: string;
  }

  function openWindow(): Window {
    const context = {
      globalStorageUri: Uri.file(folder),
      secrets: {
        get: async (key: string) => secrets.get(key),
        store: async (key: string, value: string) => {
          secrets.set(key, value);
          didChangeSecret.fire({ key });
        },
        onDidChange: didChangeSecret.event,
      },
    } as unknown as ExtensionContext;
    const local = new LocalStore({ folder: join(folder, 'local'), secret: randomBytes(32), baseUrl: () => undefined });
    const warned: string[] = [];
    let last: ResourceActions | undefined;
    const ask = { line: async () => opened.keys } as unknown as Questions;
    const made = new ResourceStores({
      context,
      serve: { localStore: async () => local },
      log: silentLog,
      ask,
      warn: async (problem, waiting, actions) => {
        warned.push(`${problem.code} ${waiting}`);
        last = actions;
      },
    });
    stores.push(made);
    const opened: Window = {
      stores: made,
      warned,
      actions: () => {
        assert.ok(last);
        return last;
      },
      keys: 'wrong',
    };
    return opened;
  }
  /** Writes an object; a rejected one waits to be uploaded. */
  const put = async (window: Window, key: string): Promise<string> => {
    const send = async (signal: AbortSignal): Promise<void> => {
      const [store] = await window.stores.all();
      await store.put(key, Buffer.from('{}'), 'application/json', signal);
    };
    await send(never).catch((error) => window.stores.uploads.set(key, 1, send, error));
    const [store] = await window.stores.all();
    return store.urlFor(key, { expiresIn: 60 });
  };
  const names = (): string[] => [...objects.keys()].filter((name) => !name.includes('/probe/')).sort();

  it('warns once about wrong keys, keeps messages, shares no links, and uploads once the keys are right', async () => {
    const window = openWindow();
    assert.equal(await window.stores.setKeys(), true);
    assert.deepEqual(window.warned, ['store-denied 0'], 'before anything is said');
    const urls = [await put(window, 'a'), await put(window, 'b')];
    assert.deepEqual([window.warned, names()], [['store-denied 0'], []]);
    await assert.rejects(window.stores.ensureReadable(urls, never), {
      code: 'links-unreadable',
      message: /^The links to the messages of this session can't be read/,
    });
    assert.equal(await window.stores.retry(never), false);
    assert.deepEqual(window.warned, ['store-denied 0', 'store-denied 2'], 'who tries again is told again');

    window.keys = 'right';
    await window.actions().enterKeys();
    assert.equal(await window.stores.retry(never), true);
    assert.deepEqual(names(), ['/acp/a', '/acp/b']);
    const [store] = await window.stores.all();
    await window.stores.ensureReadable([await store.urlFor('a', { expiresIn: 60 })], never);
    assert.deepEqual(window.warned.length, 2);
    assert.deepEqual(
      [...objects.keys()].filter((name) => name.includes('/probe/')),
      [],
      'nothing is left of the probe',
    );
  });

  it('shares no link signed with a key that the server no longer accepts', async () => {
    const window = openWindow();
    window.keys = 'right';
    await window.stores.setKeys();
    const url = await put(window, 'a');
    await window.stores.ensureReadable([url], never);
    rightKey = 'newer';
    await assert.rejects(window.stores.ensureReadable([url], never), {
      code: 'links-unreadable',
      message: /^The links to the messages of this session can't be read\. .*InvalidAccessKeyId/,
    });
  });

  it('warns immediately if the settings name a location that no longer accepts the keys', async () => {
    const window = openWindow();
    window.keys = 'right';
    await window.stores.setKeys();
    rightKey = 'newer';
    await set({ type: 's3', endpoint, region: 'eu-west-1', bucket: 'acp' });
    while (window.warned.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(window.warned, ['store-denied 0'], 'before anything is said');
  });

  it('continues with credentials entered in another window', async () => {
    const [one, two] = [openWindow(), openWindow()];
    await one.stores.setKeys();
    await put(one, 'a');
    assert.deepEqual(names(), []);
    two.keys = 'right';
    const changed = new Promise<void>((resolve) => one.stores.onDidChange(resolve));
    await two.stores.setKeys();
    await changed;
    assert.equal(await one.stores.retry(never), true);
    assert.deepEqual(names(), ['/acp/a']);
  });

  it('uploads what an earlier version left before any new message', async () => {
    const before = openWindow();
    before.keys = 'right';
    await before.stores.setKeys();
    before.stores.dispose();
    const name = createHash('sha256').update(`s3:${endpoint}/acp/`).digest('hex').slice(0, 16);
    const left = join(folder, 'resource-queue', name, '7-1', '000000000000.wait');
    await writeFramed(left, Buffer.from('{}'), { key: 'a', contentType: 'application/json' }, { durable: true });
    openWindow();
    while (names().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(names(), ['/acp/a']);
  });

  it('reports a location without a host for the bucket, and writes to no other bucket', async () => {
    await set({ type: 's3', endpoint, region: 'us-east-1', bucket: 'acp', pathStyle: false });
    const window = openWindow();
    await window.stores.setKeys();
    const [store] = await window.stores.all();
    assert.equal(store.isLocal, true);
    assert.deepEqual([...objects.keys()], []);
  });
});
