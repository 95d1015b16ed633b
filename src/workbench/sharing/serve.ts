// The local server of this window (Agent Communication Protocol, loopback only), started by
// settings or by sharing a session. Serves chosen agents and the messages of the local store.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Command, type ExtensionContext, env, l10n, type SecretStorage, Uri, workspace } from 'vscode';
import { missingFileReadsEmpty } from '../../acp/quirks/gemini';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Configured, type Disposable, Part } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import { Conversation } from '../../client/conversation/conversation';
import type { ConversationServices } from '../../client/conversation/conversationOptions';
import { AgentFiles } from '../../client/requests/agentFiles';
import { ServedConversations, servedName } from '../../client/serving/servedConversations';
import { Guard, type NetworkPolicy } from '../../distributed/fetch/guard';
import { Resolver } from '../../distributed/fetch/resolver';
import type { ResourceCache } from '../../distributed/fetch/resourceCache';
import { gapSentence } from '../../distributed/model/gap';
import type { ResourceStore } from '../../distributed/model/resources';
import { type PublicAddress, readPublicAddress } from '../../distributed/model/resourceUrl';
import { AgentServer } from '../../distributed/server/agentServer';
import { type PastMessage, readTexts, type ServedAgent, servedPast } from '../../distributed/server/servedAgent';
import { mintToken } from '../../distributed/server/serverRequest';
import { SessionFiles } from '../../distributed/server/serverSessionFiles';
import { LocalStore } from '../../distributed/stores/localStore';
import type { AgentCatalog } from '../config/agentCatalog';
import { serverSettings } from '../config/settings';
import { EditorFiles } from '../editor/editorFiles';
import { sessionFolders } from '../sessions/sessionFolders';
import { StatusItem } from '../ui/statusItem';

interface ServeOptions {
  readonly context: ExtensionContext;
  readonly catalog: AgentCatalog;
  readonly services: ConversationServices;
  readonly scratch: string;
  readonly cache: ResourceCache;
  /** For reading the user's own sessions, which may be stored in the same places as callers'. */
  readonly reading: {
    readonly policy: () => NetworkPolicy;
    readonly stores: () => Promise<readonly ResourceStore[]>;
  };
  readonly log: Log;
}

const TOKEN = 'parley.server.token';
const SIGNING = 'parley.server.resourceSecret';

const EXTERNAL_MS = 10_000;
const MAX_UNREAD = 3;

interface Running {
  readonly server: AgentServer;
  readonly baseUrl: string;
  publicAddress: PublicAddress | undefined;
  readonly port: number;
  readonly guard: Guard;
}

export class Serve extends Part<ServeOptions> {
  readonly #agents: ServedAgents;
  readonly #status = new ServeStatus();
  #store: Promise<LocalStore> | undefined;
  #running: Running | undefined;
  #isShared = false;
  #isEnded = false;
  #transition: Promise<void> = Promise.resolve();
  #failure: ParleyError | undefined;
  #problems: readonly string[] = [];
  /** Why messages of callers' sessions could not be read, newest first. */
  #readFailures: readonly string[] = [];

