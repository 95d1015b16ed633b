// Signs in by the chosen method (protocol.md 1.9): by the agent, with a key if it takes one; by a
// command in a visible terminal; or with keys in environment variables. Other methods are guidance
// only.
import { type AuthMethod, required } from '../../acp/protocol/dialect';
import { keyMeta } from '../../acp/quirks/apiKey';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { resolveCommand } from '../../agents/resolveCommand';
import { planStart } from '../../agents/startPlan';
import { messageOf, ParleyError } from '../../base/errors';
import { framed, type LocalizableText, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { revealControls } from '../../base/revealControls';
import { withTimeout } from '../../base/within';
import type { AgentLink } from '../ports/agentLink';
import type { TerminalCommand } from '../ports/ports';
import { commandLine, describeStart } from '../transport/describeStart';
import type { Stages } from '../transport/stages';
import type { StartServices } from './startAgent';

type Method<T extends AuthMethod['type']> = Extract<AuthMethod, { type: T }>;

const MAX_NAME = 80;
const MAX_TEXT = 400;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const MAX_VARIABLES = 10;
/** Variables that contain a secret, by the end of their name. */
const SECRET = /_(?:KEY|TOKEN|SECRET|PAT|PASSWORD)$/;
const MAX_NAMED = 3;
const MAX_SEARCHED = 4000;
const LOGOUT_MS = 15_000;
const STATUS_MS = 15_000;

export interface SignInContext {
  readonly agent: AgentDefinition;
  /** Absolute. */
  readonly cwd: string;
  readonly services: Pick<StartServices, 'environment' | 'keys' | 'log' | 'signInTerminal'>;
  readonly stages: Stages;
}

/** The agent's error -32000. */
export interface AuthRefusal {
  readonly message: string;
  readonly data?: unknown;
}

/**
 * Returns the announced methods, those of the agent's error, and the variables that either says can
 * be set.
 */
export function signInMethods(
  { description, dialect }: AgentLink,
  { message, data }: AuthRefusal,
  agent: AgentDefinition,
): readonly AuthMethod[] {
  const announced = description.authMethods;
  const refusalMethods = dialect.auth?.methodsIn(data) ?? [];
  const methods = [...announced, ...refusalMethods.filter(({ id }) => !announced.some((method) => method.id === id))];
  // A remote agent's variables are set on its own machine.
  if (agent.type !== 'process') return methods;
  const declared = methods.flatMap((method) => (method.type === 'env_var' ? method.variables : []));
  // A method that takes a key asks for it.
  const texts = methods.map((method) => (method.type === 'agent' && method.keyForm ? '' : method.description));
  const named = new Set([message, ...texts].flatMap((text = '') => variablesIn(text)));
  const variables = [...named].filter((name) => !declared.includes(name)).slice(0, MAX_NAMED);
  const ofVariable = (name: string) => ({ id: `variable ${name}`, name, type: 'env_var', variables: [name] }) as const;
  return [...methods, ...variables.map((name) => ({ ...ofVariable(name), isMentioned: true as const }))];
}

function variablesIn(text: string): readonly string[] {
  const names = text.slice(0, MAX_SEARCHED).match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? [];
  return names.filter((name) => SECRET.test(name) && VARIABLE.test(name));
}

/** Returns what the agent's message adds to the error code, or an empty string. */
export function authDetail({ message }: AuthRefusal): string {
  return displayLine(message.replace(/^\s*auth(?:entication)? (?:is )?required\b[\s.:!-]*/i, ''), MAX_TEXT);
}

export function labelOf(method: AuthMethod): LocalizableText {
  const name = nameOf(method);
  return method.type === 'env_var' && method.isMentioned ? localizable('Enter {0}…', name) : name;
}

/** Returns whether a method can be chosen; others are shown as guidance. */
export function canStart(method: AuthMethod, agent: AgentDefinition): boolean {
  if (method.type !== 'env_var') return method.type === 'agent' || method.type === 'terminal';
  const { variables } = method;
  // A remote agent's variables are set on its own machine.
  return (
    agent.type === 'process' &&
    variables.length > 0 &&
    variables.length <= MAX_VARIABLES &&
    variables.every((name) => VARIABLE.test(name))
  );
}

/**
 * Stage `sign-in`.
 * @returns `restart` if the agent must be restarted to notice (a terminal never calls
 * `authenticate`)
 * @throws RpcError, ParleyError `sign-in-failed`
 */
export async function signIn(
  context: SignInContext,
  link: AgentLink,
  method: AuthMethod,
  signal: AbortSignal,
): Promise<'signed-in' | 'restart'> {
  const { agent, services, stages } = context;
  const outcome = await stages.run('sign-in', signal, (stop) => carryOut(context, link, method, stop));
  await services.keys?.note(agent, nameOf(method));
  return outcome;
}

async function carryOut(
  context: SignInContext,
  link: AgentLink,
  method: AuthMethod,
  signal: AbortSignal,
): Promise<'signed-in' | 'restart'> {
  switch (method.type) {
    case 'agent':
      await loginWithKey(context, link, method, signal);
      return 'signed-in';
    case 'terminal':
      await inTerminal(context, method, signal);
      return 'restart';
    case 'env_var':
      await askVariables(context, method, signal);
      return 'restart';
    case 'other':
      throw new ParleyError(
        'sign-in-failed',
        localizable("Parley doesn't support the sign-in method “{0}”", nameOf(method)),
      );
  }
}

/**
 * Signs in with a saved key, without asking.
 * @returns false if there is none, or the agent doesn't take it
 */
export async function signInWithSavedKey(
  { agent, services, stages }: SignInContext,
  link: AgentLink,
  methods: readonly AuthMethod[],
  signal: AbortSignal,
): Promise<boolean> {
  const { keys, log } = services;
  if (!keys) return false;
  for (const method of methods) {
    if (method.type !== 'agent' || method.keyForm === undefined) continue;
    const key = await keys.saved(agent, { kind: 'method', name: method.id });
    if (key === undefined) continue;
    try {
      await stages.run('sign-in', signal, (stop) => login(link, method, key, stop), 'session');
      await keys.note(agent, nameOf(method));
      return true;
    } catch (error) {
      signal.throwIfAborted();
      stages.awaitUser('sign-in');
      log.warn(`${agent.name} did not take the saved key for ${method.id}: ${messageOf(error)}`);
    }
  }
  return false;
}

export function nameOf({ name }: AuthMethod): string {
  return displayLine(name, MAX_NAME);
}

export function descriptionOf({ description = '' }: AuthMethod): string | undefined {
  return displayLine(description, MAX_TEXT) || undefined;
}

/** Returns what the user has to do, or what choosing the method runs. */
export function guidanceOf(method: AuthMethod, agent: AgentDefinition): LocalizableText {
  const name = nameOf(method);
  const description = descriptionOf(method);
  if (method.type === 'terminal' && agent.type === 'process')
    return localizable('“{0}” runs in a terminal: {1}', name, displayLine(terminalLine(agent, method), MAX_TEXT));
  if (method.type !== 'env_var') return description ? `${name}: ${description}` : `${name}.`;
  const { variables } = method;
  const what =
    variables.length === 0 ? localizable('the required variable') : displayLine(variables.join(' and '), MAX_TEXT);
  const sentence = localizable(
    '{0}: Set {1} under "env" of the agent in parley.agents, or in the environment that starts VS Code.',
    name,
    what,
  );
  return description ? framed('{0} {1}', sentence, description) : sentence;
}

async function loginWithKey(
  { agent, services: { keys } }: SignInContext,
  link: AgentLink,
  method: Method<'agent'>,
  signal: AbortSignal,
): Promise<void> {
  if (!keys || method.keyForm === undefined) return login(link, method, undefined, signal);
  const name = { kind: 'method', name: method.id } as const;
  const entered = await keys.ask(agent, { ...name, method: nameOf(method) }, signal);
  signal.throwIfAborted();
  if (entered === undefined) throw noKey();
  // If empty, the agent may have its own key.
  await login(link, method, entered || (await keys.saved(agent, name)), signal);
  if (entered !== '') await keys.save(agent, name, entered);
}

async function login(
  link: AgentLink,
  { id, keyForm }: Method<'agent'>,
  key: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const meta = key === undefined || keyForm === undefined ? undefined : keyMeta(keyForm, key);
  await link.until((inner) => required(link.dialect.auth).login(id, inner, meta), signal);
}

async function inTerminal(context: SignInContext, method: Method<'terminal'>, signal: AbortSignal): Promise<void> {
  const terminal = context.services.signInTerminal;
  if (!terminal) throw new ParleyError('sign-in-failed', localizable('there is no terminal to sign in with'));
  const command = await commandOf(context, method);
  signal.throwIfAborted();
  const code = await terminal(command, signal);
  if (code === 0) return;
  throw new ParleyError(
    'sign-in-failed',
    code === undefined
      ? localizable('the terminal was closed before you signed in')
      : localizable('signing in ended with code {0}', code),
  );
}

/** Variables that are left empty keep their values. */
async function askVariables(
  { agent, services: { keys } }: SignInContext,
  method: Method<'env_var'>,
  signal: AbortSignal,
): Promise<void> {
  if (!keys || !canStart(method, agent))
    throw new ParleyError('sign-in-failed', localizable('{0} Then try again', guidanceOf(method, agent)));
  const entered: (readonly [name: string, value: string])[] = [];
  let isAnySaved = false;
  for (const name of new Set(method.variables)) {
    const value = await keys.ask(agent, { kind: 'variable', name, method: nameOf(method) }, signal);
    signal.throwIfAborted();
    if (value === undefined) throw noKey();
    if (value !== '') entered.push([name, value]);
    else isAnySaved ||= (await keys.saved(agent, { kind: 'variable', name })) !== undefined;
  }
  if (entered.length === 0 && !isAnySaved) throw noKey();
  for (const [name, value] of entered) await keys.save(agent, { kind: 'variable', name }, value);
}

function noKey(): ParleyError {
  return new ParleyError('sign-in-failed', localizable('no key was entered'));
}

/**
 * The agent's command with the method's arguments, or the method's own command, in the agent's
 * environment.
 */
async function commandOf(
  { agent, cwd, services }: SignInContext,
  method: Method<'terminal'>,
): Promise<TerminalCommand> {
  if (agent.type !== 'process') {
    throw new ParleyError(
      'sign-in-failed',
      localizable('{0} runs on another machine, where no terminal can be opened', agent.name),
    );
  }
  const { command = agent.command } = method;
  const env = { ...(await services.environment(command)), ...agent.env, ...method.env };
  const args = method.command === undefined ? [...agent.args, ...method.args] : method.args;
  // VS Code quotes for executables, not for cmd.exe.
  const plan = await planStart(await resolveCommand(command, { cwd, env }), args, env);
  return {
    title: `${agent.name}: ${nameOf(method)}`,
    command: plan.file,
    args: plan.windowsVerbatimArguments ? plan.args.join(' ') : plan.args,
    env: plan.env,
    cwd: agent.cwd ?? cwd,
    unfamiliar:
      method.command !== undefined
        ? describeStart({ name: nameOf(method), command, args, env: method.env })
        : undefined,
  };
}

function terminalLine(agent: Extract<AgentDefinition, { type: 'process' }>, method: Method<'terminal'>): string {
  const variables = Object.entries(method.env).map(([name, value]) => `${name}=${value}`);
  const { command } = method;
  return commandLine(
    command === undefined
      ? [...variables, agent.command, ...agent.args, ...method.args]
      : [...variables, command, ...method.args],
  );
}

/** Returns one bounded line of an agent's text, with control characters made visible. */
function displayLine(text: string, max: number): string {
  const line = revealControls(text.replace(/\s+/g, ' ').trim());
  return line.length > max ? `${line.slice(0, max)}…`.toWellFormed() : line.toWellFormed();
}

/** Asks who is signed in (`auth/status`), if the agent can tell. Never rejects. */
export async function askAuthStatus(link: AgentLink, log: Log): Promise<void> {
  const { description, dialect, authStatus } = link;
  if (!description.features.authStatus) return;
  try {
    await withTimeout(STATUS_MS, async (signal) => {
      const status = await link.until((inner) => required(dialect.auth).status(inner), signal);
      // A notification may be newer.
      if (link.authStatus === authStatus) link.authStatus = status;
    });
  } catch (error) {
    log.info(`auth/status: ${messageOf(error)}`);
  }
}

/**
 * Signs out (`logout`, section 1.2) and forgets the keys.
 * @throws ParleyError `cannot-sign-out`; what the agent answers
 */
export async function signOut({ agent, services }: SignInContext, link: AgentLink | undefined): Promise<void> {
  if (!link?.description.features.logout)
    throw new ParleyError('cannot-sign-out', localizable("{0} doesn't support signing out.", agent.name));
  await withTimeout(LOGOUT_MS, (signal) => link.until((inner) => required(link.dialect.auth).logout(inner), signal));
  await services.keys?.forget(agent);
}
