// The scripted agent's side of the wire: writes messages as it is told, well-formed or not, and logs everything for the test to read.
import { appendFileSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { StringDecoder } from 'node:string_decoder';

const longestLogged = 256 * 1024;

/** Milliseconds since 1970 with a fraction, from the monotonic clock that browsers on this machine can compare with. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

export class AgentWire {
  /** Characters and messages written so far. */
  written = { characters: 0, messages: 0 };
  readonly #log = process.env.AGENT_LOG;
  readonly #noise: boolean;

  /** @param noise whether each message is surrounded by lines that are none */
  constructor(noise: boolean) {
    this.#noise = noise;
  }

  /** Adds a line to the log. */
  log(line: Record<string, unknown>): void {
    if (this.#log) appendFileSync(this.#log, `${JSON.stringify({ t: now(), pid: process.pid, ...line })}\n`);
  }

  /** Writes a message. @returns a promise where the pipe is full */
  send(message: Record<string, unknown>): Promise<void> | undefined {
    const line = JSON.stringify({ jsonrpc: '2.0', ...message });
    if (this.#log)
      this.log({ dir: 'out', ...(line.length < longestLogged ? { msg: message } : { length: line.length }) });
    return this.sendQuietly(line);
  }

  /** Writes one line without logging it, for floods. */
  sendQuietly(line: string): Promise<void> | undefined {
    this.written.characters += line.length + 1;
    this.written.messages++;
    const text = this.#noise
      ? `\uFEFF\r\n\n[debug] about to write ${line.length} characters\n${line}\r\n`
      : `${line}\n`;
    return this.text(text);
  }

  /** Writes text as it is. */
  text(text: string): Promise<void> | undefined {
    if (process.stdout.write(text)) return undefined;
    return new Promise((resolve) => process.stdout.once('drain', () => resolve()));
  }

  /** Hands on each line of stdin. */
  listen(line: (text: string) => void, end: () => void): void {
    const decoder = new StringDecoder('utf8');
    let parts: string[] = [];
    process.stdin.on('data', (chunk: Buffer) => {
      const lines = decoder.write(chunk).split('\n');
      parts.push(lines.shift() ?? '');
      for (const next of lines) {
        line(parts.join(''));
        parts = [next];
      }
    });
    process.stdin.on('end', end);
  }

  /** Writes to stderr at once, also on the way out. */
  say(text: string): void {
    try {
      writeSync(2, `${text}\n`);
    } catch {
      // nobody reads stderr; the log has it
    }
  }
}
