// A minimal JSON-RPC client of the demo agent, over in-memory streams.
import { PassThrough } from 'node:stream';
import { DemoAgent } from '../../../src/demo/demoAgent';
import type { Message, Wild } from '../../agents/rawClient';

export class MemoryClient {
  readonly received: Message[] = [];
  readonly #input = new PassThrough();
  readonly #waiting = new Set<() => void>();
  #nextId = 0;

  constructor() {
    const output = new PassThrough();
    new DemoAgent(this.#input, output);
    output.setEncoding('utf8').on('data', (lines: string) => {
      for (const line of lines.split('\n').slice(0, -1)) this.received.push(JSON.parse(line));
      for (const look of [...this.#waiting]) look();
    });
  }

  send(method: string, params: unknown): { readonly id: number; readonly answer: Promise<Message> } {
    const id = this.#nextId++;
    this.#write({ id, method, params });
    return { id, answer: this.until((message) => message.id === id && message.method === undefined) };
  }

  /** Sends a request and returns its result. @throws Error with the error response */
  async request(method: string, params: unknown): Promise<Wild> {
    const { error, result } = await this.send(method, params).answer;
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  notify(method: string, params: unknown): void {
    this.#write({ method, params });
  }

  answer(id: Message['id'], result: unknown): void {
    this.#write({ id, result });
  }

  until(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.received.find(fits);
        if (!found) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  untilUpdate(fits: (update: Wild) => boolean): Promise<Message> {
    return this.until(({ params }) => params?.update !== undefined && fits(params.update));
  }

  get text(): string {
    return this.received
      .flatMap(({ params }) =>
        params?.update?.sessionUpdate === 'agent_message_chunk' ? [params.update.content.text] : [],
      )
      .join('');
  }

  /** Describes the messages since `from`, merging chunks of a text. */
  story(from = 0): string[] {
    const words = this.received.slice(from).map(({ method, result, error, params }) => {
      if (method === undefined) return error ? `error ${error.code}` : `answer ${JSON.stringify(result)}`;
      const { sessionUpdate, state, stopReason, status, background } = params?.update ?? {};
      if (sessionUpdate === 'agent_message_chunk') return 'text';
      const more = [state, stopReason, status, background?.length > 0 && 'with background work'];
      return [sessionUpdate ?? method, ...more.filter(Boolean)].join(' ');
    });
    return words.filter(
      (word, at) => word !== words[at - 1] && word !== 'usage_update' && word !== 'session_info_update',
    );
  }

  #write(message: object): void {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
