// The turns of an agent, read from the wire: from a prompt to the end of its work.
import { readState } from '../../acp/proposals/promptLifecycle';
import { at } from '../../base/untrusted';
import { type Call, errorCode, type Life, resultOf, sessionOfCall, succeeded } from './life';
import { sessionOf, updateIn, updateName, type WireLine } from './wireLog';

export interface Turn {
  readonly prompt: Call;
  readonly sessionId: string;
  readonly lines: readonly WireLine[];
  readonly added: readonly Call[];
  readonly isLifecycle: boolean;
  readonly end?: WireLine;
  readonly reason?: string;
  readonly endless?: WireLine;
  readonly cancel?: WireLine;
}

const OUTPUT: ReadonlySet<string> = new Set([
  'agent_message_chunk',
  'agent_message',
  'agent_thought_chunk',
  'agent_thought',
  'tool_call',
  'tool_call_update',
  'tool_call_content_chunk',
  'plan',
  'plan_update',
  'plan_removed',
]);

const OF_TURN: ReadonlySet<string> = new Set([
  ...OUTPUT,
  'user_message_chunk',
  'user_message',
  'usage_update',
  'state_update',
  'state_change',
]);

export function isOutput(line: WireLine): boolean {
  return OUTPUT.has(updateName(line) ?? '');
}

export function isOfTurn(line: WireLine): boolean {
  return OF_TURN.has(updateName(line) ?? '');
}

export function isUserMessage(line: WireLine): boolean {
  return updateName(line)?.startsWith('user_message') === true;
}

export function stateIn(line: WireLine): ReturnType<typeof readState> {
  return readState(updateIn(line));
}

function spanOf(life: Life, sessionId: string): { readonly from: number; readonly to: number } | undefined {
  const opening = life.calls.find(
    (call) =>
      /^session\/(?:new|load|resume|fork)$/.test(call.method) && succeeded(call) && sessionOfCall(call) === sessionId,
  );
  if (!opening?.answer) return undefined;
  const closing = life.calls.find((call) => call.method === 'session/close' && sessionOfCall(call) === sessionId);
  return { from: opening.answer.n, to: closing?.line.n ?? Number.POSITIVE_INFINITY };
}

/** Prompts for sessions that were never opened or are closed. */
export function strayPrompts(life: Life): readonly Call[] {
  return life.calls.filter((call) => call.method === 'session/prompt' && !isOpenAt(life, call));
}

function isOpenAt(life: Life, call: Call): boolean {
  const span = spanOf(life, sessionOfCall(call) ?? '');
  return span !== undefined && call.line.n > span.from && call.line.n < span.to;
}

export function turnsOf(life: Life, version: 1 | 2): readonly Turn[] {
  const turns: Turn[] = [];
  const sessions = Map.groupBy(
    life.calls.filter((call) => call.method === 'session/prompt' && isOpenAt(life, call)),
    (call) => sessionOfCall(call) ?? '',
  );
  for (const [sessionId, prompts] of sessions) {
    let rest: readonly Call[] = prompts;
    while (rest[0]) {
      const turn = readTurn(life, version, sessionId, rest[0], rest.slice(1));
      turns.push(turn);
      rest = rest.slice(1 + turn.added.length);
    }
  }
  return turns.sort((one, other) => one.prompt.line.n - other.prompt.line.n);
}

function readTurn(life: Life, version: 1 | 2, sessionId: string, prompt: Call, later: readonly Call[]): Turn {
  const all = life.lines.filter(
    (line) => line.n >= prompt.line.n && (sessionOf(line) === sessionId || line === prompt.answer),
  );
  const isLifecycle = version === 2 || (answersEarly(prompt) && all.some((line) => stateIn(line) !== undefined));
  const end = isLifecycle ? endByState(prompt, all) : prompt.answer;
  const added = later.filter(({ line }) => end === undefined || line.n < end.n);
  const next = later[added.length]?.line.n ?? Number.POSITIVE_INFINITY;
  const lines = all.filter(({ n }) => n < next);
  const reason = end && (end === prompt.answer ? at(resultOf(prompt), 'stopReason') : stateIn(end)?.stopReason);
  const cancel = lines.find(
    ({ dir, message, n }) =>
      dir === 'sent' && /^session\/(?:cancel|close)$/.test(String(message?.method)) && (end === undefined || n < end.n),
  );
  const endless = life.lines.find(({ note }) => note?.kind === 'endless' && note.id === prompt.id);
  return {
    prompt,
    sessionId,
    lines,
    added,
    isLifecycle,
    end,
    reason: typeof reason === 'string' ? reason : undefined,
    endless,
    cancel,
  };
}

function answersEarly(prompt: Call): boolean {
  return succeeded(prompt) && typeof at(resultOf(prompt), 'stopReason') !== 'string';
}

function endByState(prompt: Call, lines: readonly WireLine[]): WireLine | undefined {
  if (prompt.answer && !succeeded(prompt)) return prompt.answer;
  let isWorking = false;
  for (const line of lines) {
    const state = stateIn(line);
    if (state?.state === 'idle' && (isWorking || state.stopReason)) return line;
    isWorking ||= state !== undefined && state.state !== 'idle';
  }
  return undefined;
}

export function wasCancelled({ cancel }: Turn): boolean {
  return cancel !== undefined;
}

export function failed({ prompt, end, isLifecycle }: Turn): boolean {
  if (errorCode(prompt) !== undefined) return true;
  return isLifecycle && end !== undefined && stateIn(end)?.stopReason === 'error';
}
