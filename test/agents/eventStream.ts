// Server-sent events for the scripted model, at the speed of a quick model; stops when the agent
// hangs up.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from './modelScripts';

/** Answers with JSON. */
export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export class EventStream {
  readonly response: ServerResponse;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  /** Whether the agent still reads. */
  get isOpen(): boolean {
    return !this.response.destroyed;
  }

  /**
   * Sends one event.
   * @param data JSON, or a string as it is
   * @param name the event's name, where the dialect has one
   */
  send(data: unknown, name?: string): void {
    if (!this.isOpen) return;
    if (!this.response.headersSent) {
      this.response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    }
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  }

  end(): void {
    this.response.end();
  }

  /** The words of a part, one after the other in time. */
  async *words(part: Exclude<Part, { call: unknown }>): AsyncGenerator<string> {
    if ('slow' in part) {
      for (let tick = 1; tick <= part.slow && this.isOpen; tick++) {
        await sleep(100);
        yield `tick${tick} `;
      }
      return;
    }
    for (const word of ('text' in part ? part.text : part.think).match(/\s*\S+\s*/g) ?? []) {
      if (!this.isOpen) return;
      await sleep(3);
      yield word;
    }
  }
}
