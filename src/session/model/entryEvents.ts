// Converts transcript entries back to events, to add them to another transcript or at another
// position.
import type { EventOf, RestoredEvent, SessionEvent } from '../events/event';
import type { Entry, SessionState, ToolEntry } from './state';

export function eventsOf(entry: Entry): RestoredEvent[] {
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought': {
      const { kind: role, messageId, content, parent } = entry;
      const ids = { messageId, parent };
      const common = { type: 'message_chunk', role, ...ids } as const;
      return content.map((block) => ({ ...common, block }));
    }
    case 'tool':
      return [toolEvent(entry)];
    case 'plan': {
      const { planId, entries, markdown: text, uri } = entry;
      if (text !== undefined)
        return [{ type: 'plan_document', planId, document: { type: 'markdown', text, path: uri } }];
      if (uri !== undefined) return [{ type: 'plan_document', planId, document: { type: 'file', uri } }];
      return [{ type: 'plan', planId, entries }];
    }
    case 'notice': {
      const { severity, title, text, said, detail, raw } = entry;
      if (raw !== undefined) return [{ type: 'unknown_update', name: title, raw }];
      const description = typeof text === 'string' ? [text, detail].filter(Boolean).join('\n\n') : text;
      return [{ type: 'notice', severity, title, said, description: description || undefined }];
    }
    case 'error': {
      const { code, text: message, hint, stderr } = entry;
      return [{ type: 'error', code, message, hint: hint || undefined, stderr: stderr || undefined }];
    }
    default:
      return [];
  }
}

export function toolEvent(entry: ToolEntry): EventOf<'tool_call'> {
  const { toolCallId, title, name, toolKind, status, content, locations, rawInput, rawOutput, parent } = entry;
  const patch = {
    title,
    kind: toolKind,
    status,
    content,
    locations,
    name,
    rawInput,
    rawOutput,
    parent,
  };
  return { type: 'tool_call', toolCallId, patch, announced: false };
}

export function terminalsOf(entry: Entry, { terminals }: Pick<SessionState, 'terminals'>): SessionEvent[] {
  if (entry.kind !== 'tool') return [];
  return entry.content.flatMap((part): SessionEvent[] => {
    const terminal = part.type === 'terminal' ? terminals.get(part.terminalId) : undefined;
    if (!terminal) return [];
    const { id: terminalId, command, cwd, output, truncated, exit } = terminal;
    const described = { command, cwd };
    const ended = exit ? { exit } : { released: true };
    return [{ type: 'terminal', terminalId, ...described, output, truncated, ...ended }];
  });
}
