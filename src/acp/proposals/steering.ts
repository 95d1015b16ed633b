// Extension "steering": a message is put into the turn that runs, instead of waiting for its end
// (claude-agent-acp, codex-acp). Rules:
// - the agent announces it with `_meta: {steering: {supported: true}}` in the result of initialize;
// - `_session/steering {sessionId, prompt, _meta}` → `{outcome}`. The client asks for `promptRequired`
//   if no turn runs, so that a message never begins a turn whose end isn't reported;
// - `injected`: the message is part of the running turn, which ends as it would have;
// - `startedNewTurn`: a turn of the agent has begun with it all the same, with no answer to come;
// - `promptRequired`, `failed` and an error: the message is still the client's;
// - any other outcome says nothing: the agent may have the message.
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
 * Puts a message into the running turn.
 * @param onSent gets the id of the request as text
 * @param signal asks to have it back
 * @throws as {@link readSteering}; what the agent answers
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

/**
 * Reads the answer: a receipt if the message is in the running turn.
 * @throws ParleyError `prompt-required`, `not-steered`, `steering-unclear`
 */
export function readSteering(result: unknown): PromptAnswer {
  const outcome = at(result, 'outcome');
  if (outcome === 'injected') return { ends: false };
  if (outcome === 'startedNewTurn') return { ends: true };
  if (outcome === 'promptRequired') throw new ParleyError('prompt-required', 'No turn is running.');
  if (outcome === 'failed')
    throw new ParleyError('not-steered', localizable("The agent couldn't add the message to the turn."));
  throw new ParleyError('steering-unclear', `Unknown outcome: ${String(outcome)}`);
}
