// A link to an HTTP agent. Each request stands alone, so there is no connection to lose: a failure
// fails its prompt.
import type {
  AgentDescription,
  Dialect,
  PromptAnswer,
  SessionOffer,
  SessionSetup,
  UpdateTargets,
} from '../../acp/protocol/dialect';
import { UpdateRouter } from '../../acp/protocol/earlyUpdates';
import type { CommunicationAgent } from '../../agents/agentDefinition';
import { toDisposable } from '../../base/disposable';
import { errorText, messageOf, ParleyError } from '../../base/errors';
import type { Event } from '../../base/event';
import { framed, type Localizable, localizable, mapForeign, withoutFullStop } from '../../base/localizable';
import type { Log } from '../../base/log';
import { withTimeout } from '../../base/within';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import type { AgentLink } from '../ports/agentLink';
import {
  type AgentEndpoint,
  AgentServerError,
  CommunicationClient,
  type FetchLike,
  type Traffic,
} from '../ports/agentServers';
import { type AgentManifest, mintId } from '../ports/messages';
import { redactSignatures } from '../ports/resources';
import { type RemoteAccess, resolveRemote, scrubbedLog, scrubber } from '../transport/remoteTarget';
import type { Stages } from '../transport/stages';
import type { CommunicationChat } from './communicationChat';

const MAX_NAMES = 20;

