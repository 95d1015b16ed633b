// Reads contents from a store by one `cat-file --batch`, which ends when nothing is read for a while.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Deferred } from '../../base/deferred';
import { type Store, storeEnvironment } from './storeRuns';

/** Milliseconds. */
const IDLE_MS = 10_000;
/** The process is ended after this time without an answer, ms. */
const STUCK_MS = 30_000;
const MAX_HEADER = 200;

interface Request {
  readonly oid: string;
  readonly content: Deferred<Buffer | undefined>;
}

export class Contents {
  readonly #store: Store;
  #process: ChildProcessWithoutNullStreams | undefined;
  #requests: Request[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes of the arriving answer, with its header and line end. */
  #needed: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns undefined if no repository has it */
  read(oid: string): Promise<Buffer | undefined> {
    const content = new Deferred<Buffer | undefined>();
    this.#process ??= this.#start();
    this.#requests.push({ oid, content });
    this.#process.stdin.write(`${oid}\n`);
    this.#wait(STUCK_MS);
    return content.promise;
  }

  /** Ends the process; a later read starts another one. */
  dispose(): void {
    this.#end(new Error('closed'));
  }

  #start(): ChildProcessWithoutNullStreams {
    const { git, folder } = this.#store;
    const child = spawn(git.program, ['cat-file', '--batch'], {
      cwd: folder,
      env: { ...git.env, ...storeEnvironment(this.#store, { borrow: true }) },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const fail = (error: Error): void => {
      if (this.#process === child) this.#end(error);
    };
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#process === child) this.#receive(chunk);
    });
    child.stderr.resume();
    child.stdin.on('error', fail);
    child.on('error', fail);
    child.on('close', (code) => fail(new Error(`git cat-file ended with ${code}`)));
    return child;
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#requests.length > 0 && this.#answer()) {}
    this.#wait(this.#requests.length === 0 ? IDLE_MS : STUCK_MS);
  }

  #answer(): boolean {
    if (this.#length === 0 || (this.#needed !== undefined && this.#length < this.#needed)) return false;
    const received = Buffer.concat(this.#chunks);
    this.#chunks = [received];
    const line = received.indexOf(0x0a);
    if (line < 0) {
      if (received.length > MAX_HEADER) this.#end(new Error('git cat-file printed no header'));
      return false;
    }
    const [, type, size = ''] = received.toString('latin1', 0, line).split(' ');
    const isBlob = type === 'blob' && /^\d+$/.test(size);
    const isFound = /^\d+$/.test(size);
    this.#needed = isFound ? line + 1 + Number(size) + 1 : line + 1;
    if (received.length < this.#needed) return false;
    const request = this.#requests.shift();
    request?.content.resolve(isBlob ? received.subarray(line + 1, this.#needed - 1) : undefined);
    const rest = received.subarray(this.#needed);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    this.#needed = undefined;
    return true;
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(new Error('git cat-file does not answer')), ms);
    this.#timer.unref();
  }

  #end(error: Error): void {
    clearTimeout(this.#timer);
    const [child, requests] = [this.#process, this.#requests];
    this.#process = undefined;
    this.#requests = [];
    this.#chunks = [];
    this.#length = 0;
    this.#needed = undefined;
    child?.stdin.end();
    child?.kill();
    for (const { content } of requests) content.reject(error);
  }
}
