// A remote agent whose sessions and turns outlive the connections to it: version 1 over WebSocket
// or streamable HTTP (with the official SDK's server), in this process, with what it offers and how
// its turns go decided by the test.
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createNodeHttpHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { WebSocketServer } from 'ws';
import { Deferred } from '../../../src/base/deferred';
import { at } from '../../../src/base/untrusted';

type Json = Record<string, unknown>;

export interface DurableOptions {
  readonly transport?: 'http';
  readonly refusesLoad?: boolean;
  readonly refusesResume?: boolean;
  /**
   * What `session/status` answers: with the state of the turn, without it, another answer, or
   * silence. Absent: it is not offered.
   */
  readonly status?: 'states' | 'live' | 'open' | 'saved' | 'not_found' | 'none';
  readonly onStatus?: (session: DurableSession) => void;
  readonly load?: boolean;
  readonly resume?: boolean;
  readonly turnComplete?: boolean;
}

export interface DurableSession {
  readonly id: string;
  readonly prompts: string[];
  said: string;
  stopReason: string | undefined;
}

interface Line {
  readonly number: number;
  isOpen: boolean;
  send(message: Json): void;
  terminate(): void;
}

interface Running extends DurableSession {
  readonly updates: Json[];
  promptId: unknown;
  asked: Line | undefined;
  line: Line | undefined;
  turns: number;
  calls: number;
}

export class DurableAgent {
  readonly sessions = new Map<string, DurableSession>();
  readonly received: string[] = [];
  breaksBefore: (method: string) => boolean = () => false;
  onTurn: (session: DurableSession, text: string) => void = () => {};
  readonly #options: DurableOptions;
  #lineCount = 0;
  readonly #sockets = new Set<Socket>();
  readonly #running = new Map<string, Running>();
  readonly #waiting = new Set<() => void>();
  readonly #http = createServer();
  #isAway = false;