  constructor(options: ServeOptions) {
    super(options);
    this.#agents = new ServedAgents(options);
    this.own(this.#status);
    this.own(
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('parley.server') || change.affectsConfiguration('parley.agents'))
          void this.#follow();
      }),
    );
    this.own(workspace.onDidGrantWorkspaceTrust(() => void this.#follow()));
    void this.#follow();
  }

  /** @throws ParleyError `untrusted-workspace`, `port-taken`, `not-serving` */
  async ensureResourceServer(): Promise<void> {
    if (!workspace.isTrusted) {
      throw new ParleyError(
        'untrusted-workspace',
        localizable("Sessions can't be shared from an untrusted workspace."),
      );
    }
    this.#isShared = true;
    await this.#follow();
    this.address();
  }

  localStore(): Promise<LocalStore> {
    const { context } = this.options;
    this.#store ??= signingSecret(context.secrets).then((secret) => {
      const folder = join(context.globalStorageUri.fsPath, 'resources');
      return new LocalStore({ folder, secret, baseUrl: () => this.#address });
    });
    return this.#store;
  }

  /** Returns `http://127.0.0.1:port`, or the public address. @throws ParleyError `not-serving` */
  address(): string {
    if (this.#address !== undefined) return this.#address;
    if (this.#failure) throw this.#failure;
    throw notServing();
  }

  get origin(): string | undefined {
    return this.#running?.baseUrl;
  }

  /** Prefix of links to messages on this machine, also before the server runs. */
  get linkBase(): string {
    return this.#address ?? configuredAddress(serverSettings().publicUrl)?.base ?? 'http://127.0.0.1:65535';
  }

  token(): Promise<string> {
    return storedOrNew(this.options.context.secrets, TOKEN, mintToken);
  }

  settled(): Promise<void> {
    return this.#transition;
  }

  async stop(): Promise<void> {
    this.#isEnded = true;
    await this.#follow();
    super.dispose();
  }

  override dispose(): void {
    void this.stop();
  }

  get #address(): string | undefined {
    return this.#running?.publicAddress?.base ?? this.#running?.baseUrl;
  }

  #follow(): Promise<void> {
    this.#transition = this.#transition.then(() =>
      this.#change().catch((error: unknown) => this.options.log.error(`The local server: ${messageOf(error)}`)),
    );
    return this.#transition;
  }

  async #change(): Promise<void> {
    const { log } = this.options;
    const { enabled, agents, port, publicUrl } = serverSettings();
    const canServe = workspace.isTrusted && !this.#isEnded;
    const serves = canServe && enabled;
    const wanted = serves || (canServe && this.#isShared);
    if (this.#running && (!wanted || this.#running.port !== port)) await this.#end(this.#running);
    if (!serves) await this.#agents.closeAll();
    const problems = serves ? [...this.#agents.choose(agents)] : [];
    this.#failure = undefined;
    if (wanted && !this.#running) {
      try {
        this.#running = await this.#start(port);
        log.info(`The local server listens at ${this.#running.baseUrl}`);
      } catch (error) {
        this.#failure =
          error instanceof ParleyError ? error : new ParleyError('not-serving', messageOf(error), { cause: error });
        log.warn(this.#failure.message);
      }
    }
    if (this.#running) {
      try {
        this.#running.publicAddress = await publicAddressOf(publicUrl, this.#running.baseUrl);
      } catch (error) {
        this.#running.publicAddress = undefined;
        problems.push(messageOf(error));
      }
    }
    for (const problem of problems) log.warn(`parley.server: ${problem}`);
    this.#problems = problems;
    this.#readFailures = [];
    this.#show();
  }

  #noteGaps(past: readonly PastMessage[]): void {
    const reasons = past.flatMap((entry) => (entry.kind === 'gap' ? [entry.reason] : []));
    if (reasons.length === 0) return;
    this.#readFailures = [...new Set([...reasons, ...this.#readFailures])].slice(0, MAX_UNREAD);
    this.#show();
  }

  #show(): void {
    if (this.#failure) this.#status.show({ kind: 'failed', why: this.#failure.message });
    else if (!this.#running) this.#status.show({ kind: 'off' });
    else {
      const agents = this.#agents.list.map(({ name }) => name);
      const unread = this.#readFailures.map((why) => l10n.t("Messages of a served session can't be read: {0}", why));
      this.#status.show({ kind: 'on', address: this.address(), agents, problems: [...this.#problems, ...unread] });
    }
  }

  async #start(port: number): Promise<Running> {
    const { context, log, services, cache, reading } = this.options;
    const store = await this.localStore();
    // Callers choose the URLs of a history, so only origins named by the user are requested.
    const guard = new Guard({
      listedOnly: true,
      isAllowed: (origin) => reading.policy().isAllowed(origin),
      credentials: async (origin) => reading.policy().credentials?.(origin),
    });
    const resolver = async () => new Resolver({ guard, cache, stores: await reading.stores(), log });
    const server = new AgentServer({
      agents: () => this.#agents.list,
      token: await this.token(),
      stores: reading.stores,
      sessions: new SessionFiles({ folder: join(context.globalStorageUri.fsPath, 'served-sessions'), log }),
      publicAddress: () => this.#running?.publicAddress,
      serveResource: (id, exp, sig, signal) => store.serve(id, exp, sig, signal),
      // The settings may have changed by then.
      history: async (session, signal) => {
        const past = await servedPast(await resolver(), session, signal);
        this.#noteGaps(past);
        return past;
      },
      withTexts: async (messages, signal) => readTexts(await resolver(), messages, signal),
      state: async (url, signal) => {
        const found = await (await resolver()).resolveState(url, signal);
        return found.kind === 'state' ? found.bytes : gapSentence(found.reason, found.host);
      },
      now: services.clock.now,
      log,
    });
    try {
      return { server, baseUrl: await server.start(port), publicAddress: undefined, port, guard };
    } catch (error) {
      guard.dispose();
      throw error;
    }
  }

  async #end(running: Running): Promise<void> {
    // First cancels and records runs, whose records need the address.
    await running.server.stop();
    this.#running = undefined;
    await this.#agents.closeAll();
    running.guard.dispose();
  }
}

