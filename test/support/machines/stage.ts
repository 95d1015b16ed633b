// Three machines for the stories: a window here, a window there that serves its agent through a
// reverse proxy, and one with an S3 server and a server as the original is.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionSnapshot } from '../../../src/client/view/snapshot';
import type { SessionDescriptor } from '../../../src/distributed/model/model';
import { type Machine, type Network, network, type Program } from './network';
import type { Weather } from './weather';

const PORT = 7001;
const PRESSES = ['Always Allow', 'Connect Anyway'];

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export interface ReadMessage {
  readonly role: string;
  readonly text: string;
}

export class StageWindow {
  readonly #machine: Machine;
  readonly storage: string;
  #program: Program | undefined;
  #clock = 0;

  constructor(machine: Machine, storage: string) {
    this.#machine = machine;
    this.storage = storage;
  }

  async open(settings: Readonly<Record<string, unknown>>, secrets: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(join(this.storage, 'work'), { recursive: true });
    this.#program = await this.#machine.start('windowHost');
    await this.call('setClock', this.#clock);
    await this.call('open', this.storage, settings, secrets);
  }

  call<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    if (!this.#program) return Promise.reject(new Error('The window is not open.'));
    return this.#program.call<T>(method, ...args);
  }

  async kill(): Promise<void> {
    await this.#program?.kill();
    this.#program = undefined;
  }

  async setClock(ms: number): Promise<void> {
    this.#clock = ms;
    if (this.#program) await this.call('setClock', ms);
  }

  snapshot(key: string): Promise<SessionSnapshot> {
    return this.call('snapshot', key);
  }

  descriptor(key: string): Promise<SessionDescriptor> {
    return this.call('export', key);
  }
}

export class Stage {
  readonly network!: Network;
  readonly here!: StageWindow;
  readonly there!: StageWindow;
  readonly original!: Program;
  readonly bucket!: Program;
  readonly proxy!: Program;
  readonly folder!: string;
  readonly settings!: Readonly<Record<string, unknown>>;
  readonly secrets!: Readonly<Record<string, string>>;

  static async open(isApart = true): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-machines-'));
    const net = await network(3, isApart);
    const port = net.whyNot === undefined ? PORT : await freePort();
    const [first, second, third] = net.machines as [Machine, Machine, Machine];
    const bucket = await third.start('bucketHost', { TMPDIR: folder });
    const original = await third.start('originalHost');
    const proxy = await second.start('proxyHost');
    const place = await bucket.call<{ port: number; bucket: string; keys: object }>('place');
    const endpoint = `http://${third.address}:${place.port}`;
    const resources = (prefix: string) => ({
      'parley.resources': { type: 's3', endpoint, region: 'us-east-1', bucket: place.bucket, prefix },
      'parley.queue.afterCancel': 'continue',
    });
    const story = (log: string) => ({
      name: 'Story',
      command: process.execPath,
      args: [join(process.cwd(), 'out/support/agents/storyAgent.js')],
      env: { STORY_LOG: join(folder, log) },
    });
    const secrets = { [`parley.resources.keys:${endpoint} ${place.bucket}`]: JSON.stringify(place.keys) };
    const there = new StageWindow(second, join(folder, 'there'));
    const far = `http://${second.address}:${await proxy.call<number>('port')}`;
    const old = {
      type: 'communication',
      url: `http://${third.address}:${await original.call<number>('port')}`,
      agent: 'story',
    };
    await there.open(
      {
        ...resources('there'),
        'parley.agents': { story: story('there.ndjson'), old },
        'parley.defaultAgent': 'story',
        'parley.server.enabled': true,
        'parley.server.agents': ['story'],
        'parley.server.port': port,
        'parley.server.publicUrl': far,
      },
      secrets,
    );
    await proxy.call('setTarget', port);
    await there.call('run', 'parley.server.copyToken');
    const token = await there.call<string>('clipboard');
    const settings = {
      ...resources('here'),
      'parley.agents': {
        story: story('here.ndjson'),
        far: { type: 'communication', url: far, agent: 'story', headers: { Authorization: `Bearer ${token}` } },
        old,
      },
      'parley.defaultAgent': 'story',
    };
    const here = new StageWindow(first, join(folder, 'here'));
    await here.open(settings, secrets);
    for (const window of [here, there]) await window.call('presses', PRESSES);
    return Object.assign(new Stage(), {
      network: net,
      here,
      there,
      original,
      bucket,
      proxy,
      folder,
      settings,
      secrets,
    });
  }

  async reopen(): Promise<void> {
    await this.here.open(this.settings, this.secrets);
    await this.here.call('presses', PRESSES);
  }

  /** Sets the clocks of all machines. @param ms by which they are ahead of the real time */
  async setClocks(ms: number): Promise<void> {
    const programs = [this.original, this.bucket, this.proxy];
    await Promise.all([
      this.here.setClock(ms),
      this.there.setClock(ms),
      ...programs.map((one) => one.call('setClock', ms)),
    ]);
  }

  async setWeather(weather: Weather): Promise<void> {
    const servers = [this.original, this.bucket, this.proxy];
    await Promise.all(
      servers.map((one, index) => one.call('setWeather', { ...weather, seed: weather.seed * 10 + index })),
    );
  }

  async originalHost(): Promise<string> {
    return `${this.network.machines[2]?.address}:${await this.original.call<number>('port')}`;
  }

  read({ history }: SessionDescriptor): Promise<readonly ReadMessage[]> {
    return this.original.call('read', history);
  }

  async close(): Promise<void> {
    for (const window of [this.here, this.there]) await window.call('close').catch(() => undefined);
    await this.network.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
