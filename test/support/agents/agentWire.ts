// The scripted agent's side of the wire: writes messages as scripted, well-formed or not, and logs
// everything for the test.
import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { StringDecoder } from 'node:string_decoder';
import type { AgentProgram } from './program';

const longestLogged = 256 * 1024;

/**
 * Milliseconds since 1970 with a fraction, from the monotonic clock that browsers on this machine
 * can compare with.
 */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

export class AgentWire {
  /** Characters and messages written so far. */
  written = { characters: 0, messages: 0 };
  readonly program: AgentProgram;
  readonly #log: string | undefined;
  readonly #noise: boolean;

  constructor(program: AgentProgram, noise = false) {
    this.program = program;
    this.#log = program.env.AGENT_LOG;
    this.#noise = noise;
  }

  log(line: Record<string, unknown>): void {
    const { pid, hasExited } = this.program;
    if (this.#log && !hasExited) appendFileSync(this.#log, `${JSON.stringify({ t: now(), pid, ...line })}\n`);
  }

  send(message: Record<string, unknown>): Promise<void> | undefined {
    const line = JSON.stringify({ jsonrpc: '2.0', ...message });
    if (this.#log)
      this.log({ dir: 'out', ...(line.length < longestLogged ? { msg: message } : { length: line.length }) });
    return this.sendQuietly(line);
  }

  sendQuietly(line: string): Promise<void> | undefined {
    this.written.characters += line.length + 1;
    this.written.messages++;
    const text = this.#noise
      ? `\uFEFF\r\n\n[debug] about to write ${line.length} characters\n${line}\r\n`
      : `${line}\n`;
    return this.text(text);
  }

  text(text: string): Promise<void> | undefined {
    const { stdout, hasExited } = this.program;
    if (hasExited || stdout.write(text)) return undefined;
    return new Promise((resolve) => stdout.once('drain', () => resolve()));
  }

  listen(line: (text: string) => void, end: () => void): void {
    const decoder = new StringDecoder('utf8');
    let parts: string[] = [];
    const { stdin } = this.program;
    stdin.on('data', (chunk: Buffer) => {
      const lines = decoder.write(chunk).split('\n');
      parts.push(lines.shift() ?? '');
      for (const next of lines) {
        line(parts.join(''));
        parts = [next];
      }
    });
    stdin.on('end', end);
  }
}
