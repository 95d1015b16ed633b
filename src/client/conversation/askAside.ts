// Asks an agent one question in a temporary, hidden session, without files, terminals or MCP
// servers of this machine. Permission requests are declined.
import { randomUUID } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { messageOf, ParleyError } from '../../base/errors';
import { textOfBlocks } from '../../base/text';
import { Conversation } from './conversation';
import type { ConversationServices } from './conversationOptions';
import { turnFailure, UnattendedMessage } from './unattendedMessage';

export interface Aside {
  readonly agent: AgentDefinition;
  /** Absolute: an empty folder, as some agents write without asking. */
  readonly cwd: string;
  readonly services: ConversationServices;
}

/**
 * Asks, and ends the agent before returning.
 * @returns the last message of its turn
 * @throws ParleyError `sign-in-needed`, `no-answer`, or why the agent couldn't be asked
 */
export async function askAside({ agent, cwd, services }: Aside, text: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const { mcpServers: _mcp, signInTerminal: _signIn, restarts: _restarts, changes: _changes, ...others } = services;
  // These would keep the session with an HTTP agent after the window closes.
  const { descriptors: _descriptors, historyLinks: _links, readPart: _readPart, ...kept } = others;
  const { editorTools: _tools, permissionRules: _rules, ...rest } = kept;
  const conversation = new Conversation({
    key: randomUUID(),
    agent,
    cwd,
    roots: [cwd],
    services: { ...rest, isOnlyAsked: true },
  });
  const onChange = (): void => {
    for (const [id, { options }] of conversation.model.state.permissions) {
      const no = options.find(({ kind }) => kind.startsWith('reject'));
      conversation.answerPermission(id, no?.optionId ?? null);
    }
    for (const id of conversation.model.state.elicitations.keys()) conversation.elicitations.refuse(id, 'decline');
  };
  try {
    const { turnId, stopReason } = await new UnattendedMessage(conversation, text).attend(onChange, signal);
    if (stopReason === 'error') throw turnFailure(conversation, turnId);
    if (conversation.communication.isAsking) {
      await conversation.communication.cancel();
      throw noAnswer(agent.name);
    }
    const reply = conversation.model.state.entries.findLast(
      (entry) => entry.turnId === turnId && entry.kind === 'agent' && entry.parent === undefined,
    );
    const answer = reply?.kind === 'agent' ? textOfBlocks(reply.content).trim() : '';
    if (answer === '') throw noAnswer(agent.name);
    return answer;
  } finally {
    await conversation.close().catch((error: unknown) => services.log.warn(`question: ${messageOf(error)}`));
  }
}

function noAnswer(name: string): ParleyError {
  return new ParleyError('no-answer', l10n.t('{0} did not answer.', name));
}
