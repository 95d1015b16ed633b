// Answers the requests of an agent: permissions, files, terminals. Requests for any other session
// are refused (protocol.md 5.13).
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { type Dialect, required } from '../../acp/protocol/dialect';
import { readElicitation } from '../../acp/protocol/elicitation';
import { readUserQuestions } from '../../acp/quirks/userQuestions';
import { at } from '../../base/untrusted';
import type { AgentCommand } from '../changes/namedFiles';
import type { ToolGrant } from '../mcp/editorTools';
import type { AgentLink } from '../ports/agentLink';
import type { AgentFiles } from '../requests/agentFiles';
import type { ElicitationAnswer } from '../requests/elicitationRequestHandler';
import { askedBySubagent } from '../requests/subagents';
import type { UserRequests } from '../requests/userRequests';
import type { KeptPlace, Terminals } from '../terminals/terminals';

export interface RequestContext {
  /** Ours, unique: the agent's session ids are only unique within one agent. */
  readonly key: string;
  readonly sessionId: () => string | undefined;
  readonly roots: readonly string[];
  /** Undefined while no agent runs. */
  readonly agentSide: () => AnsweringSide | undefined;
  readonly terminals: Terminals;
  /** What it asks the user. */
  readonly requests: UserRequests;
  /** Undefined where the id is not that of a subagent; aborted when that is asked to stop. */
  readonly untilSubagentStopped: (sessionId: string) => AbortSignal | undefined;
  /** Aborted when our request of this id has its answer; undefined where none is under way. */
  readonly untilAnswered: (requestId: string | number) => AbortSignal | undefined;
  /** True if the running turn was cancelled: its permission requests are refused. */
  readonly isCancelled: () => boolean;
  /** True from the moment the user stops a turn until the next one begins: no command starts. */
  readonly isStopped: () => boolean;
  /**
   * Resolves when the agent may write a file (absolute path) or run a command: what is on disk
   * before is known, or took too long to read. Never rejects.
   */
  readonly beforeWrite: (what?: string | AgentCommand) => Promise<void>;
  /** The tools of the editor, which an agent may reach over this connection. */
  readonly tools: () => Promise<ToolGrant | undefined>;
}

interface AnsweringSide {
  readonly files: AgentFiles;
  readonly dialect: Dialect;
  readonly link: Pick<AgentLink, 'kept' | 'router'>;
}

/**
 * Answers one request of the agent (section 1.2, A->C).
 * @param id that the agent has given to it
 * @throws RpcError -32601 for a method this client does not have, -32002 for another session, and
 * what the services answer.
 */
export async function answerRequest(
  context: RequestContext,
  method: string,
  params: unknown,
  signal: AbortSignal,
  id: string | number,
): Promise<unknown> {
  const { key, roots, terminals, requests, isCancelled, isStopped, beforeWrite } = context;
  if (method === 'elicitation/create') return elicit(context, params, signal);
  if (method === 'mcp/message') return messageTools(context, params, signal);
  const answer = ANSWERS.get(method);
  if (!answer) throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
  const sessionId = at(params, 'sessionId');
  if (typeof sessionId !== 'string') throw new RpcError(RPC_CODES.invalidParams, `${method}: sessionId is missing`);
  if (!isKnown(context, sessionId)) await untilOpened(context, params);
  const untilStopped = checkSession(context, sessionId);
  const agentSide = context.agentSide();
  if (!agentSide) throw new RpcError(RPC_CODES.internal, 'The session is closed');
  const subagent = sessionId === context.sessionId() ? undefined : sessionId;
  const { files, dialect, link } = agentSide;
  const kept = link.kept?.agent.commands;
  const common = { key, roots, terminals, requests, isCancelled, isStopped, beforeWrite, files, dialect };
  const answering = { ...common, untilStopped, subagent, runsIn: kept && { commands: kept, request: id } };
  return answer(answering, params, signal);
}

/**
 * A question may come before there is a session, as part of a request of ours: it is open as long
 * as that.
 */
async function elicit(context: RequestContext, params: unknown, signal: AbortSignal): Promise<ElicitationAnswer> {
  const asked = readElicitation(params);
  if ('sessionId' in asked.scope) {
    if (!isKnown(context, asked.scope.sessionId)) await untilOpened(context, params);
    const untilStopped = checkSession(context, asked.scope.sessionId);
    return context.requests.elicitations.ask(asked, context.isCancelled(), either(signal, untilStopped));
  }
  const over = context.untilAnswered(asked.scope.requestId);
  if (!over) throw new RpcError(RPC_CODES.invalidParams, 'elicitation/create: no request with this id is under way');
  return context.requests.elicitations.ask(asked, false, AbortSignal.any([signal, over]));
}

