// A registry of agents on loopback: the real list, with agents of the tests' own making before it,
// and what those are downloaded from.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { machineName } from '../../../src/registry/install/installSource';
import { httpLoopback } from './loopback';
import { NpmRegistry } from './npmRegistry';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;
type Entry = Readonly<Record<string, unknown>>;

export class RegistryServer {
  readonly npm = new NpmRegistry();
  agents: readonly Entry[] = [];
  /** How often the list was asked for. */
  asked = 0;
  /** As `host:port`. */
  host = '';
  readonly #real: readonly Entry[];
  readonly #files = new Map<string, Answer>();

  private constructor() {
    const { agents } = JSON.parse(readFileSync('test/fixtures/registry/registry.json', 'utf8'));
    this.#real = agents;
  }

  static async start(): Promise<RegistryServer> {
    const server = new RegistryServer();
    const { host } = await httpLoopback((request, response) => server.#answer(request, response));
    server.host = host;
    return server;
  }

  get origin(): string {
    return `http://${this.host}`;
  }

  /**
   * The address of the list. A list that was fetched is fresh for minutes; one at another address
   * is not.
   */
  list(address = ''): string {
    return `${this.origin}/registry.json?${address}`;
  }

  serve(path: string, content: Buffer | Answer): string {
    this.#files.set(path, typeof content === 'function' ? content : wholeOrRest(content));
    return this.origin + path;
  }

  entry(name: string, version: string, distribution: Entry): Entry {
    const id = name.toLowerCase().replaceAll(' ', '-');
    return { id, name, version, description: 'Answers with one sentence', license: 'MIT', distribution };
  }

  program(name: string, version: string, archive: Buffer, more: Entry = {}): Entry {
    const path = `/${name.toLowerCase().replaceAll(' ', '-')}-${version}.tar.gz`;
    const sha256 = createHash('sha256').update(archive).digest('hex');
    const target = { archive: this.serve(path, archive), cmd: './agent', sha256, ...more };
    return this.entry(name, version, { binary: { [machineName()]: target } });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request;
    const file = this.#files.get(url);
    if (url.startsWith('/registry.json')) {
      this.asked += 1;
      response.end(JSON.stringify({ version: '1.0.0', agents: [...this.agents, ...this.#real] }));
    } else if (file) file(request, response);
    else if (!this.npm.handle(request, response)) response.writeHead(404).end('{}');
  }
}

function wholeOrRest(content: Buffer): Answer {
  const etag = `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`;
  return (request, response) => {
    const from = request.headers['if-range'] === etag ? Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0) : 0;
    const range = { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` };
    response.writeHead(from > 0 ? 206 : 200, {
      etag,
      'content-length': content.length - from,
      ...(from > 0 && range),
    });
    response.end(request.method === 'HEAD' ? undefined : content.subarray(from));
  };
}
