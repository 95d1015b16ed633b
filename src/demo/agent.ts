// The demo agent that ships with Parley: a scripted program without a model, network or key. It
// speaks protocol v1 over stdio and shows each feature of the client.
import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { at, promptOf, text } from './input';
import { type ClientCan, clientCan, DemoSession } from './session';
import { RpcFault, type RpcId, Wire, type WireHandler } from './wire';

class DemoAgent implements WireHandler {
  readonly #sessions = new Map<string, DemoSession>();
  readonly #wire: Wire;
  #can: ClientCan | undefined;

  constructor() {
    this.#wire = new Wire(process.stdin, process.stdout, this);
  }

  async request(method: string, params: unknown, id: RpcId): Promise<unknown> {
    if (method === 'initialize') return this.#initialize(params);
    if (this.#can === undefined) throw new RpcFault(-32600, 'Call "initialize" first.');
    switch (method) {
      case 'session/new':
        return this.#newSession(params, this.#can);
      // A script has nothing to remember: a session of an earlier process is as good as one of
      // this.
      case 'session/resume':
        return this.#open(text(params, 'sessionId'), params, this.#can);
      case 'session/prompt':
        return this.#session(params).prompt(promptOf(params), id, at(params, '_meta', 'parley/state'));
      case 'session/status':
        return { status: this.#sessions.has(text(params, 'sessionId')) ? 'live' : 'not_found' };
      case 'session/set_mode':
        await this.#session(params).changeMode(text(params, 'modeId'));
        return {};
      case 'session/set_config_option': {
        const { settings } = this.#session(params);
        settings.setOption(params);
        return { configOptions: settings.options() };
      }
      case 'session/close': {
        const session = this.#session(params);
        session.cancel();
        this.#sessions.delete(session.id);
        return {};
      }
      default:
        throw new RpcFault(-32601, `The demo agent does not know "${method}".`);
    }
  }

  notification(method: string, params: unknown): void {
    const session = this.#sessions.get(String(at(params, 'sessionId')));
    if (method === 'session/ready') void session?.ready();
    else if (method === 'session/cancel') session?.cancel();
    else if (method === '$/cancel_request') {
      const requestId = at(params, 'requestId');
      if (requestId !== undefined) for (const one of this.#sessions.values()) one.cancel(requestId);
    }
  }

  #initialize(params: unknown): object {
    this.#can = clientCan(params);
    return {
      protocolVersion: 1,
      agentInfo: { name: 'parley-demo', title: 'Demo agent', version: '1.0.0' },
      agentCapabilities: {
        loadSession: false,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        session: { ready: true },
        sessionCapabilities: { close: {}, resume: {}, status: {}, turnComplete: {} },
      },
      authMethods: [],
    };
  }

  #newSession(params: unknown, can: ClientCan): object {
    const sessionId = `demo-${randomUUID()}`;
    return { sessionId, ...this.#open(sessionId, params, can) };
  }

  #open(id: string, params: unknown, can: ClientCan): object {
    const cwd = text(params, 'cwd');
    if (!isAbsolute(cwd)) throw new RpcFault(-32602, '"cwd" must be an absolute path.');
    const session = new DemoSession(id, cwd, this.#wire, can);
    this.#sessions.set(id, session);
    const { settings } = session;
    return { modes: settings.modeState(), configOptions: settings.options() };
  }

  #session(params: unknown): DemoSession {
    const id = text(params, 'sessionId');
    const session = this.#sessions.get(id);
    if (session === undefined) throw new RpcFault(-32002, `There is no session "${id}" here.`, { sessionId: id });
    return session;
  }
}

// The protocol's way to end an agent is to close its stdin; a client that is gone cannot read
// either.
process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
new DemoAgent();
