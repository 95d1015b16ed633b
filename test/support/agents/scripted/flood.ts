// Load for the scripted agent, apart from its other plays as the bench measures it and it must cost
// little: `flood N R TAG`, `think N R TAG`, `tools N R TAG` (R per second, 0: as fast as the pipe
// takes them) and `long KB TAG`. The last text of the turn is END-OF-FLOOD-<TAG>, which a file
// whose path follows the tag holds back for as long as it is there. Times and sizes of each turn
// are added to $FLOOD_LOG as a JSON line, on a clock that a browser on this machine can compare
// with.
import { appendFileSync, existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { now } from '../agentWire';
import { floodText } from './floodText';
import type { AgentTurn } from './plays';

const atOnce = 64;

export function floodLog(line: Record<string, unknown>): void {
  if (process.env.FLOOD_LOG)
    appendFileSync(process.env.FLOOD_LOG, `${JSON.stringify({ t: now(), pid: process.pid, ...line })}\n`);
}

export async function flood(turn: AgentTurn, kind: 'flood' | 'think' | 'tools' | 'long', rest: string): Promise<void> {
  const [first = '', second = '', third, held = ''] = rest.split(/\s+/);
  const count = kind === 'long' ? 1 : Number(first);
  const rate = kind === 'long' ? 0 : Number(second || 0);
  const tag = (kind === 'long' ? second : third) || String(turn.requestId);
  const marker = `END-OF-FLOOD-${tag}`;
  const { emit, ending } = load(turn, kind, count, Number(first || 200));
  const { wire } = turn;
  wire.written = { characters: 0, messages: 0 };
  const begin = now();
  const ok = await paced(count - (kind === 'flood' || kind === 'think' ? 1 : 0), rate, turn.signal, emit);
  while (existsSync(held) && !turn.signal.aborted) await sleep(50);
  await wire.sendQuietly(chunk(turn, 'agent_message_chunk', `${ending}\n\n${marker}`));
  const { characters, messages } = wire.written;
  floodLog({
    ev: 'turn',
    kind,
    n: count,
    rate,
    tag,
    marker,
    first: begin,
    last: now(),
    bytes: characters,
    writes: messages,
    ok,
  });
}

function load(
  turn: AgentTurn,
  kind: 'flood' | 'think' | 'tools' | 'long',
  count: number,
  kilobytes: number,
): { emit: (index: number) => Promise<void> | undefined; ending: string } {
  const { wire } = turn;
  if (kind === 'tools') {
    return {
      emit(index) {
        void wire.sendQuietly(toolCall(turn, index));
        return wire.sendQuietly(toolUpdate(turn, index));
      },
      ending: `\n\nAll ${count} edits done.`,
    };
  }
  const update = kind === 'think' ? 'agent_thought_chunk' : 'agent_message_chunk';
  const whole = floodText(kind === 'long' ? kilobytes * 1000 : count * 20 + 64);
  const pieces = kind === 'long' ? [whole] : cut(whole, count);
  const sent = kind === 'long' ? whole : pieces.slice(0, -1).join('');
  const isOpen = ((sent.match(/^```/gm) ?? []).length & 1) === 1;
  return {
    emit: (index) => wire.sendQuietly(chunk(turn, update, pieces[index] ?? '')),
    ending: isOpen && kind !== 'think' ? '\n```' : '',
  };
}

/** Pieces of 12 to 28 characters, 20 in the mean. */
function cut(text: string, count: number): string[] {
  let from = 0;
  return Array.from({ length: count }, (_, index) => {
    const length = 12 + ((index * 7) % 17);
    from += length;
    return text.slice(from - length, from);
  });
}

/**
 * Calls `emit` `count` times at a rate per second, catching up after a stall as a model behind a
 * pipe does.
 * @returns false if it was cancelled
 */
async function paced(
  count: number,
  rate: number,
  signal: AbortSignal,
  emit: (index: number) => Promise<void> | undefined,
): Promise<boolean> {
  const begin = performance.now();
  for (let index = 0; index < count; ) {
    if (signal.aborted) return false;
    const due = rate > 0 ? Math.floor(((performance.now() - begin) / 1000) * rate) + 1 : index + atOnce;
    while (index < Math.min(count, due)) {
      const full = emit(index++);
      if (full) await full;
    }
    if (index < count) await (rate > 0 ? sleep(Math.max(1, 1000 / rate)) : tick());
  }
  return true;
}

function updateLine(turn: AgentTurn, update: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: turn.sessionId, update } });
}

function chunk(turn: AgentTurn, sessionUpdate: string, text: string): string {
  return updateLine(turn, { sessionUpdate, content: { type: 'text', text } });
}

function toolCall(turn: AgentTurn, index: number): string {
  const path = `/workspace/src/file${index % 40}.ts`;
  return updateLine(turn, {
    sessionUpdate: 'tool_call',
    toolCallId: idOf(turn, index),
    title: `Edit file${index % 40}.ts`,
    kind: 'edit',
    status: 'pending',
    locations: [{ path, line: index + 1 }],
    rawInput: { path, edit: index },
  });
}

function toolUpdate(turn: AgentTurn, index: number): string {
  const path = `/workspace/src/file${index % 40}.ts`;
  const oldText = Array.from({ length: 12 }, (_, line) => `const value${line} = step(${index}, ${line});`).join('\n');
  const newText = oldText.replace('value3 = step', 'value3 = await step').replace('value7', 'renamed7');
  return updateLine(turn, {
    sessionUpdate: 'tool_call_update',
    toolCallId: idOf(turn, index),
    status: 'completed',
    content: [
      { type: 'diff', path, oldText, newText },
      { type: 'content', content: { type: 'text', text: `Edited line ${index}` } },
    ],
    rawOutput: { ok: true },
  });
}

function idOf(turn: AgentTurn, index: number): string {
  return `flood-${String(turn.requestId)}-${index}`;
}
