// Answers an agent's requests: permissions, files, terminals. Requests for any other session are
// refused (protocol.md 5.13).
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { type Dialect, type PermissionAsk, required } from '../../acp/protocol/dialect';
import { readElicitation } from '../../acp/protocol/elicitation';
import { APPROVE_PLAN, ASK_QUESTIONS, planAnswer, readPlanApproval, readQuestions } from '../../acp/quirks/grok';
import { readUserQuestions, type UserQuestions } from '../../acp/quirks/userQuestions';
import { at } from '../../base/untrusted';
import type { SessionView } from '../../session/model/model';
import type { AgentCommand } from '../changes/namedFiles';
import type { ToolGrant } from '../mcp/editorTools';
import type { AgentLink } from '../ports/agentLink';
import type { AgentFiles } from '../requests/agentFiles';
import type { ElicitationAnswer } from '../requests/elicitationRequestHandler';
import type { PermissionOutcome } from '../requests/permissionRequestHandler';
import { askedBySubagent, type Subagents } from '../requests/subagents';
import type { UserRequests } from '../requests/userRequests';
import type { KeptPlace, Terminals } from '../terminals/terminals';

export interface AskedConversation {
  /** Id of the conversation: the agent's session ids are only unique within one agent. */
  readonly key: string;
  readonly roots: readonly string[];
  readonly model: Pick<SessionView, 'state'>;
  readonly services: { readonly terminals: Terminals };
  readonly turns: { readonly requests: UserRequests; readonly isCancelled: boolean };
  readonly subagents: Pick<Subagents, 'stopSignal'>;
  readonly connector: {
    readonly sessionId: string | undefined;
    readonly agentSide: AnsweringSide | undefined;
    readonly tools: Promise<ToolGrant | undefined>;
  };
  readonly changes: { beforeWrite(what?: string | AgentCommand): Promise<void> };
}

interface AnsweringSide {
  readonly files: AgentFiles;
  readonly dialect: Dialect;
  readonly link: Pick<AgentLink, 'kept' | 'router' | 'rpc'>;
}

/**
 * Answers one request of the agent (section 1.2, A->C).
 * @throws RpcError -32601 for an unknown method, -32002 for another session; errors of the handlers
 */
export async function answerRequest(
  conversation: AskedConversation,
  method: string,
  params: unknown,
  signal: AbortSignal,
  id: string | number,
): Promise<unknown> {
  if (method === 'elicitation/create') return elicit(conversation, params, signal);
  if (method === 'mcp/message') return messageTools(conversation, params, signal);
  const answer = ANSWERS.get(method);
  if (!answer) throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
  const sessionId = at(params, 'sessionId');
  if (typeof sessionId !== 'string') throw new RpcError(RPC_CODES.invalidParams, `${method}: sessionId is missing`);
  if (!isKnown(conversation, sessionId)) await untilOpened(conversation, params);
  const untilStopped = checkSession(conversation, sessionId);
  const { agentSide, sessionId: own } = conversation.connector;
  if (!agentSide) throw new RpcError(RPC_CODES.internal, 'The session is closed');
  const subagent = sessionId === own ? undefined : sessionId;
  const commands = agentSide.link.kept?.agent.commands;
  const runsIn = commands && { commands, request: id };
  return answer({ conversation, side: agentSide, untilStopped, subagent, runsIn }, params, signal);
}

/** A question may come before the session exists, as part of a request of ours. */
async function elicit(
  conversation: AskedConversation,
  params: unknown,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const { turns, connector } = conversation;
  const { elicitations } = turns.requests;
  const elicitation = readElicitation(params);
  if ('sessionId' in elicitation.scope) {
    if (!isKnown(conversation, elicitation.scope.sessionId)) await untilOpened(conversation, params);
    const untilStopped = checkSession(conversation, elicitation.scope.sessionId);
    return elicitations.ask(elicitation, turns.isCancelled, either(signal, untilStopped));
  }
  const aborted = connector.agentSide?.link.rpc?.untilAnswered(elicitation.scope.requestId);
  if (!aborted) throw new RpcError(RPC_CODES.invalidParams, 'elicitation/create: no request with this id is under way');
  return elicitations.ask(elicitation, false, AbortSignal.any([signal, aborted]));
}

/** Each server belongs to one session, so its id is enough. */
async function messageTools({ connector }: AskedConversation, params: unknown, signal: AbortSignal): Promise<unknown> {
  const granted = await connector.tools;
  if (!granted) throw new RpcError(RPC_CODES.resourceNotFound, 'mcp/message: there is no such server');
  return granted.message(params, signal);
}

function isKnown({ connector, subagents }: AskedConversation, sessionId: string): boolean {
  return sessionId === connector.sessionId || subagents.stopSignal(sessionId) !== undefined;
}

