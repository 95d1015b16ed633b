// The texts of tool calls for search: titles, commands and paths.
import type { SessionEvent } from '../../session/events/event';
import type { IndexedKind } from './indexedKind';
import { cut } from './searchText';

const MAX_LINE = 2000;
const MAX_LINES = 50;
const INPUTS = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url'] as const;

/** Progress is separate from that of messages, so that sessions of earlier versions are indexed too. */
export const TOOL_CALLS: IndexedKind = {
  progress: 'tools_seq',
  types: `'tool_call'`,
  textsOf: (rows) => {
    const calls = new Map<string, Call>();
    for (const { seq, event } of rows) if (event.type === 'tool_call') take(calls, seq, event);
    const texts = [...calls.values()].flatMap(({ seq, lines }) =>
      [...cut([...lines].join('\n'))].map((text) => ({ seq, role: 'tool' as const, text })),
    );
    return { texts };
  },
};

interface Call {
  readonly seq: number;
  readonly lines: Set<string>;
}

function take(
  calls: Map<string, Call>,
  seq: number,
  { toolCallId, patch }: Extract<SessionEvent, { type: 'tool_call' }>,
): void {
  const call = calls.get(toolCallId) ?? { seq, lines: new Set<string>() };
  calls.set(toolCallId, call);
  const { title, locations, rawInput } = patch;
  const input = typeof rawInput === 'object' && rawInput !== null ? (rawInput as Record<string, unknown>) : {};
  const said: unknown[] = [title, ...INPUTS.map((name) => words(input[name]))];
  if (Array.isArray(locations)) said.push(...locations.slice(0, MAX_LINES).map((location) => location?.path));
  for (const line of said)
    if (typeof line === 'string' && line !== '' && call.lines.size < MAX_LINES) call.lines.add(line.slice(0, MAX_LINE));
}

function words(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, MAX_LINES).join(' ') : value;
}
