// A link to one running ACP agent: its transport, connection, description and session router.
// Opening it runs the first three stages of a start.

import { initialize, initialized, type ProtocolVersion } from '../../acp/initialize';
import { type RpcCaller, RpcConnection, type RpcHandlers } from '../../acp/jsonrpc/rpcConnection';
import { type StateHolder, stateful } from '../../acp/proposals/sessionState';
import { type AuthStatus, readAuthUpdate } from '../../acp/protocol/authStatus';
import type { AgentDescription, Dialect } from '../../acp/protocol/dialect';
import { UpdateRouter } from '../../acp/protocol/earlyUpdates';
import { traced } from '../../acp/protocol/traceContext';
import { REMOTE_LOST } from '../../acp/transport/remoteError';
import { type AgentExit, describeExit } from '../../agents/agentProcess';
import { nodeTooOld } from '../../agents/nodeVersion';
import { Deferred } from '../../base/deferred';
import { errorText, ParleyError } from '../../base/errors';
import { Emitter } from '../../base/event';
import { framed, type LocalizableText, localizable, mapForeign, withoutFullStop } from '../../base/localizable';
import { knownSecrets, redact } from '../../base/redact';
import { within } from '../../base/within';
import type { TrafficKind } from '../../traffic/trafficLog';
import type { AgentLink } from '../ports/agentLink';
import { type ClientCapabilities, clientCapabilitiesOf, refusingOthers } from '../ports/clientCapabilities';
import type { KeptAgent } from '../ports/keptAgent';
import { type AgentTransport, type AgentTransportOptions, startTransport } from './agentTransport';
import { type KeptFacts, KeptLink, readFacts } from './keptFacts';
import { ProtocolOffers } from './protocolOffers';
import { scrubbedLog } from './remoteTarget';
import type { Stages } from './stages';
import { StartGate } from './startGate';

const startGate = new StartGate();

const STDERR_LINES = 20;
const EXIT_AFTER_CLOSE_MS = 1500;

export interface LinkOptions extends AgentTransportOptions {
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  readonly onRequest: RpcHandlers['onRequest'];
  readonly onNotification: RpcHandlers['onNotification'];
  readonly onTraffic?: ((kind: TrafficKind, line: string) => void) | undefined;
  readonly capabilities?: ClientCapabilities | undefined;
  readonly signInTerminal?: boolean;
  readonly suggestions?: boolean;
  readonly traceparent?: string | undefined;
  readonly state?: StateHolder | undefined;
  readonly offers?: ProtocolOffers | undefined;
}

function offered({ capabilities, agent }: LinkOptions): ClientCapabilities {
  return capabilities ?? clientCapabilitiesOf(agent);
}

function callerOf({ rpc }: RpcLink, { state, traceparent }: LinkOptions): RpcCaller {
  return stateful(traced(rpc, traceparent), state);
}

export class RpcLink implements AgentLink {
  readonly router: UpdateRouter;
  readonly rpc: RpcConnection;
  readonly kept: KeptLink | undefined;
  /** Defined once `open` has resolved. */
  description!: AgentDescription;
  dialect!: Dialect;
  authStatus: AuthStatus | undefined;
  readonly #transport: AgentTransport;
  readonly #name: string;
  readonly #didEnd = new Emitter<ParleyError>();
  /** Fired once; not after `dispose()`. */
  readonly onDidEnd = this.#didEnd.event;
  readonly #log: AgentTransportOptions['log'];
  /** How the agent ended; undefined: it was ended here. */
  readonly #endReason = new Deferred<ParleyError | undefined>();
  #noise = '';
  #ended: ParleyError | undefined;
  #closing = false;
  #isDetached = false;

