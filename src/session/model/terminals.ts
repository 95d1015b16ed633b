// Terminals of a session: those run by the client and those only described by an agent. An update
// with an unknown id adds a terminal.

import { grown, tail } from '../../base/text';
import { MAX_ALL_TERMINAL_CHARS, MAX_TERMINAL_CHARS, SHORT_TERMINAL_CHARS } from '../events/bounds';
import type { SessionEvent } from '../events/event';
import { currentTurn, type ModelContext } from './context';
import type { Terminal } from './state';
import { adoptTerminal } from './tools';

const MAX_TERMINALS = 500;

export function applyTerminal(context: ModelContext, event: Extract<SessionEvent, { type: 'terminal' }>): void {
  const terminal = get(context, event.terminalId);
  let redraw = false;
  const before = terminal.output.length;
  if (event.command !== undefined) terminal.command = event.command;
  if (event.cwd !== undefined) terminal.cwd = event.cwd;
  if (event.output !== undefined) {
    terminal.output = tail(event.output, MAX_TERMINAL_CHARS);
    terminal.truncated = event.truncated === true || event.output.length > MAX_TERMINAL_CHARS;
    redraw = true;
  } else if (event.append) {
    const full = grown(terminal.output, event.append);
    // Trimming on every append would copy a megabyte each time, so let the output grow by a quarter
    // first.
    const output = full.length > MAX_TERMINAL_CHARS * 1.25 ? tail(full, MAX_TERMINAL_CHARS) : full;
    if (output.length < full.length) terminal.truncated = true;
    terminal.output = output;
    const { append } = event;
    context.note((changes) => changes.terminal(terminal.id, append));
  }
  context.terminalChars += terminal.output.length - before;
  if (context.terminalChars > MAX_ALL_TERMINAL_CHARS) shortenOldest(context);
  if (event.exit === null && terminal.exit) {
    delete terminal.exit;
    redraw = true;
  }
  if (event.exit && !terminal.exit) {
    terminal.exit = event.exit;
    redraw = true;
  }
  if (event.released) terminal.released = true;
  if (event.isStopped && !terminal.exit) {
    terminal.isStopped = true;
    redraw = true;
  }
  if (event.toolCallId !== undefined) adoptTerminal(context, event.toolCallId, terminal.id);
  if (event.canCancel !== undefined) terminal.canCancel = event.canCancel;
  if (redraw)
    for (const index of context.terminalShownIn.get(terminal.id) ?? []) context.note((changes) => changes.entry(index));
}

function shortenOldest(context: ModelContext): void {
  for (const terminal of context.state.terminals.values()) {
    if (context.terminalChars <= MAX_ALL_TERMINAL_CHARS) return;
    const { length } = terminal.output;
    // Shortening the same output on every append would copy it each time, so wait until it has
    // doubled.
    if (length <= 2 * SHORT_TERMINAL_CHARS) continue;
    terminal.output = tail(terminal.output, SHORT_TERMINAL_CHARS);
    terminal.truncated = true;
    context.terminalChars -= length - terminal.output.length;
  }
}

function get(context: ModelContext, id: string): Terminal {
  const { terminals } = context.state;
  const known = terminals.get(id);
  if (known) return known;
  if (terminals.size >= MAX_TERMINALS) {
    for (const [old, terminal] of terminals) {
      if (!terminal.exit && !terminal.released) continue;
      terminals.delete(old);
      context.terminalChars -= terminal.output.length;
      break;
    }
  }
  const turn = currentTurn(context.state);
  const terminal: Terminal = { id, output: '', truncated: false, turnId: turn?.id };
  terminals.set(id, terminal);
  return terminal;
}
