// Mirrors the output of an agent's command in a VS Code terminal.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { Terminals } from '../../client/terminals/terminals';
import type { TerminalExit } from '../../session/events/event';
import { newTerminal } from '../ui/places';

/** Longer output is cut to its end, in characters: VS Code has no backpressure for terminals. */
const MAX_PIECE = 64 * 1024;

export class RealTerminals implements Disposable {
  readonly #terminals: Terminals;
  readonly #terminalsById = new Map<string, vscode.Terminal>();
  readonly #store = new DisposableStore();

  constructor(terminals: Terminals) {
    this.#terminals = terminals;
    this.#store.add(
      vscode.window.onDidCloseTerminal((closed) => {
        for (const [id, terminal] of this.#terminalsById) if (terminal === closed) this.#terminalsById.delete(id);
      }),
    );
  }

  isOpenable(terminalId: string): boolean {
    return this.#terminals.isRunning(terminalId) || this.#terminals.outputOf(terminalId) !== '';
  }

  /** Shows a terminal. Ctrl+C kills the command; closing the terminal does not. */
  show(terminalId: string, command: string): vscode.Terminal {
    let terminal = this.#terminalsById.get(terminalId);
    if (!terminal) {
      const pty = new AgentPty(this.#terminals, terminalId, command);
      // Transient, since it would get no output after a reload.
      terminal = newTerminal(command || vscode.l10n.t('Agent'), {
        pty,
        isTransient: true,
        iconPath: new vscode.ThemeIcon('robot'),
      });
      this.#terminalsById.set(terminalId, terminal);
    }
    terminal.show(true);
    return terminal;
  }

  dispose(): void {
    this.#store.dispose();
    for (const terminal of this.#terminalsById.values()) terminal.dispose();
    this.#terminalsById.clear();
  }
}

export class AgentPty implements vscode.Pseudoterminal {
  readonly #terminals: Terminals;
  readonly #id: string;
  readonly #command: string;
  readonly #written = new vscode.EventEmitter<string>();
  #subscription: Disposable | undefined;
  #isEnded = false;

  readonly onDidWrite = this.#written.event;

  constructor(terminals: Terminals, terminalId: string, command: string) {
    this.#terminals = terminals;
    this.#id = terminalId;
    this.#command = command;
  }

  open(): void {
    this.#write(`\x1b[2m$ ${this.#command.replace(CONTROL, '')}\x1b[0m\n`);
    this.#write(this.#terminals.outputOf(this.#id));
    this.#subscription = this.#terminals.onDidChange(({ terminalId, append, drop, exit }) => {
      if (terminalId !== this.#id) return;
      if (append) this.#write(append, drop);
      if (exit) this.#end(exit);
    });
    const exit = this.#terminals.exitOf(this.#id);
    if (exit) this.#end(exit);
  }

  handleInput(data: string): void {
    if (data === '\x03') void this.#terminals.stop(this.#id);
  }

  close(): void {
    this.#subscription?.dispose();
    this.#written.dispose();
  }

  #end(exit: TerminalExit): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const outcome =
      exit.signal === undefined
        ? vscode.l10n.t('exited with code {0}', exit.exitCode ?? '?')
        : vscode.l10n.t('was ended by {0}', exit.signal);
    this.#write(`\n\x1b[0;2m${outcome}\x1b[0m\n`);
  }

  #write(text: string, dropped = 0): void {
    const shown = text.length > MAX_PIECE ? text.slice(-MAX_PIECE) : text;
    const skipped = dropped + text.length - shown.length;
    const note = skipped > 0 ? `\n\x1b[0;2m… ${vscode.l10n.t('{0} characters skipped', skipped)} …\x1b[0m\n` : '';
    // Pipes have bare line feeds, which a terminal would draw as a staircase.
    const lines = (note + shown).replace(/\r?\n/g, '\r\n');
    if (lines !== '') this.#written.fire(lines);
  }
}

/** Removes control characters: a command must not move the cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
