// The scripted agent, served as by the extension, with access to both sides for tests.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { AgentFiles } from '../../../../src/client/requests/agentFiles';
import {
  ServedConversations,
  type ServedConversationsOptions,
} from '../../../../src/client/serving/servedConversations';
import type { StateExchange } from '../../../../src/client/sharing/stateExchange';
import type { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import { mintId, type Run } from '../../../../src/distributed/model/model';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { sdk } from '../../../support/servers/sdkClient';
import { type RunningServer, stopServers, textIn, userMessage } from '../../../support/servers/servedAgents';
import { diskFiles, parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

const signal = new AbortController().signal;

export interface Served {
  readonly agent: ServedConversations;
  readonly made: readonly TestConversation[];
  readonly cwd: string;
  readonly log: string;
}

const served: Served[] = [];

export async function scripted(
  script: AgentScript = {},
  options: Partial<ServedConversationsOptions> = {},
): Promise<Served> {
  const cwd = await scratchFolder();
  const log = join(await scratchFolder(), 'agent.ndjson');
  return offered(scriptedAgent(script, log), log, cwd, options);
}

const DEMO = join(process.cwd(), 'out/support/demo/agent.js');

export async function demo(): Promise<Served> {
  const program = { command: process.execPath, args: [DEMO], env: {} };
  return offered(program, '', await scratchFolder(), { name: 'demo' });
}

function offered(definition: object, log: string, cwd: string, options: Partial<ServedConversationsOptions>): Served {
  const agent = parseAgent(definition, 'scripted');
  const made: TestConversation[] = [];
  const create = (_key: string, state: StateExchange): Conversation => {
    const filesFor = (agentName: string): AgentFiles =>
      new AgentFiles(diskFiles(), { agentName, refusesQuestions: true });
    const one = testConversation({
      agent,
      cwd,
      services: { filesFor, agentState: () => state },
    });
    made.push(one);
    return one.conversation;
  };
  const name = options.name ?? 'scripted';
  const one = {
    agent: new ServedConversations({ name, description: 'The scripted agent.', create, ...options }),
    made,
    cwd,
    log,
  };
  served.push(one);
  return one;
}

export const said = ({ output }: Pick<Run, 'output'>): string => output.map(textIn).join('');
export const answerOf = (text: string) => ({
  type: 'message' as const,
  message: sdk.Message.parse({ parts: [{ content: text }] }),
});
/** A session as clients know it: the first run has its descriptor, later ones its id. */
export interface ClientSession {
  readonly id: string;
  isBegun: boolean;
}

export const newSession = (): ClientSession => ({ id: mintId(), isBegun: false });

export function request(text: string, session?: ClientSession) {
  const named = session?.isBegun ? { sessionId: session.id } : session && { session: { id: session.id, history: [] } };
  if (session) session.isBegun = true;
  return { agentName: 'scripted', input: [userMessage(text)], ...named };
}
export const prompts = (log: string): number =>
  calledMethods(readAgentLog(log)).filter((method) => method === 'session/prompt').length;
export const sessions = (log: string): number =>
  calledMethods(readAgentLog(log)).filter((method) => method === 'session/new').length;
export const got = (log: string): readonly string[] =>
  readAgentLog(log).flatMap(({ dir, msg }) =>
    dir === 'in' && msg?.method === 'session/prompt'
      ? [JSON.stringify((msg.params as { prompt: unknown }).prompt)]
      : [],
  );

/** Returns a line that makes the scripted agent store a state. */
export const storesState = (previous: string | null, content: string): string =>
  `update ${JSON.stringify({
    sessionUpdate: 'session_info_update',
    _meta: { 'parley/state': { previous, content: Buffer.from(content).toString('base64') } },
  })}`;

/** Returns the session states that prompts offered to the agent. */
export const stateOffers = (log: string): readonly Record<string, unknown>[] =>
  readAgentLog(log).flatMap(({ dir, msg }) => {
    const meta = (msg?.params as { _meta?: Record<string, Record<string, unknown>> } | undefined)?._meta;
    return dir === 'in' && msg?.method === 'session/prompt' ? [meta?.['parley/state'] ?? {}] : [];
  });

export async function untilRun(running: RunningServer, id: string, status: Run['status']): Promise<Run> {
  for (;;) {
    const run = await running.client.run(id, signal);
    if (run.status === status) return run;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export async function cancelAtFirstWord(
  client: CommunicationClient,
  asked: Parameters<CommunicationClient['runStream']>[0],
): Promise<{ id: string; types: readonly string[] }> {
  const types: string[] = [];
  let id = '';
  const stream = await client.runStream(asked, signal);
  assert.ok(stream.kind === 'stream');
  for await (const event of stream.events) {
    types.push(event.type);
    if (event.type === 'run.created') id = event.run.run_id;
    if (event.type === 'message.part') await client.cancel(id, signal);
  }
  return { id, types };
}

/** Ends all agents and servers, and fails if a protocol rule was broken. For `afterEach`. */
export async function closeServed(): Promise<void> {
  await stopServers();
  for (const { agent, made, log } of served.splice(0)) {
    await agent.closeAll();
    for (const one of made) await one.close();
    assert.deepEqual(
      readAgentLog(log).filter(({ ev }) => ev === 'violation'),
      [],
    );
  }
  await removeScratch();
}
