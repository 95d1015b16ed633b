// Restores a stored conversation and closes what was open when its window ended. A message that may
// have reached the agent is never sent again without asking.
import type { SessionEvent } from '../../session/events/event';
import type { TurnNote } from '../../session/events/ownText';
import type { SessionView } from '../../session/model/model';
import type { SessionState } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import type { PromptQueue, QueueItem } from '../../session/queue/queue';
import type { KeptConversation, KeptItem } from './persistence';
import { type FailedPrompt, promptOf } from './sendAgain';
import type { Unsent } from './unsent';

/** Where an agent that outlives its window runs: on this machine or another one. */
export type AgentPlace = 'here' | 'far';

/**
 * Restores a stored conversation. Nothing is sent automatically.
 * @param apply takes new events
 * @param now ms since 1970
 * @param manner `isHeld`: another window has it. `running`: where its agent still runs, so that
 * open items stay open (only the turn if it is `far`)
 */
export function restore(
  { model, queue, unsent }: { readonly model: SessionView; readonly queue: PromptQueue; readonly unsent: Unsent },
  kept: KeptConversation,
  apply: (event: SessionEvent) => void,
  now: number,
  {
    isHeld = false,
    running,
  }: { readonly isHeld?: boolean | undefined; readonly running?: AgentPlace | undefined } = {},
): void {
  const state = { ...model.state, entries: model.state.entries.slice(model.begins) };
  if (running === 'far') state.turn = undefined;
  const items = running === 'here' ? kept.queue : restoredQueue(state, kept.queue);
  const used = Math.max(usedIds(state, kept.queue), kept.usedIds ?? 0);
  if (running !== 'here') for (const event of closingEvents(state, now, isHeld)) apply(event);
  queue.restore(
    items.map((item) => ({ ...item })),
    running ? kept.paused : items.length > 0 ? (kept.paused ?? 'window-ended') : undefined,
    used,
  );
  unsent.restore(kept);
}

/**
 * Returns the events that close what was open when the window ended.
 * @param at ms since 1970
 * @param isHeld as for {@link restore}
 */
export function closingEvents(state: Readonly<SessionState>, at: number, isHeld = false): SessionEvent[] {
  const events: SessionEvent[] = [];
  for (const permissionId of state.permissions.keys()) {
    events.push({ type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'exit' });
  }
  for (const id of state.elicitations.keys()) {
    events.push({ type: 'elicitation_closed', id, action: 'cancel', by: 'exit' });
  }
  for (const { id, exit, released } of state.terminals.values()) {
    if (!exit && !released) events.push({ type: 'terminal', terminalId: id, released: true });
  }
  if (state.background.length > 0) events.push({ type: 'background', work: [] });
  if (state.entries.some((entry) => entry.kind === 'tool' && entry.toolKind === 'subagent' && !isEnded(entry.status))) {
    events.push({ type: 'subagents_ended' });
  }
  if (state.turn) {
    const { id: turnId, cancelRequested } = state.turn;
    const stopReason = cancelRequested ? 'cancelled' : 'error';
    const note: TurnNote = isHeld ? 'in-other-window' : 'window-ended';
    events.push({ type: 'turn_ended', turnId, stopReason, barrier: 'exit', at, note, interrupted: true });
  }
  return events;
}

/**
 * Returns the restored queue. Messages that may have been sent are in doubt unless they arrived.
 * @param state the transcript, before its open turn is closed
 */
export function restoredQueue(state: Readonly<SessionState>, kept: readonly KeptItem[]): KeptItem[] {
  const sent = new Map(
    state.entries.flatMap((entry) =>
      entry.kind === 'user' && entry.promptId ? [[entry.promptId, entry] as const] : [],
    ),
  );
  const items = kept.flatMap((item): KeptItem[] => {
    if (item.state === 'queued' || item.state === 'failed') return [{ ...item, held: false }];
    return sent.has(item.id) ? [] : [inDoubt(item)];
  });
  const unanswered = unansweredPrompt(state);
  if (!unanswered) return items;
  return [unanswered, ...items.filter(({ repeats }) => repeats !== unanswered.repeats)];
}

function usedIds(state: Readonly<SessionState>, kept: readonly KeptItem[]): number {
  const ids = [
    ...kept.map(({ id }) => id),
    ...state.entries.map((entry) => (entry.kind === 'user' ? entry.promptId : undefined)),
  ];
  return ids.reduce((most, id) => Math.max(most, Number(/^q(\d+)/.exec(id ?? '')?.[1] ?? 0)), 0);
}

/** Returns the prompt of a running turn without output, to be sent again if the user wants it. */
export function unansweredPrompt({ turn, entries }: Readonly<SessionState>): KeptItem | undefined {
  if (turn?.origin !== 'user' || turn.firstOutputAt !== undefined) return undefined;
  const prompt = entries.findLast((entry) => entry.kind === 'user' && entry.turnId === turn.id);
  if (prompt?.kind !== 'user' || !prompt.promptId || prompt.messageId !== undefined) return undefined;
  const { promptId, content } = prompt;
  return inDoubt({ ...itemOf(promptId, promptOf(content)), id: `${promptId}-again`, repeats: promptId });
}

export function sentItem({ entries }: Readonly<SessionState>, promptId: string): QueueItem | undefined {
  const prompt = entries.findLast((entry) => entry?.kind === 'user' && entry.promptId === promptId);
  return prompt?.kind === 'user' ? itemOf(promptId, promptOf(prompt.content)) : undefined;
}

function itemOf(id: string, prompt: FailedPrompt): QueueItem {
  return { ...prompt, id, state: 'sending', held: false };
}

function inDoubt(item: KeptItem): KeptItem {
  return { ...item, held: false, state: 'failed', reason: 'in-doubt', doubtful: true };
}