function configuredAddress(setting: string): PublicAddress | undefined {
  try {
    return readPublicAddress(setting);
  } catch {
    return undefined;
  }
}

async function publicAddressOf(setting: string, baseUrl: string): Promise<PublicAddress | undefined> {
  if (setting === '') return undefined;
  if (setting !== 'auto') return readPublicAddress(setting);
  let found = '';
  const asking = Promise.resolve(env.asExternalUri(Uri.parse(baseUrl))).then((uri) => {
    found = uri.toString(true);
  });
  if (!(await within(EXTERNAL_MS, asking))) {
    throw new ParleyError('no-forwarding', localizable("VS Code doesn't report how the server's port is forwarded."));
  }
  const address = readPublicAddress(found);
  return address.base === baseUrl ? undefined : address;
}

export function notServing(): ParleyError {
  return new ParleyError('not-serving', localizable('Nothing is shared right now.'), {
    hint: localizable('Turn on parley.server.enabled.'),
  });
}

/** 32 bytes that sign the URLs of messages, stored so that older links stay valid. */
async function signingSecret(secrets: SecretStorage): Promise<Uint8Array> {
  return Buffer.from(await storedOrNew(secrets, SIGNING, () => randomBytes(32).toString('base64')), 'base64');
}

async function storedOrNew(secrets: SecretStorage, key: string, make: () => string): Promise<string> {
  const stored = await secrets.get(key);
  if (stored) return stored;
  const made = make();
  await secrets.store(key, made);
  // Another window may have created one at the same time; the stored one wins.
  return (await secrets.get(key)) ?? made;
}

type ServeState =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'on';
      readonly address: string;
      readonly agents: readonly string[];
      readonly problems: readonly string[];
    }
  | { readonly kind: 'failed'; readonly why: string };

class ServeStatus implements Disposable {
  #item: StatusItem | undefined;

