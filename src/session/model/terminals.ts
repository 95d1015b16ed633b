// Terminals as a session shows them: those that the client runs and those that an agent only describes. An id nobody has heard of is a terminal too.

import { grown, tail } from '../../base/text';
import { MAX_ALL_TERMINAL_CHARS, MAX_TERMINAL_CHARS, SHORT_TERMINAL_CHARS } from '../events/bounds';
import type { SessionEvent } from '../events/event';
import type { ModelContext } from './context';
import type { Terminal } from './state';

/** Terminals kept for display in one session; the oldest that has ended goes first. */
const MAX_TERMINALS = 500;

/** Applies what became known of a terminal. Output that grows costs what it grows by. */
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
    // Cutting at every append would copy a megabyte each time: let it grow by a quarter first.
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
  if (event.canCancel !== undefined) terminal.canCancel = event.canCancel;
  if (redraw)
    for (const index of context.terminalShownIn.get(terminal.id) ?? []) context.note((changes) => changes.entry(index));
}

/** Cuts the outputs of the terminals that began first, until all together are within the limit. */
function shortenOldest(context: ModelContext): void {
  for (const terminal of context.state.terminals.values()) {
    if (context.terminalChars <= MAX_ALL_TERMINAL_CHARS) return;
    const { length } = terminal.output;
    // What is short already is left alone until it has doubled: cutting it at every append would cost a copy each time.
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
  const terminal: Terminal = { id, output: '', truncated: false };
  terminals.set(id, terminal);
  return terminal;
}
