// Conversations with the agent that keeps its sessions, for tests of what happens around sessions.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import type { SessionOpenStrategy } from '../../../src/client/connection/sessionOpenStrategy';
import type { ConversationServices } from '../../../src/client/conversation/conversationOptions';
import type { SignInTerminal } from '../../../src/client/ports/ports';
import { type AgentLogLine, readAgentLog, scriptedAgent } from '../agents/definition';
import { type SessionAgentScript, sessionScript } from '../agents/sessionScript';
import { type TestConversation, testConversation } from './conversation';

export interface OpenOptions {
  readonly cwd?: string;
  readonly opening?: SessionOpenStrategy;
  readonly roots?: readonly string[];
  readonly services?: Partial<ConversationServices>;
  readonly env?: Readonly<Record<string, string>>;
}

/** The conversations of one test, with agents that share one store in a folder. */
export class SessionAgents {
  readonly #folder: string;
  readonly #open: TestConversation[] = [];
  readonly log: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.log = join(folder, 'agent.ndjson');
  }

  definition(script: SessionAgentScript, env: Readonly<Record<string, string>> = {}): AgentDefinition {
    const [agent] = parseAgents({
      keeper: {
        name: 'Keeper',
        ...scriptedAgent(sessionScript(join(this.#folder, 'sessions'), script)),
        env: { AGENT_LOG: this.log, ...env },
      },
    }).agents;
    return agent as AgentDefinition;
  }

  open(script: SessionAgentScript, options: OpenOptions = {}): TestConversation {
    const { env, ...more } = options;
    const session = testConversation({ agent: this.definition(script, env), cwd: this.#folder, ...more });
    this.#open.push(session);
    return session;
  }

  async past(script: SessionAgentScript, ...said: readonly string[]): Promise<string> {
    const session = this.open(script);
    await session.conversation.start();
    for (const text of said) await session.conversation.send(text).done;
    const { sessionId } = session.conversation;
    await session.close();
    this.#open.splice(this.#open.indexOf(session), 1);
    return String(sessionId);
  }

  get lines(): readonly AgentLogLine[] {
    return readAgentLog(this.log);
  }

  calls(method: string): readonly unknown[] {
    return this.lines.flatMap(({ dir, msg }) => (dir === 'in' && msg?.method === method ? [msg.params] : []));
  }

  async close(): Promise<readonly unknown[]> {
    for (const session of this.#open.splice(0)) await session.close();
    return this.lines.filter(({ ev }) => ev === 'violation').map(({ reason }) => reason);
  }
}

export const plainTerminal: SignInTerminal = async ({ command, args, env, cwd }, signal) => {
  const child = spawn(command, [...args], { cwd, env: { ...env }, stdio: 'ignore', signal });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? undefined;
};
