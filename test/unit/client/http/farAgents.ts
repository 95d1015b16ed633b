// Conversations with the HTTP agents of the tests, served on loopback.
import { strict as assert } from 'node:assert';
import { type AgentDefinition, parseAgents } from '../../../../src/agents/agentDefinition';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import type { KeptConversation } from '../../../../src/client/conversation/persistence';
import type { DescriptorPort } from '../../../../src/client/http/communicationRecord';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import {
  artifact,
  awaiting,
  echo,
  endless,
  failing,
  historyEcho,
  type RunningServer,
  serve,
  slowWords,
  stopServers,
} from '../../../support/servers/servedAgents';
import { stopStubs } from '../../../support/servers/stubServer';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';

export const AGENTS = [echo, awaiting, failing, artifact, endless, historyEcho, slowWords];
// As in settings.
export const TOKEN = 'Bearer $\u007bsecret:token}';

export class Kept implements DescriptorPort {
  readonly texts = new Map<string, string>();
  async read(key: string): Promise<string | undefined> {
    return this.texts.get(key);
  }
  async write(key: string, text: string): Promise<void> {
    this.texts.set(key, text);
  }
}

export const define = (url: string, agent: string, headers: Record<string, string> = {}): AgentDefinition => {
  const [parsed] = parseAgents({ far: { type: 'communication', name: 'Far', url, agent, headers } }).agents;
  assert.ok(parsed);
  return parsed;
};

export const remoteFor = (...servers: readonly RunningServer[]): NonNullable<ConversationServices['remote']> => ({
  secret: async (origin) => servers.find(({ baseUrl }) => new URL(baseUrl).origin === origin)?.token,
  allowCleartext: async () => false,
});

export const texts = ({ conversation }: TestConversation): string[] =>
  snapshotOf(conversation)
    .entries.filter(({ kind }) => kind === 'agent')
    .map(({ text = '' }) => text);

export const notices = ({ conversation }: TestConversation): string[] =>
  conversation.model.state.entries.flatMap((entry) =>
    entry.kind === 'notice' ? [entry.said?.code ?? entry.title] : [],
  );

export interface FarAgents {
  /**
   * @param sessionId of a session to continue; absent: a new one
   * @param transcript whether the client has it
   */
  open(
    agent: AgentDefinition,
    services?: Partial<ConversationServices>,
    sessionId?: string,
    transcript?: 'keep' | 'replay',
    kept?: KeptConversation,
  ): TestConversation;
  openServed(
    name: string,
    services?: Partial<ConversationServices>,
  ): Promise<TestConversation & { readonly server: RunningServer }>;
}

export function useFarAgents(): FarAgents {
  const opened: TestConversation[] = [];
  let folder = '';

  beforeEach(async () => {
    folder = await scratchFolder();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await stopServers();
    await stopStubs();
    await removeScratch();
  });

  function open(
    agent: AgentDefinition,
    services: Partial<ConversationServices> = {},
    sessionId?: string,
    transcript: 'keep' | 'replay' = 'keep',
    kept?: KeptConversation,
  ): TestConversation {
    const one = testConversation({
      agent,
      cwd: folder,
      services: { follow: { retryMs: [1, 1], pollMs: 1 }, ...services },
      ...(sessionId !== undefined && { opening: { kind: 'reopen', sessionId, transcript } }),
      ...(kept && { kept }),
    });
    opened.push(one);
    return one;
  }

  async function openServed(
    name: string,
    services: Partial<ConversationServices> = {},
  ): Promise<TestConversation & { readonly server: RunningServer }> {
    const server = await serve(AGENTS);
    const opened = open(define(server.baseUrl, name, { Authorization: TOKEN }), {
      remote: remoteFor(server),
      ...services,
    });
    return { ...opened, server };
  }
  return { open, openServed };
}