  private constructor(transport: AgentTransport, options: LinkOptions, facts?: KeptFacts) {
    this.#transport = transport;
    this.#name = options.agent.name;
    const { onTraffic } = options;
    const { scrub = (text: string) => text } = transport;
    const clean = (text: string): string => knownSecrets.redact(scrub(text));
    const log = transport.scrub ? scrubbedLog(options.log, transport.scrub) : options.log;
    this.#log = log;
    this.router = new UpdateRouter((sentence) => log.warn(sentence));
    this.kept = transport.kept && this.#keptLink(transport.kept, facts);
    this.rpc = new RpcConnection({
      firstId: facts?.nextId,
      onRequestSent: () => this.kept?.sendFacts(),
      transport: transport.transport,
      log,
      handlers: {
        onUpdates: this.router.route,
        onRequest: refusingOthers(offered(options), (method, ...asked) => {
          options.offers?.used(options.agent, method);
          return options.onRequest(method, ...asked);
        }),
        onNotification: (method, params) => {
          this.authStatus = readAuthUpdate(method, params) ?? this.authStatus;
          options.onNotification(method, params);
        },
      },
      onNoise: (line) => {
        onTraffic?.('noise', scrub(line));
        this.#noise ||= clean(line.slice(0, 1_000)).slice(0, 200);
      },
      scrub: clean,
      onTraffic: onTraffic ? (dir: 'in' | 'out', line: string) => onTraffic(dir, scrub(line)) : undefined,
    });
    const handled = new Promise<void>((resolve) => this.rpc.onDidClose(() => resolve()));
    this.rpc.onDidClose((error) => void this.#onClosed(error));
    void transport.exited.then(async (exit) => {
      // Exits are reported after all earlier messages, which may include the end of a turn.
      if (exit instanceof ParleyError) return;
      await within(EXIT_AFTER_CLOSE_MS, handled);
      this.#end(await this.#exitError(exit));
    });
  }

  /**
   * Starts or reaches the agent, and initializes the connection: stages `resolve`, `spawn` or
   * `connect`, `initialize`.
   * @throws ParleyError with the last stderr lines, or `protocol-version`; nothing is left running
   */
  static async open(options: LinkOptions, stages: Stages, signal: AbortSignal): Promise<RpcLink> {
    if (options.agent.type === 'remote') return RpcLink.#openWithRestart(options, stages, signal);
    return startGate.run(signal, () => RpcLink.#openWithRestart(options, stages, signal));
  }

  static async #openWithRestart(options: LinkOptions, stages: Stages, signal: AbortSignal): Promise<RpcLink> {
    const { agent, offers = new ProtocolOffers() } = options;
    let { offer } = offers.choiceOf(agent);
    let opened = await RpcLink.#open(options, offer, stages, signal);
    if (!(opened instanceof RpcLink)) {
      // Restarts the agent with the protocol version it asked for.
      offer = opened;
      options.log.info(`${agent.name} is started again and offered protocol version ${offer}`);
      stages.reset();
      opened = await RpcLink.#open(options, offer, stages, signal);
    }
    if (!(opened instanceof RpcLink))
      throw new ParleyError(
        'protocol-version',
        localizable('{0} supports no common version of the protocol.', agent.name),
        { hint: localizable('Set "protocol" to 1 for the agent in parley.agents.') },
      );
    offers.learned(agent, offer, opened.description.version);
    return opened;
  }

  /**
   * Attaches to the agent of an earlier window, without delivering anything yet.
   * @throws Error if it has ended or was not initialized, for the log
   */
  static async attach(
    options: LinkOptions & { readonly keeper: NonNullable<LinkOptions['keeper']> },
    signal: AbortSignal,
  ): Promise<RpcLink> {
    const { keeper, onTraffic, log } = options;
    const onStderr = onTraffic && ((line: string) => onTraffic('stderr', line));
    const transport = await keeper.keepers.attach(keeper.about.session, { log, onStderr });
    if (!transport) throw new Error('its keeper is gone');
    if (signal.aborted) await transport.kept.detach();
    signal.throwIfAborted();
    const facts = readFacts(transport.kept.facts);
    const link = facts && new RpcLink(transport, options, facts);
    const description = link && initialized(facts?.initialize, callerOf(link, options));
    if (link && description) {
      link.kept?.initialized(facts?.initialize);
      link.description = description.description;
      link.dialect = description.dialect;
      return link;
    }
    await (link ?? transport).close();
    throw new Error('it was not initialized');
  }

  /** @returns the version to offer after a restart; the agent has ended then */
  static async #open(
    options: LinkOptions,
    offer: ProtocolVersion,
    stages: Stages,
    signal: AbortSignal,
  ): Promise<RpcLink | ProtocolVersion> {
    const { onTraffic } = options;
    const onStderr = onTraffic && ((line: string) => onTraffic('stderr', line));
    const transport = await startTransport({ ...options, onStderr }, stages, signal);
    const link = new RpcLink(transport, options);
    try {
      const { client, state, signInTerminal = false, suggestions = false } = options;
      const capabilities = { ...offered(options), signInTerminal, suggestions, state: state !== undefined };
      const caller = callerOf(link, options);
      const started = await stages.run('initialize', signal, (stop) =>
        link.until((inner) => initialize(caller, { client, capabilities, offer }, inner), stop),
      );
      if (started.kind === 'again') {
        await link.close();
        return started.offer;
      }
      link.description = started.description;
      link.dialect = started.dialect;
      link.kept?.initialized(started.description.raw);
      return link;
    } catch (error) {
      if (!signal.aborted) options.offers?.failed(options.agent, offer);
      const described = await link.describe(error, 'initialize');
      link.dispose();
      throw described;
    }
  }

  get isAlive(): boolean {
    return this.#ended === undefined && !this.#closing;
  }