  private constructor(options: DurableOptions) {
    this.#options = options;
    this.#http.on('connection', (socket: Socket) => {
      if (this.#isAway) {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    if (options.transport === 'http') this.#serveHttp();
    else this.#serveSockets();
  }

  #serveSockets(): void {
    new WebSocketServer({ server: this.#http }).on('connection', (socket) => {
      const line = this.#lineOf(
        (text) => socket.send(text),
        () => {
          line.isOpen = false;
          socket.terminate();
        },
      );
      socket.on('error', () => {});
      socket.on('close', () => this.#closed(line));
      socket.on('message', (data) => this.#received(line, JSON.parse(String(data)) as Json));
    });
  }

  #serveHttp(): void {
    const acp = new AcpServer({
      createAgent: () => ({
        connect: ({ readable, writable }) => {
          const writer = writable.getWriter();
          const line = this.#lineOf(
            (text) => void writer.write(JSON.parse(text)).catch(() => {}),
            () => this.cut(),
          );
          void this.#hear(line, readable);
        },
      }),
    });
    this.#http.on('request', createNodeHttpHandler(acp));
  }

  async #hear(line: Line, readable: ReadableStream<unknown>): Promise<void> {
    try {
      for await (const message of readable) this.#received(line, message as Json);
    } catch {
      // The connection is closed.
    }
    this.#closed(line);
  }

  #lineOf(write: (text: string) => void, end: () => void): Line {
    const line: Line = {
      number: ++this.#lineCount,
      isOpen: true,
      send: (message) => {
        if (line.isOpen) write(JSON.stringify({ jsonrpc: '2.0', ...message }));
      },
      terminate: end,
    };
    return line;
  }

  #closed(line: Line): void {
    line.isOpen = false;
    this.#changed();
  }

  static async start(options: DurableOptions): Promise<DurableAgent> {
    const agent = new DurableAgent(options);
    await new Promise<void>((resolve) => agent.#http.listen(0, '127.0.0.1', resolve));
    return agent;
  }

  get url(): string {
    const scheme = this.#options.transport ?? 'ws';
    return `${scheme}://127.0.0.1:${(this.#http.address() as AddressInfo).port}/`;
  }

  get only(): DurableSession {
    const [session, ...others] = this.sessions.values();
    if (!session || others.length > 0) throw new Error(`${this.sessions.size} sessions`);
    return session;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  leave(): void {
    this.#isAway = true;
    this.cut();
  }

  back(): void {
    this.#isAway = false;
  }

  forget({ id }: DurableSession): void {
    this.sessions.delete(id);
    this.#running.delete(id);
  }

  say(session: DurableSession, text: string): void {
    session.said += text;
    this.#update(session, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  call(session: DurableSession, title: string, status: 'completed' | 'in_progress' = 'completed'): void {
    const one = this.#find(session);
    const toolCallId = `call-${++one.calls}`;
    this.#update(session, { sessionUpdate: 'tool_call', toolCallId, title, kind: 'read', status: 'in_progress' });
    this.#update(session, { sessionUpdate: 'tool_call_update', toolCallId, status });
  }

  /**
   * Asks for a permission.
   * @returns the option that was chosen; never settles where the connection breaks
   */
  async ask(session: DurableSession): Promise<unknown> {
    const { line } = this.#find(session);
    const id = `ask-${++this.#asked}`;
    const answer = new Deferred<unknown>();
    this.#asks.set(id, answer);
    send(line, {
      id,
      method: 'session/request_permission',
      params: {
        sessionId: session.id,
        toolCall: { toolCallId: 'asked', title: 'Look' },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      },
    });
    return answer.promise;
  }

  readonly #asks = new Map<string, Deferred<unknown>>();
  #asked = 0;

  end(session: DurableSession, stopReason: string): void {
    const one = this.#find(session);
    const { promptId, asked } = one;
    one.stopReason = stopReason;
    one.promptId = undefined;
    if (this.#options.turnComplete)
      this.#send(one, { sessionUpdate: 'turn_complete', promptRequestId: String(promptId), stopReason });
    send(asked, { id: promptId, result: { stopReason } });
    this.#changed();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  async close(): Promise<void> {
    this.leave();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #find({ id }: DurableSession): Running {
    const one = this.#running.get(id);
    if (!one) throw new Error(`there is no session ${id}`);
    return one;
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }

  #update(session: DurableSession, update: Json): void {
    const one = this.#find(session);
    one.updates.push(update);
    this.#send(one, update);
  }

  #send({ id, line }: Running, update: Json): void {
    send(line, { method: 'session/update', params: { sessionId: id, update } });
  }

  #received(line: Line, message: Json): void {
    // What was on its way when the connection broke may still arrive over HTTP, where the server
    // takes it.
    const { id, method } = message;
    if (method === undefined) {
      this.#asks.get(String(id))?.resolve(at(message.result, 'outcome', 'optionId'));
      return;
    }
    if (this.breaksBefore(String(method))) {
      line.terminate();
      return;
    }
    this.received.push(String(method));
    this.#handle(line, message);
    this.#changed();
  }

  #handle(line: Line, { id, method, params }: Json): void {
    const { sessionId = '', prompt } = (params ?? {}) as { sessionId?: string; prompt?: { text?: string }[] };
    const session = this.#running.get(sessionId);
    const result = (value: Json): void => send(line, { id, result: value });
    switch (method) {
      case 'initialize':
        result({ protocolVersion: 1, agentCapabilities: this.#capabilities(), authMethods: [] });
        return;
      case 'session/new': {
        const made = newSession(`durable-${this.#running.size + this.#forgotten++ + 1}`, line);
        this.#running.set(made.id, made);
        this.sessions.set(made.id, made);
        result({ sessionId: made.id });
        return;
      }
      case 'session/status':
        this.#answerStatus(session, result);
        speakOver(session, line);
        return;
    }
    if (!session) {
      if (id !== undefined)
        send(line, { id, error: { code: -32002, message: 'No such session', data: { sessionId } } });
      return;
    }
    speakOver(session, line);
    switch (method) {
      case 'session/load':
        if (this.#options.refusesLoad) {
          send(line, { id, error: { code: -32603, message: 'The session is open' } });
          return;
        }
        for (const update of session.updates) this.#send(session, update);
        result({});
        return;
      case 'session/resume':
        if (this.#options.refusesResume) {
          send(line, { id, error: { code: -32603, message: 'It has another client' } });
          return;
        }
        result({});
        return;
      case 'session/prompt':
        this.#begin(session, line, id, prompt?.[0]?.text ?? '');
        return;
      case 'session/cancel':
        if (session.promptId !== undefined) this.end(session, 'cancelled');
        return;
      default:
        if (id !== undefined) send(line, { id, error: { code: -32601, message: 'Method not found' } });
    }
  }

  #forgotten = 0;

  #begin(session: Running, line: Line, id: unknown, text: string): void {
    session.prompts.push(text);
    session.updates.push({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } });
    Object.assign(session, { stopReason: undefined, promptId: id, asked: line });
    session.turns++;
    this.onTurn(session, text);
  }

  #answerStatus(session: Running | undefined, result: (value: Json) => void): void {
    const { status } = this.#options;
    if (session) this.#options.onStatus?.(session);
    if (status === 'none') return;
    if (!session) result({ status: 'not_found' });
    else if (status === 'states') {
      const { promptId, stopReason } = session;
      const state = promptId === undefined ? { state: 'idle', stopReason } : { state: 'running' };
      result({ status: 'live', state });
    } else result({ status: status ?? 'saved' });
  }

  #capabilities(): Json {
    const { status, load = false, resume, turnComplete } = this.#options;
    return {
      loadSession: load,
      sessionCapabilities: {
        ...(status && { status: {} }),
        ...(resume && { resume: {} }),
        ...(turnComplete && { turnComplete: {} }),
      },
    };
  }
}

function newSession(id: string, line: Line): Running {
  const made = { prompts: [], said: '', stopReason: undefined, updates: [], promptId: undefined, turns: 0, calls: 0 };
  return { id, ...made, asked: undefined, line };
}

function speakOver(session: Running | undefined, line: Line): void {
  if (session && line.number >= (session.line?.number ?? 0)) session.line = line;
}

function send(line: Line | undefined, message: Json): void {
  line?.send(message);
}