async function untilOpened({ connector }: AskedConversation, params: unknown): Promise<void> {
  await connector.agentSide?.link.router.requests.untilOpened(params);
}

/**
 * Returns a signal that ends a subagent's questions before the turn ends.
 * @throws RpcError -32002
 */
function checkSession({ connector, subagents }: AskedConversation, sessionId: string): AbortSignal | undefined {
  const ownSessionId = connector.sessionId;
  if (ownSessionId !== undefined) connector.agentSide?.link.router.requested(ownSessionId);
  if (sessionId === ownSessionId) return undefined;
  const untilStopped = subagents.stopSignal(sessionId);
  if (untilStopped) return untilStopped;
  throw new RpcError(RPC_CODES.resourceNotFound, `Unknown session ${sessionId}`, { sessionId });
}

function either(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([signal, other]) : signal;
}

interface Answering {
  readonly conversation: AskedConversation;
  readonly side: AnsweringSide;
  readonly untilStopped: AbortSignal | undefined;
  readonly subagent: string | undefined;
  readonly runsIn: KeptPlace | undefined;
}

type Answer = (context: Answering, params: unknown, signal: AbortSignal) => unknown;

/** A map, since agents choose the name and objects have inherited properties. */
const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  [
    'session/request_permission',
    (context, params, signal) => {
      const permission = required(context.side.dialect.controls).readPermission(params);
      const questions = readUserQuestions(params);
      if (!questions) return permit(context, permission, signal);
      context.conversation.turns.requests.permissions.describe(ofSubagent(context, permission));
      return question(context, questions, signal);
    },
  ],
  [ASK_QUESTIONS, (context, params, signal) => question(context, readQuestions(params), signal)],
  [
    APPROVE_PLAN,
    async (context, params, signal) => {
      const { outcome } = await permit(context, readPlanApproval(params), signal);
      return planAnswer('optionId' in outcome ? outcome.optionId : undefined);
    },
  ],
  [
    'fs/read_text_file',
    ({ conversation: { roots, turns }, side }, params, signal) =>
      side.files.read(params, roots, turns.requests.askFile, signal),
  ],
  [
    'fs/write_text_file',
    ({ conversation: { roots, turns, changes }, side }, params, signal) => {
      const beforeWrite = (path?: string) => changes.beforeWrite(path);
      return side.files.write(params, roots, { ask: turns.requests.askFile, beforeWrite }, signal);
    },
  ],
  [
    'terminal/create',
    async ({ conversation: { key, roots, model, services, changes }, runsIn }, params) => {
      await changes.beforeWrite(commandOf(params));
      const { turns, background } = model.state;
      // Announced background work may start commands.
      if (turns.at(-1)?.cancelRequested && background.length === 0)
        throw new RpcError(RPC_CODES.cancelled, 'The user has stopped the turn: no command starts.');
      return services.terminals.create(key, params, roots, runsIn);
    },
  ],
  ['terminal/output', ({ conversation: { key, services } }, params) => services.terminals.output(key, params)],
  [
    'terminal/wait_for_exit',
    ({ conversation: { key, services } }, params, signal) => services.terminals.waitForExit(key, params, signal),
  ],
  ['terminal/kill', ({ conversation: { key, services } }, params) => services.terminals.kill(key, params)],
  ['terminal/release', ({ conversation: { key, services } }, params) => services.terminals.release(key, params)],
]);

/** Returns whether the client has a handler for a method. It may still not offer it. */
export function isAnswered(method: string): boolean {
  return ANSWERS.has(method) || method === 'elicitation/create' || method === 'mcp/message';
}

function ofSubagent({ subagent }: Answering, asked: PermissionAsk): PermissionAsk {
  return subagent === undefined ? asked : askedBySubagent(asked, subagent);
}

function permit(
  context: Answering,
  asked: PermissionAsk,
  signal: AbortSignal,
): Promise<{ outcome: PermissionOutcome }> {
  const { turns } = context.conversation;
  const aborted = either(signal, context.untilStopped);
  return turns.requests.permissions.ask(ofSubagent(context, asked), turns.isCancelled, aborted);
}

async function question(context: Answering, { asked, answer }: UserQuestions, signal: AbortSignal): Promise<unknown> {
  const { turns } = context.conversation;
  const aborted = either(signal, context.untilStopped);
  return answer(await turns.requests.elicitations.ask(asked, turns.isCancelled, aborted));
}

function commandOf(params: unknown): AgentCommand {
  const [command, args, cwd] = [at(params, 'command'), at(params, 'args'), at(params, 'cwd')];
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  return { line: words.join(' '), cwd: typeof cwd === 'string' ? cwd : undefined };
}
