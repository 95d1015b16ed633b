// The last command of each terminal with the end of its output. Independent of VS Code: terminals
// and executions are only identities.
import { randomUUID } from 'node:crypto';
import { plainOutput } from '../../base/ansi';
import { Deferred } from '../../base/deferred';
import { head } from '../../base/text';
import { within } from '../../base/within';
import { MarkedOutput } from './markedOutput';

const MAX_TERMINALS = 8;
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_LINE = 4000;
const OUTPUT_TIMEOUT_MS = 2000;

export const NO_TERMINAL_COMMANDS = { hasTerminalCommands: false };

export interface TerminalCommand<Terminal> {
  /** Random, so that a page can't request output by guessing. */
  readonly id: string;
  readonly terminal: Terminal;
  readonly line: string;
  readonly end: { readonly exitCode: number | undefined } | undefined;
}

export class LastCommands<Terminal extends object, Execution extends object> {
  /** Newest last. */
  readonly #byTerminal = new Map<Terminal, Command<Terminal>>();
  readonly #running = new WeakMap<Execution, Command<Terminal>>();

  /** @param line '' if unknown @param output data that the terminal receives from now on */
  begin(terminal: Terminal, execution: Execution, line: string, output: AsyncIterable<string>): void {
    const command = new Command(terminal, line);
    this.#running.set(execution, command);
    this.#add(command);
    void command.read(output);
  }

  end(execution: Execution, line: string, exitCode: number | undefined): void {
    const command = this.#running.get(execution);
    if (!command || command.isForgotten) return;
    this.#running.delete(execution);
    command.ended(line, exitCode);
    this.#add(command);
  }

  forget(terminal: Terminal): void {
    this.#byTerminal.get(terminal)?.forget();
    this.#byTerminal.delete(terminal);
  }

  list(): readonly TerminalCommand<Terminal>[] {
    return [...this.#byTerminal.values()].reverse();
  }

  of(terminal: Terminal): TerminalCommand<Terminal> | undefined {
    return this.#byTerminal.get(terminal);
  }

  /**
   * Describes a command for an agent. Waits briefly for output.
   * @param place where it ran, as text
   * @returns undefined if another command ran since
   */
  async textOf(id: string, place: string): Promise<string | undefined> {
    const command = [...this.#byTerminal.values()].find((one) => one.id === id);
    if (!command) return undefined;
    await command.settled();
    return command.text(place);
  }

  #add(command: Command<Terminal>): void {
    const { terminal } = command;
    const known = this.#byTerminal.get(terminal);
    if (command.line === '' || command === known || (known && known.order > command.order)) return;
    known?.forget();
    this.#byTerminal.delete(terminal);
    this.#byTerminal.set(terminal, command);
    for (const [oldest] of this.#byTerminal) {
      if (this.#byTerminal.size <= MAX_TERMINALS) break;
      this.forget(oldest);
    }
  }
}

let count = 0;

class Command<Terminal> implements TerminalCommand<Terminal> {
  readonly id = randomUUID();
  readonly order = ++count;
  readonly terminal: Terminal;
  readonly #output = new MarkedOutput(MAX_OUTPUT_BYTES);
  readonly #didRead = new Deferred<void>();
  readonly #didEnd = new Deferred<void>();
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
    } finally {
      this.#isRead = true;
      this.#didRead.resolve();
    }
  }

  ended(line: string, exitCode: number | undefined): void {
    if (line.trim() !== '') this.#line = shorten(line);
    this.#end = { exitCode };
    this.#didEnd.resolve();
  }

  forget(): void {
    this.#isForgotten = true;
  }

  async settled(): Promise<void> {
    if (this.#isRead === (this.#end !== undefined)) return;
    await within(OUTPUT_TIMEOUT_MS, Promise.all([this.#didRead.promise, this.#didEnd.promise]));
  }

  text(place: string): string {
    const { output, truncated } = this.#output.text();
    // Truncated output may begin inside an escape sequence.
    const whole = truncated ? output.slice(output.indexOf('\n') + 1) : output;
    // zsh prints a mark over spaces that it then erases.
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