  throwIfEnded(): void {
    if (this.#ended) throw this.#ended;
  }

  /**
   * Runs a request. If the agent ends, it fails with the reason, not just with a closed connection.
   */
  async until<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await run(signal);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'connection-closed')
        throw (await this.#endReason.promise) ?? error;
      throw error;
    }
  }

  /** Adds the agent's name, the last stderr lines and a hint. */
  async describe(error: unknown, step: string): Promise<ParleyError> {
    if (this.#ended && error === this.#ended) return error as ParleyError;
    const stderr = redact(this.#transport.stderrTail(STDERR_LINES));
    const code = error instanceof ParleyError ? error.code : 'agent-error';
    const hint = error instanceof ParleyError ? error.texts.hint : undefined;
    const check = this.#isRemote
      ? localizable('Check its “url”.')
      : localizable('Check that the command starts the agent in its ACP mode.');
    const noise =
      this.#noise && localizable("It printed text that isn't a protocol message: “{0}”. {1}", this.#noise, check);
    const advice = hint ?? (noise || undefined);
    const message =
      error instanceof ParleyError && error.message.startsWith(this.#name)
        ? error.texts.message
        : localizable('{0}: {1} failed: {2}.', this.#name, step, withoutFullStop(errorText(error)));
    return new ParleyError(code, message, {
      hint: advice || undefined,
      stderr: stderr || undefined,
      cause: error,
    });
  }

  async close(): Promise<void> {
    if (this.#isDetached) return;
    this.#closing = true;
    this.#endReason.resolve(this.#ended);
    this.rpc.dispose();
    await this.#transport.close();
  }

  dispose(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#endReason.resolve(this.#ended);
    this.#didEnd.dispose();
    this.rpc.dispose();
    this.#transport.dispose();
  }

  #keptLink(agent: KeptAgent, facts: KeptFacts | undefined): KeptLink {
    const detach = async (): Promise<void> => {
      this.#isDetached = true;
      this.#closing = true;
      this.#endReason.resolve(this.#ended);
      await agent.detach();
      this.rpc.dispose();
    };
    return new KeptLink(agent, () => this.rpc, detach, facts);
  }

  get #isRemote(): boolean {
    return this.#transport.pid === undefined;
  }

  /** stdout has closed: usually the process is about to exit. If not, it is unusable. */
  async #onClosed(error: ParleyError | undefined): Promise<void> {
    if (this.#isRemote && error?.code === 'connection-closed') {
      const why = await this.#transport.exited;
      if (why instanceof ParleyError) this.#end(this.#lostError(why));
      return;
    }
    if (error) {
      this.#end(
        this.#ending(
          error.code,
          localizable('{0} was stopped: {1}', this.#name, error.texts.message),
          localizable('Restart it. The log may have the reason.'),
        ),
      );
      await this.#transport.close();
      return;
    }
    if ((await within(EXIT_AFTER_CLOSE_MS, this.#transport.exited)) || this.#closing) return;
    this.#end(
      this.#ending(
        'agent-closed-output',
        localizable('{0} closed its output but kept running, so it was stopped.', this.#name),
        localizable('Restart it.'),
      ),
    );
    await this.#transport.close();
  }

  /** Only errors that reconnecting may cure are called lost; others need the user. */
  #lostError({ code, texts }: ParleyError): ParleyError {
    const { message, hint = localizable('Reconnect to it.') } = texts;
    if (this.description === undefined) return this.#ending(code, framed('{0}: {1}.', this.#name, message), hint);
    const sentence = localizable('The connection to {0} was lost: {1}.', this.#name, message);
    const scrub = (text: string): string => knownSecrets.redact(this.#transport.scrub?.(text) ?? text);
    return this.#ending(code === REMOTE_LOST ? 'connection-lost' : code, mapForeign(sentence, scrub), hint);
  }

  async #exitError(exit: AgentExit): Promise<ParleyError> {
    const old = this.description ? undefined : await nodeTooOld(this.#transport.stderrTail(STDERR_LINES));
    const hint = old
      ? localizable(
          'It needs Node.js {0} or later, and ran with {1}.',
          old.needs,
          old.has ?? localizable('an older one'),
        )
      : localizable('Restart it, or see the agent output.');
    const code = exit.isDismissed ? 'agent-dismissed' : 'agent-exited';
    return this.#ending(code, framed('{0} {1}.', this.#name, describeExit(exit)), hint, old ? '' : this.#noise);
  }

  #ending(code: string, message: LocalizableText, hint: LocalizableText, noise = this.#noise): ParleyError {
    const stderr = redact(this.#transport.stderrTail(STDERR_LINES));
    const shownHint = noise ? localizable("It printed text that isn't a protocol message: “{0}”.", noise) : hint;
    return new ParleyError(code, message, { hint: shownHint, stderr: stderr || undefined });
  }

  #end(error: ParleyError): void {
    if (this.#ended || this.#closing) return;
    this.#ended = error;
    this.#endReason.resolve(error);
    this.#log.warn(`${error.message}${error.stderr ? `\n${error.stderr}` : ''}`);
    this.#didEnd.fire(error);
  }
}
