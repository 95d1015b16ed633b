// Real keepers for tests: the program is bundled once, runs under plain Node, and whatever a test
// leaves running is ended.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { TransportSink } from '../../../src/acp/jsonrpc/transport';
import { hostEnvironment } from '../../../src/agents/agentEnvironment';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import type { KeptCommandOptions } from '../../../src/client/ports/keptCommands';
import type { KeptStart } from '../../../src/client/transport/agentTransport';
import type { KeeperAbout } from '../../../src/client/transport/keeperFiles';
import { type KeeperPlace, KeeperSocket } from '../../../src/client/transport/keeperSocket';
import { Keepers, type KeepersOptions } from '../../../src/client/transport/keepers';
import { KeptProcess } from '../../../src/client/transport/keptProcess';
import { type Lease, PURPOSE } from '../../../src/keeper/wire';
import type { RunningCommand } from '../../../src/terminals/runningCommand';
import { removeScratch, scratchFolder } from '../scratch';

let program: Promise<string> | undefined;

export function keeperProgram(): Promise<string> {
  program ??= bundle();
  return program;
}

async function bundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-keeper-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'keeper.js');
  const entryPoints = [join(process.cwd(), 'src/keeper/program.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node22' });
  return outfile;
}

export const someone: KeeperAbout = { session: 'one', agentId: 'agent', agentName: 'Agent', folder: '/' };

/** An agent that numbers each line it receives. */
export const ECHO = `
let count = 0;
require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(++count + ' ' + line));
console.log('ready');`;

export class TestKeepers {
  folder: string;
  all: Keepers;

  static async make(options: Partial<KeepersOptions> = {}): Promise<TestKeepers> {
    const folder = join(await scratchFolder(), 'keepers');
    const own = { folder, program: await keeperProgram(), policy: () => 'finishTurn' as const, log: silentLog };
    return new TestKeepers(new Keepers({ ...own, ...options }), options.folder ?? folder);
  }

  /** Returns keepers that are new for each test of the suite, and end with it. */
  static each(): TestKeepers {
    const keepers = new TestKeepers(undefined as never, '');
    beforeEach(() => keepers.renew());
    afterEach(async () => {
      await keepers.end();
      await removeScratch();
    });
    return keepers;
  }

  async renew(options: Partial<KeepersOptions> = {}): Promise<void> {
    Object.assign(this, await TestKeepers.make(options));
  }

  private constructor(all: Keepers, folder: string) {
    this.all = all;
    this.folder = folder;
  }

  /** Starts an agent that is a script of Node's. */
  start(script: string, options: Partial<KeptStart> = {}): Promise<KeptProcess> {
    return this.all.start({
      about: someone,
      command: process.execPath,
      args: ['-e', script],
      env: hostEnvironment(process.env),
      cwd: process.cwd(),
      log: silentLog,
      ...options,
    });
  }

  /** Starts an agent that says `ready`, and hears it say so. */
  async startReady(script: string, options: Partial<KeptStart> = {}): Promise<KeptProcess> {
    const kept = await this.start(script, options);
    await Heard.from(kept).line((text) => text === 'ready');
    return kept;
  }

  /** Runs a script of Node's as a command of an agent. */
  async command(kept: KeptProcess, script: string, more: Partial<KeptCommandOptions> = {}): Promise<RunningCommand> {
    assert.ok(kept.commands);
    return kept.commands.start(
      { file: process.execPath, args: ['-e', script], shell: false },
      {
        id: 'c1',
        about: { line: 'node', cwd: '/', limit: 1000, request: 1 },
        cwd: '/',
        env: {},
        capacityBytes: 1000,
        onChange() {},
        ...more,
      },
    );
  }

  /** Attaches to the agent, and hears what it has said. */
  async read(
    from: { line: number; open: number[] } = { line: 0, open: [] },
  ): Promise<{ kept: KeptProcess; heard: Heard }> {
    const kept = await this.attach();
    const heard = Heard.from(kept);
    kept.deliver(from);
    return { kept, heard };
  }

  async attach(session = someone.session): Promise<KeptProcess> {
    const kept = await this.all.attach(session, { log: silentLog });
    if (!kept) throw new Error('no keeper to attach to');
    return kept;
  }

  async place(id: string): Promise<KeeperPlace & { readonly pid: number; readonly mark: string }> {
    return JSON.parse(await readFile(join(this.folder, id, 'keeper.json'), 'utf8')) as never;
  }

  async attachWith(id: string, lease: Partial<Lease>): Promise<KeptProcess> {
    const whole: Lease = { endMarks: [], leaveAfterMs: null, silentMs: null, ...lease };
    const { socket, welcome } = await KeeperSocket.open(await this.place(id), PURPOSE.attach);
    const end = (): Promise<void> => this.all.end(id);
    const kept = new KeptProcess({ id, isNew: false, leaseOf: () => whole, end, log: silentLog }, socket, welcome);
    kept.lease({ endMarks: [], isAtWork: false });
    return kept;
  }

  async left(): Promise<readonly string[]> {
    return (await readdir(this.folder)).filter((name) => !name.startsWith('host-'));
  }

  async end(): Promise<void> {
    for (const { id } of await this.all.list()) await this.all.end(id);
  }
}

export class Heard implements TransportSink {
  readonly lines: { readonly number: number; readonly text: string }[] = [];
  readonly #closed = new Deferred<void>();
  readonly #waiting = new Set<() => void>();
  #next = 1;
  #rest = Buffer.alloc(0);

  static from({ transport }: KeptProcess): Heard {
    const heard = new Heard();
    transport.listen(heard);
    return heard;
  }

  get texts(): readonly string[] {
    return this.lines.map(({ text }) => text);
  }

  get ended(): Promise<void> {
    return this.#closed.promise;
  }

  data(chunk: Uint8Array, line?: number): void {
    if (line !== undefined) this.#next = line;
    const bytes = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      this.lines.push({ number: this.#next++, text: bytes.toString('utf8', from, to) });
      from = to + 1;
    }
    this.#rest = bytes.subarray(from);
    for (const look of this.#waiting) look();
  }

  closed(): void {
    this.#closed.resolve();
  }

  line(fits: (text: string) => boolean): Promise<string> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.lines.find(({ text }) => fits(text));
        if (!found) return;
        this.#waiting.delete(look);
        resolve(found.text);
      };
      this.#waiting.add(look);
      look();
    });
  }
}
