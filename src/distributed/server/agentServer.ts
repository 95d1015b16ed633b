// The server of the Agent Communication Protocol (release 1.0.3) on loopback: clients use the
// agents that the user serves, and servers fetch messages by signed URLs.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { messageOf, ParleyError } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { idSchema, runCreateSchema, runResumeSchema, type SessionDescriptor } from '../model/model';
import type { ResourceStore } from '../model/resources';
import type { PublicAddress } from '../model/resourceUrl';
import type { ServedResource } from '../stores/localStore';
import type { PastMessage, ServedAgent, ServedRunContext } from './servedAgent';
import { refuse, send, sendRun, sendText } from './serverAnswer';
import { CONNECTION_LIMITS, type ConnectionLimits, ServerConnections } from './serverConnections';
import { invalidInput, notFound, readCount, readJson, readUuid, ServerAuth, ServerRefusal } from './serverRequest';
import type { ServerRun } from './serverRun';
import { RUN_LIMITS, type RunLimits, ServerRuns } from './serverRuns';
import type { SessionFiles } from './serverSessionFiles';
import { ServerSessions } from './serverSessions';

export interface AgentServerOptions {
  readonly agents: () => readonly ServedAgent[];
  /** At least 256 bits, see `mintToken`. */
  readonly token: string;
  /** The first one that accepts a message stores it. */
  readonly stores: () => Promise<readonly ResourceStore[]>;
  readonly sessions: SessionFiles;
  readonly serveResource?: (
    id: string,
    exp: string | null,
    sig: string | null,
    signal: AbortSignal,
  ) => Promise<ServedResource>;
  readonly history: (session: SessionDescriptor, signal: AbortSignal) => Promise<readonly PastMessage[]>;
  /** Replaces text parts that are given by URL by their text. */
  readonly withTexts: ServedRunContext['withTexts'];
  /** Returns a state, or a sentence that says why it is missing. */
  readonly state: (url: string, signal: AbortSignal) => Promise<Uint8Array | string>;
  readonly publicAddress?: () => PublicAddress | undefined;
  readonly limits?: Partial<RunLimits>;
  readonly connections?: Partial<ConnectionLimits>;
  readonly now?: () => number;
  readonly log?: Log;
}

interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
}

const MAX_OFFSET = 1_000_000;
const AGENT_NAME = /^[a-z0-9]([-a-z0-9_]{0,61}[a-z0-9])?$/;

/** Everything but `/resources` requires the token; nothing has CORS headers. */
export class AgentServer {
  readonly #options: AgentServerOptions;
  readonly #auth: ServerAuth;
  readonly #sessions: ServerSessions;
  readonly #runs: ServerRuns;
  readonly #connections: ServerConnections;
  readonly #log: Log;
  #server: Server | undefined;

