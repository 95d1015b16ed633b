// Terminals of v2: the agent runs them and describes them; output arrives as base64 pieces that may
// cut a character. One instance per session stream.
import { StringDecoder } from 'node:string_decoder';
import { at, isMarked } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';
import { terminalChunkSchema, terminalUpdateSchema } from './v2Schema';

/**
 * Terminals whose output may still continue; the oldest is forgotten first, which at worst spoils
 * one character of it.
 */
const MAX_OPEN = 500;

export class V2Terminals {
  readonly #decoders = new Map<string, StringDecoder>();

  /**
   * Reads `terminal_update` and `terminal_output_chunk`; undefined if it is another update or
   * does not fit.
   */
  read(update: unknown): SessionEvent | undefined {
    switch (at(update, 'sessionUpdate')) {
      case 'terminal_output_chunk': {
        const parsed = terminalChunkSchema.safeParse(update);
        if (!parsed.success) return undefined;
        const { terminalId, data } = parsed.data;
        return { type: 'terminal', terminalId, append: this.#decode(terminalId, data) };
      }
      case 'terminal_update':
        return this.#update(update);
      default:
        return undefined;
    }
  }

  #update(update: unknown): SessionEvent | undefined {
    const parsed = terminalUpdateSchema.safeParse(update);
    if (!parsed.success) return undefined;
    const { terminalId, command, cwd, output, exitStatus } = parsed.data;
    if (output !== undefined) this.#decoders.delete(terminalId);
    const text = output ? this.#decode(terminalId, output.data) : '';
    // What is left of a character that never became whole.
    const rest = exitStatus ? this.#end(terminalId) : '';
    const capabilities = at(update, 'capabilities');
    return {
      type: 'terminal',
      terminalId,
      canCancel: capabilities !== undefined ? isMarked(at(capabilities, 'cancel')) : undefined,
      command: command !== undefined ? (command ?? '') : undefined,
      cwd: cwd !== undefined ? (cwd ?? '') : undefined,
      ...(output !== undefined ? { output: text + rest } : rest !== '' && { append: rest }),
      exit: exitStatus,
    };
  }

  #decode(terminalId: string, data: string): string {
    let decoder = this.#decoders.get(terminalId);
    if (!decoder) {
      decoder = new StringDecoder('utf8');
      this.#decoders.set(terminalId, decoder);
      const [oldest] = this.#decoders.keys();
      if (this.#decoders.size > MAX_OPEN && oldest !== undefined) this.#decoders.delete(oldest);
    }
    return decoder.write(Buffer.from(data, 'base64'));
  }

  #end(terminalId: string): string {
    const rest = this.#decoders.get(terminalId)?.end() ?? '';
    this.#decoders.delete(terminalId);
    return rest;
  }
}
