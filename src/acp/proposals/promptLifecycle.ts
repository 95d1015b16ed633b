// Proposal "v2 prompt lifecycle": a prompt is answered on receipt, not at the end of its turn; the
// agent reports when it is running, waiting or idle. Rules:
// - The answer is a receipt: `{messageId}` (current schema, and the first draft's "given id"), `{}`
//   (summer draft) or null. A `stopReason` in it ends a turn only in v1. A v1 answer without one is
//   a receipt if it has a message id or the agent has sent a state. Otherwise a later state or echo
//   of the prompt makes it a receipt, and quiet ends the turn.
// - `state_update` and the first draft's `state_change` are the same in every version: `running`,
//   `idle`, `requires_action`. Unknown words are never idle.
// - In v2, an idle ends a turn that was running, or the turn of an inserted prompt if it has a
//   reason; any other idle is a repetition. Without a reason (codex-acp), the turn ended normally:
//   `end_turn`, or `cancelled` if the user cancelled. `error` shows its error first.
// - In v1, states drive the busy indicator while no prompt is pending; only its answer ends a
//   pending prompt.
// - A turn that starts while no prompt of ours is in flight is the agent's own.
// - The agent echoes the prompt as a user message, before or after the receipt. It is matched by
//   id, otherwise by text, and shown once.
// - A prompt refused with -32800 before receipt returns to the queue.

import { at } from '../../base/untrusted';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent, StopReason } from '../../session/events/event';
import { errorSentence } from '../jsonrpc/rpcError';
import type { BackgroundWork, PromptAnswer, StateReport, UpdateTargets } from '../protocol/dialect';
import { toBlock } from '../protocol/readContent';
import { readTokens } from '../protocol/sessionWire';
import { readStopReason, readTurnComplete } from './turnComplete';

const MAX_ITEMS = 2000;
const MAX_WORD = 100;

/** Handles updates about prompts, turns and whole messages. */
export function applyLifecycle(update: unknown, targets: UpdateTargets): boolean {
  switch ((update as { readonly sessionUpdate?: unknown } | null | undefined)?.sessionUpdate) {
    case 'turn_complete': {
      const barrier = readTurnComplete(update);
      if (barrier) targets.onTurnComplete(barrier);
      return true;
    }
    case 'state_update':
    case 'state_change': {
      const report = readState(update);
      if (report) targets.onState(report);
      return report !== undefined;
    }
    case 'user_message':
    case 'agent_message':
    case 'agent_thought': {
      const message = readWholeMessage(update);
      if (message) targets.emit(message);
      return message !== undefined;
    }
    case 'replay_complete':
      return true; // handled by sessionReplay.ts
    default:
      return false;
  }
}

/** v2: the replay is over; later updates are live. */
export function isReplayComplete(update: unknown): boolean {
  return at(update, 'sessionUpdate') === 'replay_complete';
}

export function isUserMessage(update: unknown): boolean {
  const name = at(update, 'sessionUpdate');
  return name === 'user_message_chunk' || name === 'user_message';
}

/** Undefined for other updates and without a state. */
export function readState(update: unknown, name = at(update, 'sessionUpdate')): StateReport | undefined {
  const state = at(update, 'state');
  if ((name !== 'state_update' && name !== 'state_change') || typeof state !== 'string') return undefined;
  const stopReason = readStopReason(at(update, 'stopReason'));
  const background = at(update, 'background');
  const error = readError(at(update, 'error'));
  return {
    state: state.slice(0, MAX_WORD),
    stopReason,
    ...readTokens(at(update, 'usage')),
    error,
    background: Array.isArray(background) ? background.slice(0, MAX_ITEMS).flatMap(readBackground) : undefined,
  };
}

export function isIdle({ state }: StateReport): boolean {
  return state === 'idle';
}

export function reasonOf({ stopReason, error }: StateReport, cancelled: boolean): StopReason {
  return stopReason ?? (error ? 'error' : cancelled ? 'cancelled' : 'end_turn');
}

/** Reads the answer to `session/prompt` in v2, where it never ends a turn. */
export function readReceipt(result: unknown): PromptAnswer {
  const messageId = at(result, 'messageId');
  return { ends: false, messageId: typeof messageId === 'string' ? messageId : undefined };
}

/** Whether an answer only acknowledges the prompt. */
export function isReceipt({ ends, stopReason, messageId }: PromptAnswer, statesSeen: boolean): boolean {
  return !ends || (stopReason === undefined && (statesSeen || messageId !== undefined));
}

const ROLES = { user_message: 'user', agent_message: 'agent', agent_thought: 'thought' } as const;

/** Omitted content keeps the present one, null clears it, a list replaces it. */
function readWholeMessage(update: unknown): SessionEvent | undefined {
  const name = at(update, 'sessionUpdate');
  const messageId = at(update, 'messageId');
  const content = at(update, 'content');
  if (typeof name !== 'string' || !Object.hasOwn(ROLES, name) || typeof messageId !== 'string') return undefined;
  const message = { type: 'message', role: ROLES[name as keyof typeof ROLES], messageId } as const;
  if (content === undefined) return message;
  if (content === null) return { ...message, content };
  const blocks = Array.isArray(content) ? content : [content];
  return { ...message, content: blocks.slice(0, MAX_ITEMS).map((block): ContentBlock => toBlock(block)) };
}

function readError(error: unknown): { code: string; message: string } | undefined {
  const message = at(error, 'message');
  if (typeof message !== 'string') return undefined;
  const code = at(error, 'code');
  return {
    code: typeof code === 'number' ? `agent-error ${code}` : 'agent-error',
    message: errorSentence(message, at(error, 'data')),
  };
}

const WORK_IDS = { terminal: 'terminalId', tool_call: 'toolCallId', subagent: 'sessionId' } as const;

function readBackground(work: unknown): BackgroundWork[] {
  const type = at(work, 'type');
  if (typeof type !== 'string') return [];
  const id = Object.hasOwn(WORK_IDS, type) ? at(work, WORK_IDS[type as keyof typeof WORK_IDS]) : at(work, 'id');
  return [{ type: type.slice(0, MAX_WORD), id: typeof id === 'string' ? id : '' }];
}
