// The demo agent: scripted, without model, network or key. Shows each feature in both versions.
import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { at } from '../base/untrusted';
import { type ClientCan, clientCan, promptOf, text, type Version } from './input';
import { commands, sceneOf } from './scenes';
import { DemoSession, type SessionOptions } from './session';
import { Settings } from './settings';
import { initializeResult, toV2Options } from './versions';
import { RpcFault, type RpcId, Wire, type WireHandler } from './wire';

export class DemoAgent implements WireHandler {
  readonly #sessions = new Map<string, DemoSession>();
  readonly #forgotten = new Set<string>();
  readonly #wire: Wire;
  #version: Version = 1;
  #can: ClientCan | undefined;

  constructor(input: Readable, output: Writable) {
    this.#wire = new Wire(input, output, this);
  }

  async request(method: string, params: unknown, id: RpcId): Promise<unknown> {
    if (method === 'initialize') return this.#initialize(params);
    if (this.#can === undefined) throw new RpcFault(-32600, 'Call "initialize" first.');
    switch (method) {
      case 'session/new': {
        const sessionId = `demo-${randomUUID()}`;
        return { sessionId, ...(await this.#open(sessionId, method, params, this.#can)) };
      }
      // Scripts are stateless, so a session of an earlier process can be resumed as a new one.
      case 'session/resume':
        return this.#open(text(params, 'sessionId'), method, params, this.#can);
      // Scripts are stateless, so a session can be forked at any message.
      case 'session/fork': {
        const messageId = at(params, '_meta', 'jetbrains', 'air', 'fork', 'messageId');
        if (messageId !== undefined && !String(messageId).startsWith('message-'))
          throw new RpcFault(-32602, `There is no message "${messageId}".`, { messageId });
        const sessionId = `demo-${randomUUID()}`;
        return { sessionId, ...(await this.#open(sessionId, method, params, this.#can)) };
      }
      case 'session/prompt':
        return this.#session(params).prompt(promptOf(params), id, at(params, '_meta', 'parley/state'));
      case '_session/steering':
        return this.#session(params).steer(promptOf(params));
      case 'session/options': {
        const settings = this.#sessions.get(String(at(params, 'sessionId')))?.settings;
        return this.#offer(settings ?? new Settings(this.#can.booleanOptions));
      }
      case 'auth/status':
        return { state: 'not_required', accounts: [] };
      case 'session/status':
        return { status: this.#sessions.has(text(params, 'sessionId')) ? 'live' : 'not_found' };
      case 'session/set_mode':
        await this.#session(params).changeMode(text(params, 'modeId'));
        return {};
      case 'session/set_config_option': {
        const { settings } = this.#session(params);
        settings.setOption(params);
        return { configOptions: this.#options(settings.options()) };
      }
      case 'session/close':
      case 'session/delete': {
        const session = this.#session(params);
        this.#sessions.delete(session.id);
        await session.close();
        return {};
      }
      case 'session/list':
        if (this.#version === 2)
          return { sessions: [...this.#sessions.values()].map((one) => ({ sessionId: one.id, cwd: one.cwd })) };
    }
    throw new RpcFault(-32601, `The demo agent does not know "${method}".`);
  }

  notification(method: string, params: unknown): void {
    const session = this.#sessions.get(String(at(params, 'sessionId')));
    if (method === 'session/ready') void session?.ready('client');
    else if (method === 'session/cancel') session?.cancel();
    else if (method === '$/cancel_request') {
      const requestId = at(params, 'requestId');
      if (requestId !== undefined) for (const one of this.#sessions.values()) one.cancel(requestId);
    }
  }

  #initialize(params: unknown): object {
    this.#version = Number(at(params, 'protocolVersion')) >= 2 ? 2 : 1;
    this.#can = clientCan(params, this.#version);
    return initializeResult(this.#version);
  }

  async #open(id: string, method: string, params: unknown, can: ClientCan): Promise<object> {
    const cwd = text(params, 'cwd');
    if (!isAbsolute(cwd)) throw new RpcFault(-32602, '"cwd" must be an absolute path.');
    const live = this.#sessions.get(id);
    const named = at(params, 'systemPrompt') === undefined ? method : `${method} with systemPrompt`;
    live?.opens(named);
    const session = live ?? this.#begin(id, { method: named, wasForgotten: this.#forgotten.delete(id) }, cwd, can);
    this.#sessions.set(id, session);
    session.settings.begin(at(params, 'configOptions'));
    // Version 2 requires it before the response, even from an agent that waits for session/ready.
    if (this.#version === 2 && method === 'session/resume') await session.showState();
    session.opened(method);
    return this.#offer(session.settings);
  }

  #offer(settings: Settings): object {
    const configOptions = this.#options(settings.options());
    return this.#version === 2 ? { configOptions } : { modes: settings.modeState(), configOptions };
  }

  #begin(id: string, opening: SessionOptions['opening'], cwd: string, can: ClientCan): DemoSession {
    return new DemoSession(id, {
      commands,
      sceneOf,
      cwd,
      wire: this.#wire,
      can,
      version: this.#version,
      opening,
      onForget: () => {
        this.#sessions.delete(id);
        this.#forgotten.add(id);
      },
    });
  }

  #options(options: readonly object[]): readonly object[] {
    return this.#version === 2 ? toV2Options(options) : options;
  }

  #session(params: unknown): DemoSession {
    const id = text(params, 'sessionId');
    const session = this.#sessions.get(id);
    if (session === undefined) throw new RpcFault(-32002, `There is no session "${id}" here.`, { sessionId: id });
    return session;
  }
}
