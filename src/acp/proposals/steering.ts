// Extension "steering": adds a message to the running turn instead of queueing it
// (claude-agent-acp, codex-acp). Rules:
// - Advertised by `_meta: {steering: {supported: true}}` in the result of initialize.
// - `_session/steering {sessionId, prompt, _meta}` → `{outcome}`. The client requests
//   `promptRequired` if no turn runs, so that a message never starts a turn whose end isn't
//   reported.
// - `injected`: the message is part of the running turn.
// - `startedNewTurn`: the agent started a turn anyway, without an answer to come.
// - `promptRequired`, `failed` and errors: the client keeps the message.
// - Any other outcome is undetermined: the agent may have the message.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { at } from '../../base/untrusted';
import type { ContentBlock } from '../../session/events/content';
import type { RpcCaller } from '../jsonrpc/rpcConnection';
import type { PromptAnswer } from '../protocol/dialect';
import { blockToWire } from '../protocol/sessionWire';

export const STEERING = '_session/steering';

export function announcesSteering(initializeResult: unknown): boolean {
  return at(initializeResult, '_meta', 'steering', 'supported') === true;
}

/**
 * @param onSent gets the request id as text
 * @param signal asks for the message back
 * @throws as {@link readSteering}; errors of the agent
 */
export async function steer(
  connection: RpcCaller,
  sessionId: string,
  prompt: readonly ContentBlock[],
  onSent: (requestId: string) => void,
  signal: AbortSignal,
): Promise<PromptAnswer> {
  const _meta = { steering: { idleBehavior: 'promptRequired' } };
  const params = { sessionId, prompt: prompt.map(blockToWire), _meta };
  return readSteering(await connection.request(STEERING, params, { signal, onSent: (id) => onSent(String(id)) }));
}

/** Throws ParleyError `prompt-required`, `not-steered`, `steering-unclear`. */
export function readSteering(result: unknown): PromptAnswer {
  const outcome = at(result, 'outcome');
  if (outcome === 'injected') return { ends: false };
  if (outcome === 'startedNewTurn') return { ends: true };
  if (outcome === 'promptRequired') throw new ParleyError('prompt-required', 'No turn is running.');
  if (outcome === 'failed')
    throw new ParleyError('not-steered', localizable("The agent couldn't add the message to the turn."));
  throw new ParleyError('steering-unclear', `Unknown outcome: ${String(outcome)}`);
}