  /** @throws ParleyError `weak-token` */
  constructor(options: AgentServerOptions) {
    const { stores, history, withTexts, state, now = Date.now, log = silentLog, limits } = options;
    this.#options = options;
    this.#log = log;
    this.#auth = new ServerAuth(options.token);
    this.#connections = new ServerConnections({ ...CONNECTION_LIMITS, ...options.connections });
    this.#sessions = new ServerSessions({ stores, records: options.sessions, now, log });
    this.#runs = new ServerRuns({
      sessions: this.#sessions,
      history,
      withTexts,
      state,
      limits: { ...RUN_LIMITS, ...limits },
      now,
      log,
    });
  }

  /** `http://127.0.0.1:port`: the base of resource URLs, independent of the Host header. */
  get baseUrl(): string | undefined {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    return address ? `http://127.0.0.1:${address.port}` : undefined;
  }

  /** Listens on 127.0.0.1. Throws ParleyError `port-taken`. */
  async start(port = 0): Promise<string> {
    if (this.baseUrl !== undefined) return this.baseUrl;
    const handle = (request: IncomingMessage, response: ServerResponse): void => void this.#handle(request, response);
    const timeouts = { requestTimeout: 60_000, headersTimeout: 15_000, connectionsCheckingInterval: 5000 };
    const server = createServer(timeouts, handle);
    // Refuses before a client sends the body that it asked about.
    server.on('checkContinue', handle).on('connection', (socket: Socket) => this.#connections.accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    }).catch((error: unknown) => {
      throw new ParleyError('port-taken', `The local server cannot listen on port ${port}.`, {
        hint: 'Choose another port in the settings.',
        cause: error,
      });
    });
    this.#server = server;
    return this.baseUrl ?? '';
  }

  /** Cancels and records all runs; abandons agents that don't stop in the grace period. */
  async stop(): Promise<void> {
    const server = this.#server;
    await this.#runs.stop();
    this.#server = undefined;
    if (!server) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new ParleyError('client-gone', 'The client has gone.')));
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    try {
      await this.#route(request, response, gone.signal);
    } catch (error) {
      if (gone.signal.aborted) return;
      refuse(request, response, error, this.#log);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, gone: AbortSignal): Promise<void> {
    this.#connections.heard(request.socket);
    const { port } = new URL(this.baseUrl ?? 'http://127.0.0.1:0');
    const { hosts = [], prefix = '' } = this.#options.publicAddress?.() ?? {};
    this.#auth.checkCaller(request, [`127.0.0.1:${port}`, `localhost:${port}`, ...hosts]);
    const { path, query } = readTarget(request.url ?? '/', prefix);
    const [resource = '', id, action, ...rest] = path;
    if (resource === 'resources' && id !== undefined && action === undefined) {
      if (request.method !== 'GET') throw new ServerRefusal(405, 'server_error', 'Method Not Allowed');
      return this.#resource({ id, query, request, response, gone });
    }
    this.#auth.checkToken(request.headers);
    this.#admit(request, response);
    if (rest.length > 0) throw new ServerRefusal(404, 'not_found', 'Not Found');
    const key = `${resource}${id === undefined ? '' : '/*'}${action === undefined ? '' : `/${action}`}`;
    const methods = Object.hasOwn(this.#routes, key) ? this.#routes[key] : undefined;
    if (!methods) throw new ServerRefusal(404, 'not_found', 'Not Found');
    const answer = methods[request.method ?? ''];
    if (!answer) throw new ServerRefusal(405, 'server_error', 'Method Not Allowed');
    await answer({ id: id ?? '', query, request, response, gone });
  }

  readonly #routes: Readonly<Record<string, Readonly<Record<string, (call: Call) => Promise<void> | void>>>> = {
    ping: { GET: ({ response }) => send(response, 200, {}) },
    agents: { GET: ({ query, response }) => send(response, 200, { agents: this.#page(query) }) },
    'agents/*': { GET: ({ id, response }) => send(response, 200, manifestOf(this.#agent(id))) },
    runs: { POST: (call) => this.#create(call) },
    'runs/*': {
      GET: ({ id, response }) => send(response, 200, this.#run(id).toWire()),
      POST: (call) => this.#resume(this.#run(call.id), call),
    },
    'runs/*/events': {
      GET: ({ id, response }) => sendText(response, 200, `{"events":[${this.#run(id).events.join(',')}]}`),
    },
    'runs/*/cancel': {
      POST: ({ id, response }) => {
        const run = this.#run(id);
        run.cancel();
        send(response, 202, run.toWire());
      },
    },
    'sessions/*': { GET: (call) => this.#describe(call) },
    'session/*': { GET: (call) => this.#describe(call) },
    // An extension: versions of clients with diverging histories.
    'sessions/*/versions': {
      GET: async ({ id, response }) => {
        const versions = await this.#session(id, (one) => this.#sessions.versions(one));
        send(response, 200, { versions: versions.map(wireOf) });
      },
    },
  };

  async #describe({ id, response }: Call): Promise<void> {
    send(response, 200, wireOf(await this.#session(id, (one) => this.#sessions.describe(one))));
  }

  async #create({ request, response, gone }: Call): Promise<void> {
    const body = await readJson(request, response, runCreateSchema);
    const run = await this.#runs.create(this.#agent(body.agent_name), body);
    response.setHeader('Run-ID', run.id);
    await sendRun(run, body.mode, 0, response, gone);
  }

  async #resume(run: ServerRun, { request, response, gone }: Call): Promise<void> {
    const body = await readJson(request, response, runResumeSchema);
    if (body.run_id !== undefined && body.run_id !== run.id) throw invalidInput('Run ID mismatch', 400);
    const { message } = body.await_resume;
    if (!message) throw invalidInput('await_resume has to hold a message');
    const position = run.events.length;
    run.resume(message);
    await sendRun(run, body.mode, position, response, gone);
  }

  /** @throws ServerRefusal 503 */
  #admit(request: IncomingMessage, response: ServerResponse): void {
    const done = this.#connections.admit(request.socket);
    if (!done) throw new ServerRefusal(503, 'server_error', 'Too many connections', 5);
    response.once('close', done);
  }

  async #resource({ id, query, request, response, gone }: Call): Promise<void> {
    const { serveResource } = this.#options;
    if (!serveResource || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw notFound('Resource');
    let found: ServedResource;
    try {
      found = await serveResource(id, query.get('exp'), query.get('sig'), gone);
    } catch (error) {
      const code = error instanceof ParleyError ? error.code : '';
      if (code === 'forbidden') throw new ServerRefusal(403, 'server_error', messageOf(error));
      throw code === 'not-found' ? notFound(`Resource ${id}`) : error;
    }
    this.#admit(request, response);
    response.writeHead(200, { 'Content-Type': found.contentType, 'Content-Length': found.bytes.byteLength });
    response.end(found.bytes);
  }

  /** @throws ServerRefusal 404; 422 for an invalid id */
  async #session<T>(id: string, find: (id: string) => Promise<T | undefined>): Promise<T> {
    if (!idSchema.safeParse(id).success) throw invalidInput('session_id has to be an id');
    const found = await find(id);
    if (!found) throw notFound(`Session ${id}`);
    return found;
  }

  #run(id: string): ServerRun {
    return this.#runs.get(readUuid(id, 'run_id'));
  }

  #agent(name: string): ServedAgent {
    const agent = this.#served().find((served) => served.name === name);
    if (agent) return agent;
    throw notFound(/^[\w.-]{1,63}$/.test(name) ? `Agent ${name}` : 'Agent');
  }

  #page(query: URLSearchParams): readonly unknown[] {
    const limit = readCount(query, 'limit', 1, 1000) ?? 1000;
    const offset = readCount(query, 'offset', 0, MAX_OFFSET) ?? 0;
    return this.#served()
      .slice(offset, offset + limit)
      .map(manifestOf);
  }

  #served(): readonly ServedAgent[] {
    return this.#options.agents().filter(({ name }) => AGENT_NAME.test(name));
  }
}

function manifestOf({ name, description, inputContentTypes, outputContentTypes }: ServedAgent): unknown {
  return {
    name,
    description,
    input_content_types: inputContentTypes,
    output_content_types: outputContentTypes,
    metadata: {},
  };
}

function wireOf(session: SessionDescriptor): unknown {
  return { ...session, state: session.state ?? null };
}

/** Removes a proxy's prefix. */
function readTarget(target: string, prefix: string): { path: readonly string[]; query: URLSearchParams } {
  const [whole = '', ...rest] = target.split('?');
  const raw = whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length) : whole;
  let path: readonly string[];
  try {
    path = raw.split('/').slice(1).map(decodeURIComponent);
  } catch {
    throw new ServerRefusal(404, 'not_found', 'Not Found');
  }
  return { path, query: new URLSearchParams(rest.join('?')) };
}
