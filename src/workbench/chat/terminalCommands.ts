// Mentions of the last command of each terminal, from VS Code's shell integration.
import { l10n, type Terminal, type TerminalShellExecution, window, workspace } from 'vscode';
import { Part } from '../../base/disposable';
import { oneLine } from '../../base/text';
import type { MentionView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import type { Workbench } from '../core/workbench';
import { embeddedAttachment } from './attachments';
import { LastCommands, type TerminalCommand } from './lastCommands';

const MAX_LABEL = 60;
const MAX_NAME = 30;
const PREFIX = 'terminal:';

export class TerminalCommands extends Part {
  readonly #commands = new LastCommands<Terminal, TerminalShellExecution>();

  constructor(workbench: Pick<Workbench, 'setContext'>) {
    super();
    let had = false;
    const changed = (): void => {
      const has = this.#commands.list().length > 0;
      if (has !== had) workbench.setContext('hasTerminalCommands', has);
      had = has;
    };
    this.own(
      window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        if (!workspace.isTrusted) return;
        // Immediately: output printed before it is read is lost.
        this.#commands.begin(terminal, execution, execution.commandLine.value, execution.read());
        changed();
      }),
    );
    this.own(
      window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
        this.#commands.end(execution, execution.commandLine.value, exitCode);
        changed();
      }),
    );
    this.own(
      window.onDidCloseTerminal((terminal) => {
        this.#commands.forget(terminal);
        changed();
      }),
    );
  }

  offers(): readonly MentionView[] {
    return this.#commands.list().flatMap((command): readonly MentionView[] => {
      const label = labelOf(command);
      if (label === '') return [];
      const description = `${endOf(command)} · ${oneLine(command.terminal.name, MAX_NAME)}`;
      return [{ id: PREFIX + command.id, kind: 'terminal', label, description }];
    });
  }

  async attachment(id: string): Promise<QueuedAttachment | undefined> {
    const command = this.#commands.list().find((one) => PREFIX + one.id === id);
    return command && this.#attachmentOf(command);
  }

  async attachmentOf(terminal: Terminal): Promise<QueuedAttachment | undefined> {
    const command = this.#commands.of(terminal);
    return command && this.#attachmentOf(command);
  }

  async #attachmentOf(command: TerminalCommand<Terminal>): Promise<QueuedAttachment | undefined> {
    const text = await this.#commands.textOf(command.id, `“${oneLine(command.terminal.name, MAX_NAME)}”`);
    if (text === undefined) return undefined;
    return embeddedAttachment('terminal-output', `terminal/${command.id}`, labelOf(command), text);
  }
}

/** Returns a well-formed label: it becomes part of a URI. */
function labelOf({ line }: TerminalCommand<Terminal>): string {
  return oneLine(line, MAX_LABEL).toWellFormed();
}

function endOf({ end }: TerminalCommand<Terminal>): string {
  if (!end) return l10n.t('running');
  return end.exitCode === undefined ? l10n.t('ended') : l10n.t('exit {0}', end.exitCode);
}
