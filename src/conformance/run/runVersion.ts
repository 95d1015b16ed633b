// Checks an agent in one protocol version: up to three processes and a few turns.
import { randomUUID } from 'node:crypto';
import { at } from '../../base/untrusted';
import type { Offers, ProtocolVersion } from '../rules/rule';
import { offersOf } from '../rules/rule';
import { AUTH_REQUIRED } from '../rules/startRules';
import { UNKNOWN_METHOD } from '../rules/wireRules';
import type { WireLog } from '../wire/wireLog';
import { CheckConnection, type Reply } from './checkConnection';
import type { CheckLimits, CheckOptions, CheckPrompts } from './checkOptions';
import { CheckSession } from './checkSession';

const STATUS_CALLS = 20;

export interface VersionRun {
  readonly log: WireLog;
  readonly version: ProtocolVersion | undefined;
  readonly description: unknown;
  readonly stopped?: string;
}

export interface VersionContext {
  readonly options: CheckOptions;
  readonly offer: ProtocolVersion;
  readonly prompts: CheckPrompts;
  readonly limits: CheckLimits;
  readonly log: WireLog;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly judgedVersions: readonly ProtocolVersion[];
}

interface Opened {
  readonly connection: CheckConnection;
  readonly version: ProtocolVersion;
  readonly description: unknown;
  readonly offers: Offers;
}

/** Throws ParleyError if the agent can't be started; the reason of `signal`. */
export async function runVersion(context: VersionContext): Promise<VersionRun> {
  const { log, judgedVersions } = context;
  const { connection, opened } = await connect(context);
  if (!opened) {
    await connection.close();
    return { log, version: undefined, description: undefined };
  }
  const { version, description, offers } = opened;
  const found = { log, version, description };
  if (judgedVersions.includes(version)) {
    await connection.close();
    return found;
  }
  let first: FirstRun;
  try {
    first = await runFirstProcess(context, opened);
  } finally {
    await connection.close();
  }
  if (first.sessionId === undefined) return { ...found, stopped: first.stopped };
  if (offers.resume) await reopenSession(context, 'resume', first.sessionId);
  if (offers.load) await reopenSession(context, 'load', first.sessionId);
  return { ...found, stopped: first.stopped };
}

async function connect(context: VersionContext): Promise<{ connection: CheckConnection; opened: Opened | undefined }> {
  const { options, offer, log, limits, folder, signal } = context;
  options.onStep?.('start');
  const agent = await options.start(folder, signal);
  const connection = new CheckConnection({ agent, log, limits, folder, signal, onTraffic: options.onTraffic });
  const reply = await connection.initialize(options.client, offer);
  const description = reply.kind === 'result' ? reply.result : undefined;
  const version = at(description, 'protocolVersion');
  if (version !== 1 && version !== 2) return { connection, opened: undefined };
  if (options.signIn !== undefined)
    await connection.call(
      version === 2 ? 'auth/login' : 'authenticate',
      { methodId: options.signIn },
      limits.initialize,
    );
  return { connection, opened: { connection, version, description, offers: offersOf(description, version) } };
}

interface FirstRun {
  readonly sessionId?: string;
  readonly stopped?: string;
}

async function runFirstProcess(context: VersionContext, opened: Opened): Promise<FirstRun> {
  const { options, prompts, limits, folder } = context;
  const { connection, version, offers } = opened;
  const step = (name: Parameters<NonNullable<CheckOptions['onStep']>>[0]): void => options.onStep?.(name);
  await connection.call(UNKNOWN_METHOD, {});
  step('new');
  const reply = await connection.call('session/new', { cwd: folder, mcpServers: [] }, limits.initialize);
  const session = await startSession(context, opened, reply, undefined);
  if (!session) return { stopped: whyNoSession(reply, opened.description) };
  if (offers.status) {
    step('status');
    const isQuiet = await askStatus(session);
    const unknown = `parley-check-${randomUUID()}`;
    for (let call = 0; call < 2; call++) await connection.call('session/status', { sessionId: unknown });
    await connection.quiet();
    // Updates with another cause would not repeat.
    if (!isQuiet) await askStatus(session);
  }
  step('answer');
  await session.turn(prompts.answer);
  step('cancel');
  const held = version === 2 ? prompts.held : undefined;
  await session.stoppedTurn(prompts.cancel, () => session.cancel(), held);
  // Without a running turn, a cancel must have no effect.
  await session.cancel();
  step('answer');
  await session.turn(prompts.answer);
  step('permission');
  const asked = await withPermission(connection, 'reject', () => session.turn(prompts.permission));
  if (asked) await withPermission(connection, 'cancel', () => session.turn(prompts.permission));
  for (const name of ['refusal', 'error'] as const) {
    const text = prompts[name];
    if (text === undefined) continue;
    step(name);
    await session.turn(text);
  }
  if (offers.list) await connection.call('session/list', { cwd: folder });
  await prompt(context, connection, `parley-check-${randomUUID()}`);
  step('close');
  await closeSession(context, opened);
  const stopped = whyStopped(connection, session);
  return { sessionId: session.id, stopped };
}

