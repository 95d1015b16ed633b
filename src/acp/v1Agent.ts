// The v1 dialect, outgoing side: what a client says to an agent, checked and typed. One instance per connection.

import { ParleyError } from '../base/errors';
import type { ContentBlock } from '../session/content';
import type { StopReason } from '../session/event';
import { at, isMarked } from './capabilities';
import { readStopReason } from './turnComplete';
import { authMethodSchema, initializeResultSchema, newSessionResultSchema, promptResultSchema } from './v1Schema';

/** The part of a connection that this dialect needs. */
export interface RpcCaller {
  request(
    method: string,
    params: unknown,
    options?: { signal?: AbortSignal; onSent?(id: string | number): void },
  ): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

/** The one version that this file speaks. */
export const PROTOCOL_V1 = 1;

/** Which content kinds an agent takes in a prompt; text and resource links always are. */
export interface PromptCapabilities {
  readonly image: boolean;
  readonly audio: boolean;
  readonly embeddedContext: boolean;
}

export interface AuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** `agent`: the agent does it when asked by `authenticate`. Others are guidance only. */
  readonly type: string;
}

/** What an agent said of itself. `raw` is the whole answer, for the proposals that read their own capabilities. */
export interface AgentDescription {
  readonly name?: string;
  readonly title?: string;
  readonly version?: string;
  readonly prompt: PromptCapabilities;
  readonly authMethods: readonly AuthMethod[];
  readonly raw: unknown;
}

export interface OpenedSession {
  readonly sessionId: string;
  readonly modes: unknown;
  readonly configOptions: unknown;
}

export interface PromptAnswer {
  readonly stopReason: StopReason | undefined;
  readonly tokens?: number;
}

export class V1Agent {
  readonly #rpc: RpcCaller;

  constructor(rpc: RpcCaller) {
    this.#rpc = rpc;
  }

  /**
   * `initialize` (section 1.10, 1.11) with exactly the capabilities that work in this client.
   * @throws ParleyError `protocol-version` where the agent speaks another version, `protocol-violation` where the answer is no answer; RpcError.
   */
  async initialize(
    client: { name: string; title: string; version: string },
    signal: AbortSignal,
  ): Promise<AgentDescription> {
    const raw = await this.#rpc.request(
      'initialize',
      {
        protocolVersion: PROTOCOL_V1,
        clientInfo: client,
        clientCapabilities: {
          fs: { readTextFile: true, writeTextFile: true },
          terminal: true,
          session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
          _meta: { terminal_output: true },
        },
      },
      { signal },
    );
    const parsed = initializeResultSchema.safeParse(raw);
    if (!parsed.success) {
      throw new ParleyError('protocol-violation', 'its answer to initialize is not one that the protocol knows', {
        hint: 'Check that the command starts the agent in its ACP mode.',
        cause: parsed.error,
      });
    }
    const { protocolVersion, agentInfo, agentCapabilities, authMethods } = parsed.data;
    if (protocolVersion !== PROTOCOL_V1) {
      throw new ParleyError(
        'protocol-version',
        `it speaks protocol version ${protocolVersion}; Parley speaks version ${PROTOCOL_V1}`,
        {
          hint: 'Install a version of the agent that speaks it, or update Parley.',
        },
      );
    }
    const prompt = agentCapabilities?.promptCapabilities;
    return {
      ...(agentInfo && { name: agentInfo.name }),
      ...(agentInfo?.title && { title: agentInfo.title }),
      ...(agentInfo?.version && { version: agentInfo.version }),
      prompt: {
        image: isMarked(prompt?.image),
        audio: isMarked(prompt?.audio),
        embeddedContext: isMarked(prompt?.embeddedContext),
      },
      authMethods: (authMethods ?? []).flatMap(toAuthMethod),
      raw,
    };
  }

  /** `authenticate` (section 1.9), for methods that the agent carries out itself. */
  async authenticate(methodId: string, signal: AbortSignal): Promise<void> {
    await this.#rpc.request('authenticate', { methodId }, { signal });
  }

  /** `session/new`. @param cwd absolute. @throws ParleyError `protocol-violation`; RpcError, -32000 where the user must sign in first. */
  async newSession(cwd: string, signal: AbortSignal): Promise<OpenedSession> {
    const raw = await this.#rpc.request('session/new', { cwd, mcpServers: [] }, { signal });
    const parsed = newSessionResultSchema.safeParse(raw);
    if (!parsed.success) {
      throw new ParleyError('protocol-violation', 'its answer to session/new has no session id', {
        cause: parsed.error,
      });
    }
    const { sessionId, modes, configOptions } = parsed.data;
    return { sessionId, modes, configOptions };
  }

  /**
   * `session/prompt`: resolves when the agent answers, which in v1 is the end of the turn.
   * @param onSent gets the id of the request as text, before anything that answers it can arrive.
   */
  async prompt(
    sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
  ): Promise<PromptAnswer> {
    const raw = await this.#rpc.request(
      'session/prompt',
      { sessionId, prompt: prompt.map(toWire) },
      { onSent: (id) => onSent(String(id)) },
    );
    const parsed = promptResultSchema.safeParse(raw);
    if (!parsed.success || !parsed.data) return { stopReason: undefined };
    const { stopReason, usage } = parsed.data;
    return { stopReason: readStopReason(stopReason), ...(usage && { tokens: usage.totalTokens }) };
  }

  /** `session/cancel`, a notification: the turn still ends by the answer to its prompt. */
  cancel(sessionId: string): Promise<void> {
    return this.#rpc.notify('session/cancel', { sessionId });
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.#rpc.request('session/set_mode', { sessionId, modeId });
  }

  /** `session/set_config_option`. @returns the full raw list of options after the change. */
  async setConfigOption(sessionId: string, configId: string, value: string | boolean): Promise<unknown> {
    const params =
      typeof value === 'boolean' ? { sessionId, configId, type: 'boolean', value } : { sessionId, configId, value };
    return at(await this.#rpc.request('session/set_config_option', params), 'configOptions');
  }
}

/** Content as it goes out (section 1.4). */
function toWire(block: ContentBlock): unknown {
  if (block.type === 'resource') {
    const { uri, text, blob, mimeType } = block;
    return {
      type: 'resource',
      resource: {
        uri,
        ...(text !== undefined && { text }),
        ...(blob !== undefined && { blob }),
        ...(mimeType && { mimeType }),
      },
    };
  }
  return block.type === 'unknown' ? block.raw : block;
}

/** Whether an agent takes this kind of content in a prompt. */
export function takes(capabilities: PromptCapabilities, block: ContentBlock): boolean {
  switch (block.type) {
    case 'text':
    case 'resource_link':
      return true;
    case 'image':
      return capabilities.image;
    case 'audio':
      return capabilities.audio;
    case 'resource':
      return capabilities.embeddedContext;
    case 'unknown':
      return false;
  }
}

function toAuthMethod(raw: unknown): AuthMethod[] {
  const parsed = authMethodSchema.safeParse(raw);
  if (!parsed.success) return [];
  const { id, name, description, type } = parsed.data;
  return [{ id, name: name ?? id, type: type ?? 'agent', ...(description && { description }) }];
}