  show(state: ServeState): void {
    if (state.kind === 'off') {
      this.dispose();
      return;
    }
    this.#item ??= new StatusItem('parley.server');
    if (state.kind === 'failed') showFailure(this.#item, state.why);
    else showOn(this.#item, state);
  }

  dispose(): void {
    this.#item?.dispose();
    this.#item = undefined;
  }
}

function showOn(item: StatusItem, { address, agents, problems }: Extract<ServeState, { kind: 'on' }>): void {
  const count = agents.length;
  const text =
    count === 0
      ? l10n.t('Parley: Sharing')
      : count === 1
        ? l10n.t('Parley: Serving 1 agent')
        : l10n.t('Parley: Serving {0} agents', count);
  const subject = count === 0 ? l10n.t('Shared messages') : agents.join(', ');
  // The address is useful only to callers of agents.
  const click =
    count === 0 ? openServerSettings() : { command: 'parley.server.copyAddress', title: l10n.t('Copy Address') };
  const hint = count === 0 ? l10n.t('Select to open the settings.') : l10n.t('Select to copy the address.');
  item.show({
    name: l10n.t('Parley Server'),
    text: [{ icon: 'radio-tower' }, ` ${text}`],
    tooltip: [l10n.t('{0} at {1}', subject, address), ...problems, hint],
    command: click,
    isWarning: problems.length > 0,
  });
}

function showFailure(item: StatusItem, why: string): void {
  item.show({
    name: l10n.t('Parley Server'),
    text: [{ icon: 'warning' }, ` ${l10n.t('Parley Server: Error')}`],
    tooltip: [why, l10n.t('Select to open the settings.')],
    command: openServerSettings(),
    isWarning: true,
  });
}

function openServerSettings(): Command {
  return { title: l10n.t('Open Settings'), command: 'parley.openSettings', arguments: ['parley.server'] };
}

class ServedAgents extends Configured<ServeOptions> {
  readonly #services: ConversationServices;
  readonly #served = new Map<string, ServedConversations>();

  constructor(options: ServeOptions) {
    super(options);
    this.#services = withoutQuestions(options);
  }

  get list(): readonly ServedAgent[] {
    return [...this.#served.values()];
  }

  /** Serves these agents. @returns a message for each that can't be served */
  choose(ids: readonly string[]): readonly string[] {
    const problems: string[] = [];
    const wanted = new Set<string>();
    for (const id of ids) {
      const agent = this.#userAgent(id);
      if (agent?.type === 'process') wanted.add(id);
      else
        problems.push(
          agent
            ? l10n.t("“{0}” isn't served because it doesn't run on this machine.", id)
            : l10n.t("“{0}” isn't served because there is no such agent.", id),
        );
    }
    for (const [id, served] of this.#served) {
      if (wanted.has(id)) continue;
      this.#served.delete(id);
      served.dispose();
    }
    for (const id of wanted) if (!this.#served.has(id)) this.#served.set(id, this.#serve(id));
    return problems;
  }

  async closeAll(): Promise<void> {
    const served = [...this.#served.values()];
    this.#served.clear();
    await Promise.all(served.map((one) => one.closeAll()));
  }

  /** Agents of workspace files are not served. */
  #userAgent(id: string): AgentDefinition | undefined {
    return this.options.catalog.own().find((agent) => agent.id === id);
  }

  #serve(id: string): ServedConversations {
    const { log, scratch } = this.options;
    const name = servedName(id, new Set([...this.#served.values()].map((served) => served.name)));
    return new ServedConversations({
      name,
      description: `${this.#userAgent(id)?.name ?? id}, served by Parley.`,
      log,
      create: (key, state) => {
        const agent = this.#userAgent(id);
        if (agent?.type !== 'process') throw new ParleyError('not-served', 'The agent is no longer served.');
        const { cwd, roots } = sessionFolders(undefined, scratch);
        const services = { ...this.#services, agentState: () => state };
        return new Conversation({ key, agent, cwd, roots, services });
      },
    });
  }
}

/** Removes services that ask: MCP servers, secrets, sign-in, access outside the folders. */
function withoutQuestions({ services, catalog, log }: ServeOptions): ConversationServices {
  const { mcpServers: _mcp, editorTools: _tools, signInTerminal: _signIn, remote: _remote, ...others } = services;
  // Rules, options and instructions are for the user's sessions; changes can't be reviewed here.
  const { restarts: _restarts, changes: _changes, permissionRules: _rules, choices: _choices, ...own } = others;
  const { suggestions: _suggestions, systemPrompt: _instructions, ...rest } = own;
  const files = new EditorFiles({ log });
  return {
    ...rest,
    currentAgent: (id) => catalog.own().find((agent) => agent.id === id),
    filesFor: (agentName, initializeResult, given) =>
      new AgentFiles(
        files,
        { agentName, refusesQuestions: true, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) },
        given,
      ),
  };
}
