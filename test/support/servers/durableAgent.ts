// A remote agent whose sessions and turns outlive the connections to it: version 1 over WebSocket, in this process, with what it offers and how its turns go decided by the test.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { Deferred } from '../../../src/base/deferred';
import { at } from '../../../src/base/untrusted';

type Json = Record<string, unknown>;

export interface DurableOptions {
  /** What `session/status` answers: with the state of the turn, without it, another answer, or silence. Absent: it is not offered. */
  readonly status?: 'states' | 'live' | 'saved' | 'not_found' | 'none';
  readonly load?: boolean;
  readonly resume?: boolean;
  readonly turnComplete?: boolean;
}

/** A session of the agent. */
export interface DurableSession {
  readonly id: string;
  /** The texts of the prompts that it has got. */
  readonly prompts: string[];
  /** All that it said, in one. */
  said: string;
  /** How its last turn ended; undefined while one runs. */
  stopReason: string | undefined;
}

interface Running extends DurableSession {
  /** Session updates, to be repeated. */
  readonly updates: Json[];
  promptId: unknown;
  /** Where its turn has begun, and where it is spoken of now. */
  asked: WebSocket | undefined;
  socket: WebSocket | undefined;
  turns: number;
  calls: number;
}

export class DurableAgent {
  readonly sessions = new Map<string, DurableSession>();
  /** The methods that came, in order. */
  readonly received: string[] = [];
  /** Called with each request before it is handled; true: the connection breaks before. */
  breaksBefore: (method: string) => boolean = () => false;
  /** Called when a turn begins, with what was asked. */
  onTurn: (session: DurableSession, text: string) => void = () => {};
  readonly #options: DurableOptions;
  readonly #sockets = new Set<WebSocket>();
  readonly #running = new Map<string, Running>();
  readonly #waiting = new Set<() => void>();
  readonly #http = createServer();
  readonly #server = new WebSocketServer({ server: this.#http });
  #isAway = false;

  private constructor(options: DurableOptions) {
    this.#options = options;
    this.#server.on('connection', (socket) => this.#connected(socket));
  }

  static async start(options: DurableOptions): Promise<DurableAgent> {
    const agent = new DurableAgent(options);
    await new Promise<void>((resolve) => agent.#http.listen(0, '127.0.0.1', resolve));
    return agent;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}/`;
  }

  /** The session that it has; fails where there are none or several. */
  get only(): DurableSession {
    const [session, ...others] = this.sessions.values();
    if (!session || others.length > 0) throw new Error(`${this.sessions.size} sessions`);
    return session;
  }

  /** Breaks all connections off. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** Takes no connections until {@link back}. */
  leave(): void {
    this.#isAway = true;
    this.cut();
  }

  back(): void {
    this.#isAway = false;
  }

  /** Forgets a session, as an agent that was started anew. */
  forget({ id }: DurableSession): void {
    this.sessions.delete(id);
    this.#running.delete(id);
  }

  /** Says something in a session, also while nobody is connected. */
  say(session: DurableSession, text: string): void {
    session.said += text;
    this.#update(session, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  /** Runs a tool call. */
  call(session: DurableSession, title: string): void {
    const one = this.#find(session);
    const toolCallId = `call-${++one.calls}`;
    this.#update(session, { sessionUpdate: 'tool_call', toolCallId, title, kind: 'read', status: 'in_progress' });
    this.#update(session, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  }

  /** Asks for a permission. @returns the option that was chosen; never settles where the connection breaks */
  async ask(session: DurableSession): Promise<unknown> {
    const { socket } = this.#find(session);
    const id = `ask-${++this.#asked}`;
    const answer = new Deferred<unknown>();
    this.#asks.set(id, answer);
    send(socket, {
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

  /** Ends the turn of a session. */
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

  /** Resolves when something holds, which is looked at whenever something came. */
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
    this.cut();
    this.#server.close();
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

  #send({ id, socket }: Running, update: Json): void {
    send(socket, { method: 'session/update', params: { sessionId: id, update } });
  }

  #connected(socket: WebSocket): void {
    if (this.#isAway) {
      socket.terminate();
      return;
    }
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#changed();
    });
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Json;
      const { id, method } = message;
      if (method === undefined) {
        this.#asks.get(String(id))?.resolve(at(message.result, 'outcome', 'optionId'));
        return;
      }
      if (this.breaksBefore(String(method))) {
        socket.terminate();
        return;
      }
      this.received.push(String(method));
      this.#handle(socket, message);
      this.#changed();
    });
  }

  #handle(socket: WebSocket, { id, method, params }: Json): void {
    const { sessionId = '', prompt } = (params ?? {}) as { sessionId?: string; prompt?: { text?: string }[] };
    const session = this.#running.get(sessionId);
    const result = (value: Json): void => send(socket, { id, result: value });
    switch (method) {
      case 'initialize':
        result({ protocolVersion: 1, agentCapabilities: this.#capabilities(), authMethods: [] });
        return;
      case 'session/new': {
        const made = newSession(`durable-${this.#running.size + this.#forgotten++ + 1}`, socket);
        this.#running.set(made.id, made);
        this.sessions.set(made.id, made);
        result({ sessionId: made.id });
        return;
      }
      case 'session/status':
        this.#answerStatus(session, result);
        if (session) session.socket = socket;
        return;
    }
    if (!session) {
      if (id !== undefined)
        send(socket, { id, error: { code: -32002, message: 'No such session', data: { sessionId } } });
      return;
    }
    session.socket = socket;
    switch (method) {
      case 'session/load':
        for (const update of session.updates) this.#send(session, update);
        result({});
        return;
      case 'session/resume':
        result({});
        return;
      case 'session/prompt':
        this.#begin(session, socket, id, prompt?.[0]?.text ?? '');
        return;
      case 'session/cancel':
        if (session.promptId !== undefined) this.end(session, 'cancelled');
        return;
      default:
        if (id !== undefined) send(socket, { id, error: { code: -32601, message: 'Method not found' } });
    }
  }

  #forgotten = 0;

  #begin(session: Running, socket: WebSocket, id: unknown, text: string): void {
    session.prompts.push(text);
    session.updates.push({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } });
    Object.assign(session, { stopReason: undefined, promptId: id, asked: socket });
    session.turns++;
    this.onTurn(session, text);
  }

  #answerStatus(session: Running | undefined, result: (value: Json) => void): void {
    const { status } = this.#options;
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

function newSession(id: string, socket: WebSocket): Running {
  const made = { prompts: [], said: '', stopReason: undefined, updates: [], promptId: undefined, turns: 0, calls: 0 };
  return { id, ...made, asked: undefined, socket };
}

function send(socket: WebSocket | undefined, message: Json): void {
  if (socket?.readyState === 1) socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}