/** `GET /ping`. A server without it may still be an agent server. @throws AgentServerError */
export async function reachServer(client: CommunicationClient, signal: AbortSignal): Promise<void> {
  try {
    await client.ping(signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** @throws ParleyError `agent-unknown` with known names, `not-an-agent-server`; AgentServerError */
export async function findAgent(
  client: CommunicationClient,
  name: string,
  signal: AbortSignal,
): Promise<AgentManifest> {
  try {
    return await client.agent(name, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ParleyError(
      'agent-unknown',
      localizable('The agent server at {0} has no agent “{1}”.', client.origin, name),
      {
        hint: await adviceFor(client, signal),
        cause: error,
      },
    );
  }
}

async function adviceFor(client: CommunicationClient, signal: AbortSignal): Promise<Localizable> {
  let names: readonly string[];
  try {
    names = (await client.agents({ limit: 100 }, signal)).map(({ name }) => name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ParleyError(
      'not-an-agent-server',
      localizable("{0} isn't an Agent Communication Protocol server.", client.baseUrl),
      { hint: localizable('Check the “url” of the agent in parley.agents.'), cause: error },
    );
  }
  if (names.length === 0) return localizable('It has no agents.');
  const listed = names.slice(0, MAX_NAMES).join(', ');
  const more = names.length - MAX_NAMES;
  const has = more > 0 ? localizable('It has {0} and {1} more.', listed, more) : localizable('It has {0}.', listed);
  return framed('{0} {1}', has, localizable('Correct “agent” in parley.agents.'));
}

export function describeAgent(manifest: AgentManifest): AgentDescription {
  const types = manifest.input_content_types ?? ['*/*'];
  const takes = (kind: string): boolean =>
    types.some((type) => type.startsWith('*') || type.toLowerCase().startsWith(`${kind}/`));
  return {
    protocol: 'communication',
    name: manifest.name,
    features: {
      prompt: {
        image: takes('image'),
        audio: takes('audio'),
        // A file is a separate part of any type; a server that accepts only plain text gets it as
        // text.
        embeddedContext: types.some((type) => type.startsWith('*') || type.toLowerCase() === 'text/*'),
      },
      resume: {},
      carried: {},
    },
    authMethods: [],
    raw: manifest,
  };
}

function isNotFound(error: unknown): boolean {
  return error instanceof AgentServerError && error.status === 404;
}

const STOP_MS = 1500;
const credentialsHint = (): Localizable =>
  localizable(
    'Check the “headers” of the agent in parley.agents. To enter their secrets again, clear the saved credentials with “Parley: Manage Agents…”.',
  );

export interface LookUpOptions {
  readonly agent: CommunicationAgent;
  /** Absent: agents get no secrets, and no messages are sent unencrypted. */
  readonly remote?: RemoteAccess | undefined;
  readonly fetch?: FetchLike;
  readonly log: Log;
  readonly onTraffic?: Traffic | undefined;
}

export interface CommunicationLinkOptions extends LookUpOptions {
  readonly chat: CommunicationChat;
}

interface FoundAgent {
  readonly log: Log;
  readonly scrub: (text: string) => string;
  readonly client: CommunicationClient;
  readonly description: AgentDescription;
}

/** Stages: `resolve`, `connect` (`GET /ping`), `initialize` (`GET /agents/{name}`). */
export async function lookUpAgent(options: LookUpOptions, stages: Stages, signal: AbortSignal): Promise<FoundAgent> {
  const { agent, remote, onTraffic } = options;
  let scrub = (text: string): string => text;
  try {
    // The user may take any time to enter a secret.
    const resolve = (stop: AbortSignal) => resolveRemote(agent, remote, stop);
    const { url, headers } = await stages.run('resolve', signal, resolve, 'sign-in');
    scrub = scrubber(headers);
    const log = scrubbedLog(options.log, scrub);
    const client = new CommunicationClient({
      baseUrl: url.href,
      headers: (origin) => (origin === url.origin ? headers : {}),
      log,
      onTraffic: onTraffic && ((dir, line) => onTraffic(dir, redactSignatures(scrub(line)))),
      fetch: options.fetch,
    });
    await stages.run('connect', signal, (stop) => reachServer(client, stop));
    const manifest = await stages.run('initialize', signal, (stop) => findAgent(client, agent.agent, stop));
    return { log, scrub, client, description: describeAgent(manifest) };
  } catch (error) {
    if (signal.aborted) throw error;
    throw withAgentName(error, agent.name, scrub);
  }
}

export class CommunicationLink implements AgentLink {
  readonly router: UpdateRouter;
  readonly description: AgentDescription;
  readonly dialect: CommunicationDialect;
  /** Never fires: prompts fail instead. */
  readonly onDidEnd: Event<ParleyError> = () => toDisposable(() => {});
  readonly #name: string;
  readonly #log: Log;
  readonly #scrub: (text: string) => string;
  #closed = false;

  private constructor({ agent, chat }: CommunicationLinkOptions, { log, scrub, client, description }: FoundAgent) {
    this.#name = agent.name;
    this.#log = log;
    this.#scrub = scrub;
    this.description = description;
    this.router = new UpdateRouter((sentence) => log.warn(sentence));
    this.dialect = new CommunicationDialect({
      endpoint: { client, agentName: agent.agent },
      chat,
      scrub,
      route: (sessionId, event) => this.router.route([{ sessionId, update: event }]),
    });
  }

  static async open(
    options: CommunicationLinkOptions,
    stages: Stages,
    signal: AbortSignal,
  ): Promise<CommunicationLink> {
    return new CommunicationLink(options, await lookUpAgent(options, stages, signal));
  }

  get isAlive(): boolean {
    return !this.#closed;
  }

  throwIfEnded(): void {
    // An HTTP agent never ends by itself.
  }

  until<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    return run(signal);
  }

  async describe(error: unknown): Promise<ParleyError> {
    return withAgentName(error, this.#name, this.#scrub);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await withTimeout(STOP_MS, () => this.dialect.stopRun()).catch((error: unknown) =>
      this.#log.info(`The run of ${this.#name} was left: ${messageOf(error)}`),
    );
    await this.dialect.abandon();
  }

  dispose(): void {
    this.#closed = true;
    void this.dialect.abandon();
  }
}

/** The text may quote the server. */
function withAgentName(error: unknown, agent: string, scrub: (text: string) => string): ParleyError {
  const [code, hint] = error instanceof ParleyError ? [error.code, error.texts.hint] : ['agent-error', undefined];
  const refused = code === 'agent-server-unauthorized' || code === 'agent-server-forbidden';
  const advice = refused ? credentialsHint() : hint;
  const text = withoutFullStop(mapForeign(errorText(error), scrub));
  const named = messageOf(error).startsWith(agent) ? framed('{0}.', text) : framed('{0}: {1}.', agent, text);
  return new ParleyError(code, named, { hint: advice || undefined, cause: error });
}

interface CommunicationDialectOptions {
  readonly endpoint: AgentEndpoint;
  readonly chat: CommunicationChat;
  readonly scrub: (text: string) => string;
  readonly route: (sessionId: string, event: SessionEvent) => void;
}

/** A prompt is a run, and the contents of a run already arrive as events. */
class CommunicationDialect implements Dialect {
  readonly protocol = 'communication';
  readonly #options: CommunicationDialectOptions;
  readonly #end = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(options: CommunicationDialectOptions) {
    this.#options = options;
  }

  async newSession(_setup: SessionSetup, _signal: AbortSignal): Promise<SessionOffer> {
    const { chat, endpoint } = this.#options;
    const sessionId = chat.begin(endpoint);
    this.#attach(sessionId);
    return { sessionId };
  }

  async resume(sessionId: string, _setup: SessionSetup, _replay: boolean, signal: AbortSignal): Promise<SessionOffer> {
    const { chat, endpoint } = this.#options;
    this.#attach(sessionId);
    await chat.open(sessionId, endpoint, signal);
    return { sessionId };
  }

  /**
   * `POST /runs`, or `POST /runs/{id}` to answer.
   * @throws as `CommunicationSession.send`
   */
  async prompt(
    _sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
  ): Promise<PromptAnswer> {
    onSent(mintId());
    const running = this.#options.chat.send(prompt, this.#end.signal);
    this.#running = running;
    try {
      const { stopReason, isAwaiting } = await running;
      return { ends: true, stopReason, note: isAwaiting ? 'awaits-answer' : undefined };
    } catch (error) {
      throw this.#scrubbed(error);
    } finally {
      this.#running = undefined;
    }
  }

  async cancel(_sessionId: string): Promise<void> {
    await this.#options.chat.cancel();
  }

  isAsking(_sessionId: string): boolean {
    return this.#options.chat.isAsking;
  }

  readUpdates(updates: readonly unknown[], { emit }: UpdateTargets): void {
    for (const update of updates) emit(update as SessionEvent);
  }

  /** Stops a run whose end wouldn't be seen. A question stays, as it may be answered later. */
  async stopRun(): Promise<void> {
    if (!this.#running) return;
    await this.#options.chat.cancel();
    await this.#running;
  }

  async abandon(): Promise<void> {
    this.#end.abort(new ParleyError('connection-closed', localizable('The connection to the agent was closed.')));
    await this.#running?.catch(() => undefined);
  }

  #scrubbed(error: unknown): unknown {
    if (!(error instanceof ParleyError)) return error;
    const { message, ...hint } = error.texts;
    return new ParleyError(error.code, mapForeign(message, this.#options.scrub), { ...hint, cause: error });
  }

  #attach(sessionId: string): void {
    const { chat, route } = this.#options;
    chat.attach((event) => route(sessionId, event));
  }
}
