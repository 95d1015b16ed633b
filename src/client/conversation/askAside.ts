// Asks an agent one question in a session of its own, which is neither shown nor kept: it has no
// files, terminals or MCP servers of this machine, and whatever it asks permission for is declined.
import { randomUUID } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Deferred } from '../../base/deferred';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { textOfBlocks } from '../../base/text';
import { Changes } from '../../session/model/changes';
import type { Entry } from '../../session/model/state';
import { readReason } from '../../session/queue/waitReason';
import { Conversation } from './conversation';
import type { ConversationServices } from './conversationOptions';

export interface Aside {
  readonly agent: AgentDefinition;
  /** Where the agent works, absolute: an empty folder, as some agents write without asking. */
  readonly cwd: string;
  /** Those of other conversations. */
  readonly services: ConversationServices;
}

/**
 * Asks, and ends the agent before it returns.
 * @returns what the agent said last in its turn
 * @throws ParleyError `sign-in-needed`, `no-answer`, or why the agent could not be asked; the reason
 * of `signal`
 */
export async function askAside({ agent, cwd, services }: Aside, text: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const { mcpServers: _mcp, signInTerminal: _signIn, restarts: _restarts, changes: _changes, ...others } = services;
  // What keeps sessions with HTTP agents over the end of their window.
  const { descriptors: _descriptors, historyLinks: _links, readPart: _readPart, ...kept } = others;
  // No rule allows here what is to be declined.
  const { editorTools: _tools, permissionRules: _rules, ...rest } = kept;
  const conversation = new Conversation({
    key: randomUUID(),
    agent,
    cwd,
    roots: [cwd],
    services: { ...rest, isOnlyAsked: true },
  });
  const failed = new Deferred<never>();
  const onAbort = (): void => failed.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const changes = new Changes(() => setImmediate(look));
  const look = (): void => {
    changes.reset();
    const { connection, model } = conversation;
    if (connection.kind === 'failed' || connection.kind === 'exited') failed.reject(connection.error);
    if (connection.kind === 'authRequired') failed.reject(signInNeeded(agent.name));
    // There is nobody to send what is held.
    const { paused } = conversation.queue;
    if (paused !== undefined)
      failed.reject(new ParleyError('not-sent', readReason(paused)?.detail || localizable("The message wasn't sent.")));
    for (const [id, { options }] of model.state.permissions) {
      const no = options.find(({ kind }) => kind.startsWith('reject'));
      conversation.answerPermission(id, no?.optionId ?? null);
    }
    for (const id of model.state.elicitations.keys()) conversation.elicitations.refuse(id, 'decline');
  };
  const watching = conversation.model.observe(changes);
  try {
    const { done } = conversation.send(text);
    const { turnId, stopReason } = await Promise.race([done, failed.promise]);
    if (stopReason === 'error') throw failureOf(conversation.model.state.entries, agent.name);
    if (conversation.communication.isAsking) {
      await conversation.communication.cancel();
      throw noAnswer(agent.name);
    }
    const said = conversation.model.state.entries.findLast(
      (one) => one.turnId === turnId && one.kind === 'agent' && one.parent === undefined,
    );
    const answer = said?.kind === 'agent' ? textOfBlocks(said.content).trim() : '';
    if (answer === '') throw noAnswer(agent.name);
    return answer;
  } finally {
    watching.dispose();
    signal.removeEventListener('abort', onAbort);
    await conversation.close().catch((error: unknown) => services.log.warn(`question: ${messageOf(error)}`));
  }
}

function noAnswer(name: string): ParleyError {
  return new ParleyError('no-answer', l10n.t('{0} did not answer.', name));
}

/** Why the turn failed: half an answer is none. */
function failureOf(entries: readonly Entry[], name: string): ParleyError {
  const error = entries.findLast((entry) => entry.kind === 'error');
  return error ? new ParleyError(error.code, error.text, error.hint ? { hint: error.hint } : {}) : noAnswer(name);
}

function signInNeeded(name: string): ParleyError {
  return new ParleyError('sign-in-needed', l10n.t('Sign in to use {0}.', name), {
    hint: l10n.t('Start a session with {0} to sign in.', name),
  });
}
