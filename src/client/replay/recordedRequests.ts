// What an agent asked a client in a recording: questions for permission, and terminals. The answers
// are in the recording too.
import { type Dialect, required } from '../../acp/protocol/dialect';
import { at } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';
import { askedBySubagent } from '../requests/subagents';

const MAX_WORDS = 100;

export class RecordedRequests {
  readonly #emit: (event: SessionEvent) => void;
  readonly #questions = new Set<string>();
  readonly #terminals = new Set<string>();
  #count = 0;

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  /**
   * Shows a permission request.
   * @param subagent the asking subagent's session
   * @param isCancelled the turn was stopped: nothing is shown
   * @returns its id, if shown
   */
  ask(dialect: Dialect, params: unknown, subagent: string | undefined, isCancelled: boolean): string | undefined {
    const read = required(dialect.controls).readPermission(params);
    const { toolCallId, patch, title, description, command, options } =
      subagent === undefined ? read : askedBySubagent(read, subagent);
    if (toolCallId !== undefined && patch)
      this.#emit({ type: 'tool_call', toolCallId, patch, announced: false, asks: true });
    if (isCancelled) return undefined;
    const permissionId = `recorded-${++this.#count}`;
    this.#emit({
      type: 'permission_asked',
      permissionId,
      title,
      options,
      toolCallId,
      description: description || undefined,
      command,
    });
    this.#questions.add(permissionId);
    return permissionId;
  }

  /** @param result undefined for an error */
  answered(permissionId: string, result: unknown): void {
    if (!this.#questions.delete(permissionId)) return;
    const optionId = at(result, 'outcome', 'optionId');
    this.#emit(
      typeof optionId === 'string'
        ? { type: 'permission_closed', permissionId, outcome: 'selected', optionId, by: 'user' }
        : { type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'turn' },
    );
  }

  ofTerminal(method: string, params: unknown, result: unknown): void {
    if (method === 'terminal/create') {
      const [terminalId, command, cwd] = [at(result, 'terminalId'), at(params, 'command'), at(params, 'cwd')];
      if (typeof terminalId !== 'string') return;
      const args = at(params, 'args');
      const words = [command, ...(Array.isArray(args) ? args.slice(0, MAX_WORDS) : [])].filter(isText);
      this.#terminals.add(terminalId);
      this.#emit({ type: 'terminal', terminalId, command: words.join(' '), cwd: isText(cwd) ? cwd : undefined });
      return;
    }
    const terminalId = at(params, 'terminalId');
    if (typeof terminalId !== 'string' || !this.#terminals.has(terminalId)) return;
    const isOutput = method === 'terminal/output';
    if (!isOutput && method !== 'terminal/wait_for_exit') return;
    const output = at(result, 'output');
    const exit = isOutput ? at(result, 'exitStatus') : result;
    const [exitCode, signal] = [at(exit, 'exitCode'), at(exit, 'signal')];
    this.#emit({
      type: 'terminal',
      terminalId,
      ...(isOutput && isText(output) && { output, truncated: at(result, 'truncated') === true }),
      ...((typeof exitCode === 'number' || isText(signal)) && {
        exit: {
          exitCode: typeof exitCode === 'number' ? exitCode : undefined,
          signal: isText(signal) ? signal : undefined,
        },
      }),
    });
  }

  release(terminalId: unknown): void {
    if (typeof terminalId === 'string' && this.#terminals.delete(terminalId))
      this.#emit({ type: 'terminal', terminalId, released: true });
  }

  closeAll(): void {
    for (const permissionId of this.#questions)
      this.#emit({ type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'exit' });
    this.#questions.clear();
    for (const terminalId of this.#terminals) this.#emit({ type: 'terminal', terminalId, released: true });
    this.#terminals.clear();
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
