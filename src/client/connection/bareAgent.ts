// Runs an agent without a session: to check its entry, or to sign in or out.
import type { AuthStatus } from '../../acp/protocol/authStatus';
import { type AgentDescription, required } from '../../acp/protocol/dialect';
import type { ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { lookUpAgent } from '../http/communicationLink';
import { type AgentTransport, startTransport } from '../transport/agentTransport';
import { RpcLink } from '../transport/rpcLink';
import { askAuthStatus, type SignInContext, signIn } from './signIn';
import { type LinkServices, linkOptions, type StartServices, withKeys } from './startAgent';

/** Traffic key, in place of a session's. */
export const BARE_TRAFFIC = 'bare';

const LOGOUT_MS = 15_000;

export interface BareContext extends SignInContext {
  readonly services: SignInContext['services'] & LinkServices & Pick<StartServices, 'approve'>;
}

export interface AgentCheck {
  readonly description: AgentDescription;
  readonly ms: number;
  readonly authStatus?: AuthStatus | undefined;
}

/**
 * Starts or reaches an agent, reads its description and ends it.
 * @throws ParleyError, with nothing left running; the reason of `signal`
 */
export async function checkAgent(context: BareContext, signal: AbortSignal): Promise<AgentCheck> {
  const { agent, services, stages } = context;
  await services.approve?.(agent);
  const begun = Date.now();
  if (agent.type === 'communication') {
    const { log, remote } = services;
    const { description } = await lookUpAgent({ agent, log, remote }, stages, signal);
    return { description, ms: Date.now() - begun };
  }
  return withLink(context, signal, async (link) => {
    const ms = Date.now() - begun;
    await askAuthStatus(link, services.log);
    return { description: link.description, ms, authStatus: link.authStatus };
  });
}

/** @throws as {@link checkAgent}, RpcError, ParleyError `sign-in-failed` */
export async function signInBare(context: BareContext, methodId: string, signal: AbortSignal): Promise<void> {
  await context.services.approve?.(context.agent);
  await withLink(context, signal, async (link) => {
    const method = link.description.authMethods.find(({ id }) => id === methodId);
    if (method) await signIn(context, link, method, signal);
  });
}

/**
 * @returns false if the agent can't sign out
 * @throws as {@link checkAgent}, RpcError
 */
export async function signOutBare(context: BareContext, signal: AbortSignal): Promise<boolean> {
  await context.services.approve?.(context.agent);
  return withLink(context, signal, async (link) => {
    if (!link.description.features.logout) return false;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOGOUT_MS)]);
    await link.until((inner) => required(link.dialect.auth).logout(inner), limit);
    return true;
  });
}

export function describeInVersion2(
  context: BareContext & { readonly agent: ProcessAgent },
  signal: AbortSignal,
): Promise<AgentDescription> {
  const agent = { ...context.agent, protocol: 2 } as const;
  const services = { ...context.services, offers: undefined, isOnlyAsked: true } as const;
  return withLink({ ...context, agent, services }, signal, async ({ description }) => description);
}

/**
 * Starts or reaches an agent without sending any message.
 * @param cwd of its process; absolute
 * @throws as {@link checkAgent}
 */
export async function startBare(
  context: BareContext & { readonly agent: ProcessAgent | RemoteAgent },
  cwd: string,
  signal: AbortSignal,
): Promise<AgentTransport> {
  const { agent, services, stages } = context;
  const { environment, keys, log, remote, startProcess } = services;
  await services.approve?.(agent);
  const options = { agent: await withKeys(agent, keys), cwd, environment, log, remote, startProcess };
  return startTransport(options, stages, signal);
}

const NO_SESSION = {
  request: () => Promise.reject(new Error('nothing can be asked without a session')),
  notification(): void {},
};

async function withLink<T>(context: BareContext, signal: AbortSignal, work: (link: RpcLink) => Promise<T>): Promise<T> {
  const { agent, cwd, services, stages } = context;
  if (agent.type === 'communication') throw new Error('an HTTP agent has no connection of its own');
  const keyed = await withKeys(agent, services.keys);
  const options = linkOptions(BARE_TRAFFIC, keyed, cwd, services, NO_SESSION);
  const link = await RpcLink.open(options, stages, signal);
  try {
    return await work(link);
  } finally {
    await link.close();
  }
}
