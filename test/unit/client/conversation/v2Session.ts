// Conversations with the scripted agent of version 2, and what tests of its lifecycle look at.
import type { SessionOpenStrategy } from '../../../../src/client/connection/sessionOpenStrategy';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { type AgentSession, useAgentSession } from '../../../support/sessions/agentSession';

export interface V2Options {
  readonly protocol?: 1 | 2 | 'auto';
  readonly services?: Partial<ConversationServices>;
  readonly opening?: SessionOpenStrategy;
}

export interface V2Session {
  readonly session: AgentSession;
  open(script?: AgentScript, options?: V2Options): Conversation;
  /** The entries of the transcript: turn, kind and text. */
  entries(): string[];
}

export function useV2Session(): V2Session {
  const session = useAgentSession();
  return {
    session,
    open(script = {}, { protocol = 2, services = {}, opening } = {}) {
      const entry = {
        ...scriptedAgent({ versions: [2], ...script }, session.agentLog),
        protocol,
      };
      return session.openAgent(entry, { services, ...(opening && { opening }) }).conversation;
    },
    entries: () =>
      snapshotOf(session.conversation).entries.map(({ kind, text, turnId }) => `${turnId ?? '-'} ${kind}: ${text}`),
  };
}
