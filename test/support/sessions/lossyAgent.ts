// An agent in the process of the test that loses its session, does not answer, refuses or ends, as
// scripted for each prompt.
import { createInterface } from 'node:readline';
import { at } from '../../../src/base/untrusted';
import type { ProcessStarter } from '../../../src/client/transport/agentTransport';
import type { AgentProgram } from '../agents/program';
import { startProgram } from './memoryAgents';

/**
 * What it does with one prompt: `echo` it; say that it does not have the session (`lost`) or wants
 * a sign-in; refuse with another error; end its process before or after a word; say a word and wait
 * to be stopped, or continue regardless (`deaf`); or end the turn with another reason.
 */
export type PromptFate =
  | 'echo'
  | 'lost'
  | 'sign-in'
  | 'refuse'
  | 'die'
  | 'say-and-die'
  | 'wait'
  | 'deaf'
  | 'refusal'
  | 'max_tokens';

export interface LossyManner {
  /** By the number of the prompt, from 1; absent: `echo`. */
  readonly prompts?: Readonly<Record<number, PromptFate>>;
  /**
   * Answers to `session/status`, one after the other, then `live`; absent: it does not offer the
   * question.
   */
  readonly status?: readonly ('mute' | 'live' | 'not_found')[];
  readonly load?: 'opens' | 'not-found' | 'fails';
  readonly opensOne?: boolean;
  readonly isSlow?: boolean;
}

export class LossyAgent {
  readonly manner: LossyManner;
  readonly prompts: { readonly text: string; readonly whole: string }[] = [];
  readonly calls: string[] = [];
  #statuses = 0;
  #sessions = 0;
  #hasOpened = false;
  #program: AgentProgram | undefined;
  #opening: (() => void) | undefined;
  #waiting: unknown;

  constructor(manner: LossyManner) {
    this.manner = manner;
  }

  readonly start: ProcessStarter = (options) => startProgram((program) => this.#run(program), options);

  open(): void {
    this.#opening?.();
  }

  crash(): void {
    this.#program?.exit(1);
  }

  count(method: string): number {
    return this.calls.filter((one) => one === method).length;
  }

  #run(program: AgentProgram): void {
    this.#program = program;
    this.#hasOpened = false;
    createInterface({ input: program.stdin }).on('line', (line) => {
      const message: unknown = JSON.parse(line);
      const [id, method, params] = [at(message, 'id'), at(message, 'method'), at(message, 'params')];
      if (typeof method !== 'string') return;
      this.calls.push(method);
      if (method === 'session/cancel') this.#stop();
      if (id === undefined) return;
      if (method === 'session/prompt') this.#prompt(id, params);
      else this.#answer(id, method);
    });
  }

  #answer(id: unknown, method: string): void {
    if (method === 'session/new' && this.manner.isSlow) {
      this.#opening = () => this.#write({ id, ...this.#answerTo(method) });
      return;
    }
    const answer = this.#answerTo(method);
    if (answer) this.#write({ id, ...answer });
  }

  #answerTo(method: string): object | undefined {
    const { status, load } = this.manner;
    switch (method) {
      case 'initialize': {
        const agentCapabilities = {
          loadSession: load !== undefined,
          sessionCapabilities: status ? { status: {} } : {},
        };
        return { result: { protocolVersion: 1, agentInfo: { name: 'lossy', version: '1' }, agentCapabilities } };
      }
      case 'session/new':
        if (this.manner.opensOne && this.#hasOpened) return { error: { code: -32603, message: 'no room' } };
        this.#hasOpened = true;
        return { result: { sessionId: `s${++this.#sessions}` } };
      case 'session/load':
        if (load === 'opens') return { result: {} };
        return { error: { code: load === 'fails' ? -32603 : -32002, message: 'no such session' } };
      case 'session/status': {
        const answer = status?.[this.#statuses++] ?? 'live';
        return answer === 'mute' ? undefined : { result: { status: answer } };
      }
      default:
        return { error: { code: -32601, message: `no ${method}` } };
    }
  }

  #prompt(id: unknown, params: unknown): void {
    const blocks = at(params, 'prompt');
    const text = String(at(blocks, '0', 'text'));
    this.prompts.push({ text, whole: JSON.stringify(blocks) });
    const fate = this.manner.prompts?.[this.prompts.length] ?? 'echo';
    const code = { lost: -32002, 'sign-in': -32000, refuse: -32603 }[fate as string];
    if (code !== undefined) this.#write({ id, error: { code, message: `${fate} it is` } });
    else if (fate === 'die') this.#program?.exit(3);
    else this.#begin(id, text, at(params, 'sessionId'), fate);
  }

  #begin(id: unknown, text: string, sessionId: unknown, fate: PromptFate): void {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `echo ${text}` } };
    this.#write({ method: 'session/update', params: { sessionId, update } });
    if (fate === 'say-and-die') setImmediate(() => this.#program?.exit(3));
    else if (fate === 'wait') this.#waiting = id;
    else if (fate !== 'deaf') {
      const stopReason = fate === 'echo' ? 'end_turn' : fate;
      this.#write({ id, result: { stopReason, usage: { totalTokens: 10 * this.prompts.length } } });
    }
  }

  #stop(): void {
    const id = this.#waiting;
    this.#waiting = undefined;
    if (id !== undefined) this.#write({ id, result: { stopReason: 'cancelled' } });
  }

  #write(message: object): void {
    this.#program?.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