/** A server belongs to one session, so that its id is enough. */
async function messageTools({ tools }: RequestContext, params: unknown, signal: AbortSignal): Promise<unknown> {
  const granted = await tools();
  if (!granted) throw new RpcError(RPC_CODES.resourceNotFound, 'mcp/message: there is no such server');
  return granted.message(params, signal);
}

function isKnown(context: RequestContext, sessionId: string): boolean {
  return sessionId === context.sessionId() || context.untilSubagentStopped(sessionId) !== undefined;
}

/** The session of a request may be the one that is being opened. */
async function untilOpened({ agentSide }: RequestContext, params: unknown): Promise<void> {
  await agentSide()?.link.router.requests.untilOpened(params);
}

/**
 * Returns what ends the questions of a session before their turn does, if anything.
 * @throws RpcError -32002
 */
function checkSession(context: RequestContext, sessionId: string): AbortSignal | undefined {
  const own = context.sessionId();
  if (own !== undefined) context.agentSide()?.link.router.requested(own);
  if (sessionId === own) return undefined;
  const untilStopped = context.untilSubagentStopped(sessionId);
  if (untilStopped) return untilStopped;
  throw new RpcError(RPC_CODES.resourceNotFound, `Unknown session ${sessionId}`, { sessionId });
}

function either(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([signal, other]) : signal;
}

type Answering = Pick<
  RequestContext,
  'key' | 'roots' | 'terminals' | 'requests' | 'isCancelled' | 'isStopped' | 'beforeWrite'
> & {
  readonly untilStopped: AbortSignal | undefined;
  /** The session of the subagent that asks. */
  readonly subagent: string | undefined;
  readonly files: AgentFiles;
  readonly dialect: Dialect;
  /** What a command runs in that outlives this window. */
  readonly runsIn: KeptPlace | undefined;
};

type Answer = (context: Answering, params: unknown, signal: AbortSignal) => unknown;

/** A map, since the agent chooses the name and an object has inherited ones. */
const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  [
    'session/request_permission',
    async (
      { requests: { permissions, elicitations }, dialect, isCancelled, untilStopped, subagent },
      params,
      signal,
    ) => {
      const read = required(dialect.controls).readPermission(params);
      const asked = subagent === undefined ? read : askedBySubagent(read, subagent);
      const questions = readUserQuestions(params);
      const over = either(signal, untilStopped);
      if (!questions) return permissions.ask(asked, isCancelled(), over);
      permissions.describe(asked);
      return questions.answer(await elicitations.ask(questions.asked, isCancelled(), over));
    },
  ],
  [
    'fs/read_text_file',
    ({ files, roots, requests }, params, signal) => files.read(params, roots, requests.askFile, signal),
  ],
  [
    'fs/write_text_file',
    ({ files, roots, requests, beforeWrite }, params, signal) =>
      files.write(params, roots, { ask: requests.askFile, beforeWrite }, signal),
  ],
  [
    'terminal/create',
    async ({ terminals, key, roots, beforeWrite, runsIn, isStopped }, params) => {
      await beforeWrite(commandOf(params));
      if (isStopped()) throw new RpcError(RPC_CODES.cancelled, 'The user has stopped the turn: no command starts.');
      return terminals.create(key, params, roots, runsIn);
    },
  ],
  ['terminal/output', ({ terminals, key }, params) => terminals.output(key, params)],
  ['terminal/wait_for_exit', ({ terminals, key }, params, signal) => terminals.waitForExit(key, params, signal)],
  ['terminal/kill', ({ terminals, key }, params) => terminals.kill(key, params)],
  ['terminal/release', ({ terminals, key }, params) => terminals.release(key, params)],
]);

/** Returns whether the client has a method that agents call. It may still not offer it. */
export function isAnswered(method: string): boolean {
  return ANSWERS.has(method) || method === 'elicitation/create' || method === 'mcp/message';
}

/** What a request for a terminal names, before it is checked. */
function commandOf(params: unknown): AgentCommand {
  const [command, args, cwd] = [at(params, 'command'), at(params, 'args'), at(params, 'cwd')];
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  return { line: words.join(' '), cwd: typeof cwd === 'string' ? cwd : undefined };
}
