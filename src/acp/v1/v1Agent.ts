// The v1 dialect: requests and answers specific to v1, validated (the others are in rpcAgent.ts).
// Stable and unstable methods, each by its capability.

import * as l10n from '@vscode/l10n';
import { at } from '../../base/untrusted';
import type { ConfigOption, SessionMode } from '../../session/events/content';
import type { RpcCaller } from '../jsonrpc/rpcConnection';
import { readStopReason } from '../proposals/turnComplete';
import type {
  AuthMethod,
  PermissionAsk,
  PromptAnswer,
  SessionOffer,
  SessionSetup,
  UpdateTargets,
} from '../protocol/dialect';
import { toConfigOptions, toToolPatch } from '../protocol/readContent';
import { RpcAgent, rejectMissing } from '../protocol/rpcAgent';
import { readPermissionRequest, readTokens, toPermissionOptions } from '../protocol/sessionWire';
import { tokensOfQuota } from '../quirks/gemini';
import { unlistedModes } from '../quirks/grok';
import { withParent } from '../quirks/parentCall';
import { readAuthMethods } from './v1Description';
import { applyUpdates, MODEL_OPTION, type ModelOption, toModelOption, toModes } from './v1Events';
import { permissionRequestSchema, promptResultSchema } from './v1Schema';

export class V1Agent extends RpcAgent {
  readonly protocol = 1;
  protected readonly stdio = {};
  #models: ModelOption | undefined;
  #configOptions: readonly ConfigOption[] = [];
  /** Modes that the agent accepts but does not list. */
  readonly #unlistedModes: SessionOffer['modes'];
  #mode: string | undefined;

  constructor(rpc: RpcCaller, initializeResult?: unknown) {
    super(rpc);
    this.#unlistedModes = unlistedModes(initializeResult);
  }

  /** `authenticate` (section 1.9), for methods that the agent carries out itself. */
  async login(methodId: string, signal: AbortSignal, meta?: Readonly<Record<string, unknown>>): Promise<void> {
    await this.rpc.request('authenticate', { methodId, _meta: meta }, { signal });
  }

  methodsIn(data: unknown): readonly AuthMethod[] {
    return readAuthMethods(at(data, 'authMethods'));
  }

  async logout(signal: AbortSignal): Promise<void> {
    await this.rpc.request('logout', {}, { signal });
  }

  load(sessionId: string, setup: SessionSetup, signal: AbortSignal): Promise<SessionOffer> {
    return this.reopen('session/load', sessionId, setup, {}, signal);
  }

  resume(sessionId: string, setup: SessionSetup, _replay: boolean, signal: AbortSignal): Promise<SessionOffer> {
    return this.reopen('session/resume', sessionId, setup, {}, signal);
  }

  /** Not in v1. Throws RpcError -32601. */
  cancelTool(_sessionId: string, _toolCallId: string): Promise<void> {
    return rejectMissing(l10n.t("This agent can't stop a single tool call"));
  }

  /** Not in v1. Throws RpcError -32601. */
  cancelTerminal(_sessionId: string, _terminalId: string): Promise<void> {
    return rejectMissing(l10n.t("This agent can't stop a single terminal"));
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.rpc.request('session/set_mode', { sessionId, modeId });
  }

  readUpdates(updates: readonly unknown[], targets: UpdateTargets): void {
    if (!this.#models && !this.#unlistedModes) {
      applyUpdates(updates, targets);
      return;
    }
    const emit: UpdateTargets['emit'] = (event) => {
      if (event.type === 'mode') this.#mode = event.current;
      targets.emit(event.type === 'config' ? { ...event, options: this.#withModels(event.options) } : event);
    };
    applyUpdates(updates, { ...targets, emit });
  }

  override async setConfigOption(
    sessionId: string,
    configId: string,
    value: string | boolean,
  ): Promise<readonly ConfigOption[] | undefined> {
    if (!this.#models || configId !== MODEL_OPTION) {
      const options = await super.setConfigOption(sessionId, configId, value);
      return options && this.#withModels(options);
    }
    const modelId = String(value);
    await this.rpc.request('session/set_model', { sessionId, modelId });
    this.#models = { ...this.#models, value: modelId };
    return this.#withModels(this.#configOptions);
  }

  /** Section 1.6. */
  readPermission(params: unknown): PermissionAsk {
    const { toolCall, options } = readPermissionRequest(permissionRequestSchema, params);
    const patch = withParent(toToolPatch(toolCall), toolCall._meta);
    return {
      toolCallId: toolCall.toolCallId,
      patch,
      title: patch.title ?? l10n.t('The agent asks for permission'),
      options: toPermissionOptions(options),
    };
  }

  readAnswer(raw: unknown): PromptAnswer {
    const parsed = promptResultSchema.safeParse(raw);
    if (!parsed.success || !parsed.data) return { ends: true };
    const { stopReason, usage, messageId } = parsed.data;
    return {
      ends: true,
      stopReason: readStopReason(stopReason),
      ...readTokens(usage ?? tokensOfQuota(raw)),
      messageId,
    };
  }

  /**
   * Offers modes and models besides config options unless an option has their category. Section
   * 1.12 lets a client ignore them then, but some agents have no other way to leave an unattended
   * mode. Modes that are the values of an option are chosen by it, whatever its category.
   */
  readOffer(sessionId: string, raw: unknown): SessionOffer {
    this.#models = toModelOption(at(raw, 'models'));
    const config = this.#withModels(toConfigOptions(at(raw, 'configOptions')));
    const listed = toModes(at(raw, 'modes'));
    const modes =
      listed ?? (this.#unlistedModes && { ...this.#unlistedModes, current: this.#mode ?? this.#unlistedModes.current });
    const isOption = hasOptionFor(config, 'mode') || config.some((option) => hasAll(option, modes?.modes));
    return { sessionId, config: config.length > 0 ? config : undefined, modes: isOption ? undefined : modes };
  }

  #withModels(options: readonly ConfigOption[]): readonly ConfigOption[] {
    this.#configOptions = options.filter(({ id }) => id !== MODEL_OPTION);
    return this.#models && !hasOptionFor(this.#configOptions, 'model')
      ? [...this.#configOptions, this.#models]
      : this.#configOptions;
  }

  protected readOptions(options: readonly unknown[]): readonly ConfigOption[] {
    return toConfigOptions(options);
  }

  protected typeField(value: string | boolean): { readonly type?: string } {
    return typeof value === 'boolean' ? { type: 'boolean' } : {};
  }
}

/** Some agents omit the category. */
function hasOptionFor(options: readonly ConfigOption[], what: 'mode' | 'model'): boolean {
  return options.some(({ id, category }) => category === what || id === what);
}

function hasAll(option: ConfigOption, modes: readonly SessionMode[] = []): boolean {
  if (option.type !== 'select' || modes.length === 0) return false;
  return modes.every(({ id }) => option.values.some(({ value }) => value === id));
}