async function askStatus(session: CheckSession): Promise<boolean> {
  let updates = 0;
  const stop = session.onUpdate(() => updates++);
  for (let call = 0; call < STATUS_CALLS; call++) await session.status();
  stop();
  return updates === 0;
}

/** Opens a second session and, if offered, closes it during a turn. */
async function closeSession(context: VersionContext, opened: Opened): Promise<void> {
  const { prompts, folder } = context;
  const { connection, offers } = opened;
  const reply = await connection.call('session/new', { cwd: folder, mcpServers: [] });
  const session = await startSession(context, opened, reply, undefined);
  if (!session || !offers.close) return;
  let isClosed = false;
  const close = async (): Promise<void> => {
    isClosed = (await connection.call('session/close', { sessionId: session.id })).kind === 'result';
  };
  await session.stoppedTurn(prompts.cancel, close);
  if (!isClosed) await close();
  if (!isClosed) return;
  if (offers.status) await session.status();
  await prompt(context, connection, session.id);
  await connection.quiet();
}

async function reopenSession(context: VersionContext, how: 'load' | 'resume', sessionId: string): Promise<void> {
  const { options, prompts, folder, limits, signal } = context;
  if (signal.aborted) return;
  options.onStep?.(how);
  const { connection, opened } = await connect(context);
  try {
    if (!opened) return;
    const params = { sessionId, cwd: folder, mcpServers: [] };
    const reply = await connection.call(`session/${how}`, params, limits.initialize);
    const session = await startSession(context, opened, reply, sessionId);
    if (session && opened.offers.status) await session.status();
    await session?.turn(prompts.answer);
  } finally {
    await connection.close();
  }
}

/** Waits for updates that come too early, then reports that the session is ready. */
async function startSession(
  context: VersionContext,
  opened: Opened,
  reply: Reply,
  id: string | undefined,
): Promise<CheckSession | undefined> {
  if (reply.kind !== 'result') return undefined;
  const { connection, offers, version } = opened;
  const sessionId = id ?? at(reply.result, 'sessionId');
  if (typeof sessionId !== 'string') return undefined;
  await connection.quiet();
  if (offers.ready) {
    await connection.notify('session/ready', { sessionId });
    await connection.quiet();
  }
  const { log, limits } = context;
  const { turnComplete: hasBarrier, status: hasStatus } = offers;
  return new CheckSession({ id: sessionId, connection, log, limits, version, hasBarrier, hasStatus });
}

async function prompt({ prompts }: VersionContext, connection: CheckConnection, sessionId: string): Promise<void> {
  await connection.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompts.answer }] });
}

async function withPermission(
  connection: CheckConnection,
  answer: 'reject' | 'cancel',
  run: () => Promise<void>,
): Promise<boolean> {
  const { asked } = connection;
  connection.onPermission = answer;
  await run();
  connection.onPermission = 'reject';
  return connection.asked > asked;
}

function whyStopped(connection: CheckConnection, session: CheckSession): string | undefined {
  if (connection.isOver) return 'the agent ended too early';
  return session.isStuck ? 'a turn did not end, so that no more prompts were sent in its session' : undefined;
}

function whyNoSession(reply: Reply, description: unknown): string {
  if (reply.kind === 'none') return 'session/new was not answered';
  if (reply.kind === 'result') return 'session/new gave no session';
  if (reply.code !== AUTH_REQUIRED) return `session/new failed: ${reply.message}`;
  const methods = at(description, 'authMethods');
  const ids = (Array.isArray(methods) ? methods : []).map((method) =>
    String(at(method, 'methodId') ?? at(method, 'id')),
  );
  return ids.length > 0 ? `the agent needs a sign-in first (${ids.join(', ')})` : 'the agent needs a sign-in first';
}
