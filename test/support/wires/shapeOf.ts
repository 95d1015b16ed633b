// What a person sees of a session, in lines to compare: its turns with how they ended, and its
// transcript. Ids and times are left out.
import { inEnglish } from '../../../src/base/localizable';
import { textOfBlocks } from '../../../src/base/text';
import type { SessionView } from '../../../src/session/model/model';
import type { Entry, Turn } from '../../../src/session/model/state';

export function shapeOf({ state }: SessionView): string {
  const numbers = new Map(state.turns.map(({ id, number }) => [id, number]));
  const facts = [state.title, state.usage?.used, state.mode, state.config.length, state.commands.length];
  const lines = [...state.turns.map(turnLine), ...entryLines(state.entries, numbers)];
  return [...lines, ...(facts.some(Boolean) ? [facts.join()] : [])].join('\n');
}

function entryLines(entries: readonly Entry[], numbers: ReadonlyMap<string, number>): readonly string[] {
  const lines: string[] = [];
  let before: Entry | undefined;
  for (const entry of entries) {
    if (isClients(entry)) continue;
    // Something that only the client says may divide a message.
    if (before && isSameText(before, entry)) lines.push(`${lines.pop()}${wordsOf(entry).slice(entry.kind.length + 2)}`);
    else lines.push(entryLine(entry, numbers));
    before = entry;
  }
  return lines;
}

function isSameText(one: Entry, other: Entry): boolean {
  const isText = one.kind === 'agent' || one.kind === 'thought';
  return isText && one.kind === other.kind && one.turnId === other.turnId && one.late === other.late;
}

function isClients(entry: Entry): boolean {
  if (entry.kind === 'notice') return entry.said !== undefined;
  return entry.kind === 'error' && !entry.code.startsWith('agent-error');
}

/** If a session is closed or its recording ends, the end of the turn is unknown. */
function turnLine({ number, origin, stopReason, barrier, tokens, note, ...turn }: Turn): string {
  const isCut = barrier === 'exit';
  const marks = [turn.cancelRequested && 'stopped', turn.replayed && 'replayed', isCut || (note && inEnglish(note))];
  const end = isCut ? 'cut' : `${stopReason ?? 'open'} by ${barrier ?? 'nothing'}`;
  return [`turn ${number} of ${origin}: ${end}`, tokens, ...marks].filter((one) => one && one !== true).join(', ');
}

function entryLine(entry: Entry, numbers: ReadonlyMap<string, number>): string {
  const turn = entry.turnId === undefined ? '-' : (numbers.get(entry.turnId) ?? '?');
  return `${turn}${entry.late ? ' late' : ''} ${wordsOf(entry)}`;
}

function wordsOf(entry: Entry): string {
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought':
      return `${entry.kind}: ${textOfBlocks(entry.content)}`;
    case 'tool':
      return `tool ${entry.toolCallId} ${entry.status} ${entry.decision?.outcome ?? ''}: ${entry.title}`;
    case 'plan':
      return `plan: ${entry.entries.map(({ status, content }) => `[${status}] ${content}`).join('; ')}`;
    case 'notice':
      return `notice: ${entry.title} ${inEnglish(entry.text)}`;
    case 'error':
      return `error: ${inEnglish(entry.text)}`;
    case 'gap':
      return 'gap';
    case 'turn_end':
      return 'end';
  }
}
