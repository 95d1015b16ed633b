// An agent of the Agent Client Protocol: the methods shared by v1Agent.ts and v2Agent.ts. One
// instance per connection.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { at } from '../../base/untrusted';
import type { ConfigOption, ContentBlock } from '../../session/events/content';
import type { RpcCaller } from '../jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import { type AuthStatus, readAuthStatus } from './authStatus';
import type {
  AgentAuth,
  AuthMethod,
  Dialect,
  PermissionAsk,
  PromptAnswer,
  SessionControls,
  SessionOffer,
  SessionPage,
  SessionSetup,
  StoredSessions,
  UpdateTargets,
} from './dialect';
import { blockToWire, readSessionPage, type StdioMark, setupToWire } from './sessionWire';

export abstract class RpcAgent implements Dialect, AgentAuth, StoredSessions, SessionControls {
  abstract readonly protocol: 1 | 2;
  readonly auth: AgentAuth = this;
  readonly sessions: StoredSessions = this;
  readonly controls: SessionControls = this;
  protected readonly rpc: RpcCaller;
  protected abstract readonly stdio: StdioMark;

  constructor(rpc: RpcCaller) {
    this.rpc = rpc;
  }

  abstract methodsIn(data: unknown): readonly AuthMethod[];
  abstract login(methodId: string, signal: AbortSignal, meta?: Readonly<Record<string, unknown>>): Promise<void>;
  abstract logout(signal: AbortSignal): Promise<void>;

  async status(signal: AbortSignal): Promise<AuthStatus> {
    return readAuthStatus(await this.rpc.request('auth/status', {}, { signal }));
  }

  /** Throws ParleyError `protocol-violation`; RpcError, -32000 if sign-in is required. */
  newSession(setup: SessionSetup, signal: AbortSignal): Promise<SessionOffer> {
    return this.#open('session/new', {}, setup, signal);
  }

  async options(
    { cwd, additionalDirectories }: SessionSetup,
    sessionId: string | undefined,
    signal: AbortSignal,
  ): Promise<SessionOffer> {
    const location = setupToWire({ cwd, additionalDirectories, mcpServers: [] }, this.stdio);
    const params = { ...location, mcpServers: undefined, sessionId };
    return this.readOffer(sessionId ?? '', await this.rpc.request('session/options', params, { signal }));
  }

  abstract load(sessionId: string, setup: SessionSetup, signal: AbortSignal): Promise<SessionOffer>;
  abstract resume(sessionId: string, setup: SessionSetup, replay: boolean, signal: AbortSignal): Promise<SessionOffer>;

  /** Unstable. Throws as {@link newSession}. */
  fork(
    sessionId: string,
    setup: SessionSetup,
    signal: AbortSignal,
    meta?: Readonly<Record<string, unknown>>,
  ): Promise<SessionOffer> {
    return this.#open('session/fork', { sessionId, _meta: meta }, setup, signal);
  }

  async list(
    query: { readonly cwd?: string; readonly cursor?: string; readonly archived?: boolean },
    signal: AbortSignal,
  ): Promise<SessionPage> {
    const { cwd, cursor, archived } = query;
    const params = {
      cwd,
      cursor,
      archived: archived !== undefined ? (archived ? 'only' : 'exclude') : undefined,
    };
    return readSessionPage(await this.rpc.request('session/list', params, { signal }));
  }

  async close(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.rpc.request('session/close', { sessionId }, { signal });
  }

  async delete(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.rpc.request('session/delete', { sessionId }, { signal });
  }

  async setTitle(sessionId: string, title: string, signal: AbortSignal): Promise<string> {
    const storedTitle = at(await this.rpc.request('session/set_title', { sessionId, title }, { signal }), 'title');
    return typeof storedTitle === 'string' ? storedTitle : title;
  }

  async archive(sessionId: string, archived: boolean, signal: AbortSignal): Promise<void> {
    await this.rpc.request(archived ? 'session/archive' : 'session/unarchive', { sessionId }, { signal });
  }

  /** Resolves when the agent answers, which means receipt or end depending on the version. */
  async prompt(
    sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
    signal: AbortSignal,
    key?: string,
  ): Promise<PromptAnswer> {
    const idempotencyKey = this.protocol === 2 ? key : undefined;
    const params = { sessionId, prompt: prompt.map(blockToWire), idempotencyKey };
    const options = { signal, onSent: (id: string | number) => onSent(String(id)) };
    return this.readAnswer(await this.rpc.request('session/prompt', params, options));
  }

  /** In v2, also withdraws prompts that were not received yet. */
  cancel(sessionId: string): Promise<void> {
    return this.rpc.notify('session/cancel', { sessionId });
  }

  abstract cancelTool(sessionId: string, toolCallId: string): Promise<void>;
  abstract cancelTerminal(sessionId: string, terminalId: string): Promise<void>;
  abstract setMode(sessionId: string, modeId: string): Promise<void>;

  async setConfigOption(
    sessionId: string,
    configId: string,
    value: string | boolean,
  ): Promise<readonly ConfigOption[] | undefined> {
    const params = { sessionId, configId, ...this.typeField(value), value };
    const options = at(await this.rpc.request('session/set_config_option', params), 'configOptions');
    return Array.isArray(options) ? this.readOptions(options) : undefined;
  }

  abstract readUpdates(updates: readonly unknown[], targets: UpdateTargets): void;
  abstract readPermission(params: unknown): PermissionAsk;

  /** Never throws: a turn must not hang on an unreadable answer. */
  abstract readAnswer(raw: unknown): PromptAnswer;
  abstract readOffer(sessionId: string, raw: unknown): SessionOffer;
  protected abstract readOptions(options: readonly unknown[]): readonly ConfigOption[];
  protected abstract typeField(value: string | boolean): { readonly type?: string };

  /** Some agents answer null (section 5.7). */
  protected async reopen(
    method: string,
    sessionId: string,
    setup: SessionSetup,
    more: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<SessionOffer> {
    const params = { sessionId, ...this.#toWire(setup), ...more };
    return this.readOffer(sessionId, await this.rpc.request(method, params, { signal }));
  }

  #toWire(setup: SessionSetup): Record<string, unknown> {
    const { options = [] } = setup;
    const configOptions = options.map(({ id, value }) => ({ configId: id, ...this.typeField(value), value }));
    return {
      ...setupToWire(setup, this.stdio),
      configOptions: configOptions.length > 0 ? configOptions : undefined,
    };
  }

  async #open(
    method: string,
    origin: Readonly<Record<string, unknown>>,
    setup: SessionSetup,
    signal: AbortSignal,
  ): Promise<SessionOffer> {
    const raw = await this.rpc.request(method, { ...origin, ...this.#toWire(setup) }, { signal });
    const sessionId = at(raw, 'sessionId');
    if (typeof sessionId !== 'string') {
      throw new ParleyError('protocol-violation', localizable('its answer to {0} has no session id', method));
    }
    return this.readOffer(sessionId, raw);
  }
}

/** @throws RpcError -32601 */
export function rejectMissing(sentence: string): Promise<never> {
  return Promise.reject(new RpcError(RPC_CODES.methodNotFound, sentence));
}
