// The last command of each terminal with the end of what it printed. Knows no VS Code: terminals and
// executions are what tells them apart.
import { randomUUID } from 'node:crypto';
import { plainOutput } from '../../base/ansi';
import { Deferred } from '../../base/deferred';
import { head } from '../../base/text';
import { within } from '../../base/within';
import { MarkedOutput } from './markedOutput';

/** Terminals whose last command is kept: those with the newest commands. */
const MAX_TERMINALS = 8;
/** Bytes of output of each, with its escape sequences. */
const MAX_OUTPUT = 64 * 1024;
/** Characters of a command line. */
const MAX_LINE = 4000;
/** How long the rest of the output of a command that has ended is waited for, in milliseconds. */
const REST_MS = 2000;

/** The context keys without a command to attach. */
export const NO_TERMINAL_COMMANDS = { hasTerminalCommands: false };

/** A command that runs or ran in a terminal. */
export interface TerminalCommand<Terminal> {
  /** Random: who does not know it cannot ask for the output. */
  readonly id: string;
  readonly terminal: Terminal;
  readonly line: string;
  /** The code is undefined where the shell did not tell it. */
  readonly end: { readonly exitCode: number | undefined } | undefined;
}

export class LastCommands<Terminal extends object, Execution extends object> {
  /** By their terminal, the newest last. */
  readonly #last = new Map<Terminal, Command<Terminal>>();
  /** Also those whose line is not known yet. */
  readonly #running = new WeakMap<Execution, Command<Terminal>>();

  /**
   * A command has begun.
   * @param line '' where the shell did not tell it
   * @param output what the terminal receives from now on
   */
  begin(terminal: Terminal, execution: Execution, line: string, output: AsyncIterable<string>): void {
    const command = new Command(terminal, line);
    this.#running.set(execution, command);
    this.#keep(command);
    void command.read(output);
  }

  /** @param line as it is known now */
  end(execution: Execution, line: string, exitCode: number | undefined): void {
    const command = this.#running.get(execution);
    if (!command || command.isForgotten) return;
    this.#running.delete(execution);
    command.ended(line, exitCode);
    this.#keep(command);
  }

  /** A terminal is closed. */
  forget(terminal: Terminal): void {
    this.#last.get(terminal)?.forget();
    this.#last.delete(terminal);
  }

  /** The last command of each terminal, newest first. */
  list(): readonly TerminalCommand<Terminal>[] {
    return [...this.#last.values()].reverse();
  }

  /** The last command of a terminal. */
  of(terminal: Terminal): TerminalCommand<Terminal> | undefined {
    return this.#last.get(terminal);
  }

  /**
   * Describes a command for an agent: its line, how it ended, and what it printed. Waits a moment for
   * output that is still on its way.
   * @param place where it ran, in words
   * @returns undefined where the id is not that of the last command of a terminal
   */
  async textOf(id: string, place: string): Promise<string | undefined> {
    const command = [...this.#last.values()].find((one) => one.id === id);
    if (!command) return undefined;
    await command.settled();
    return command.text(place);
  }

  /** Empty lines and commands before the newest of their terminal are not of interest. */
  #keep(command: Command<Terminal>): void {
    const { terminal } = command;
    const known = this.#last.get(terminal);
    if (command.line === '' || command === known || (known && known.order > command.order)) return;
    known?.forget();
    this.#last.delete(terminal);
    this.#last.set(terminal, command);
    for (const [oldest] of this.#last) {
      if (this.#last.size <= MAX_TERMINALS) break;
      this.forget(oldest);
    }
  }
}

let count = 0;

class Command<Terminal> implements TerminalCommand<Terminal> {
  readonly id = randomUUID();
  /** Later commands have a greater one. */
  readonly order = ++count;
  readonly terminal: Terminal;
  readonly #output = new MarkedOutput(MAX_OUTPUT);
  readonly #read = new Deferred<void>();
  readonly #ended = new Deferred<void>();
  #line: string;
  #end: { readonly exitCode: number | undefined } | undefined;
  #isRead = false;
  #isForgotten = false;

  constructor(terminal: Terminal, line: string) {
    this.terminal = terminal;
    this.#line = shorten(line);
  }

  get line(): string {
    return this.#line;
  }

  get end(): TerminalCommand<Terminal>['end'] {
    return this.#end;
  }

  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  async read(output: AsyncIterable<string>): Promise<void> {
    try {
      for await (const piece of output) {
        if (this.#isForgotten) return;
        this.#output.append(piece);
      }
    } catch {
      // What came before it is what is known.
    } finally {
      this.#isRead = true;
      this.#read.resolve();
    }
  }

  ended(line: string, exitCode: number | undefined): void {
    if (line.trim() !== '') this.#line = shorten(line);
    this.#end = { exitCode };
    this.#ended.resolve();
  }

  /** Nothing of it is of interest any more. */
  forget(): void {
    this.#isForgotten = true;
  }

  /** Waits a moment for output and exit code of a command of which one has come. */
  async settled(): Promise<void> {
    if (this.#isRead === (this.#end !== undefined)) return;
    await within(REST_MS, Promise.all([this.#read.promise, this.#ended.promise]));
  }

  text(place: string): string {
    const { output, truncated } = this.#output.text();
    // The beginning of a line that is cut may be half an escape sequence.
    const whole = truncated ? output.slice(output.indexOf('\n') + 1) : output;
    // Behind it, zsh writes a sign over spaces that it takes back.
    const printed = plainOutput(whole).trimEnd();
    const isComplete = this.#isRead && this.#end !== undefined;
    return [
      `The last command in a terminal of the user, ${place}:`,
      `$ ${this.#line}`,
      endOf(this.#end),
      ...(truncated ? ['[the beginning of the output is left out]'] : []),
      printed === '' ? '[no output is known]' : printed,
      ...(this.#end && !isComplete ? ['[the rest of the output is not known]'] : []),
    ].join('\n');
  }
}

function endOf(end: TerminalCommand<unknown>['end']): string {
  if (!end) return '[still running]';
  return end.exitCode === undefined ? '[ended, exit code unknown]' : `[exit code ${end.exitCode}]`;
}

function shorten(line: string): string {
  return head(line.trim(), MAX_LINE);
}
