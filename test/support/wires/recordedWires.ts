// The wires of real agents: each session of a recording, with what was sent and answered in it.
import { at } from '../../../src/base/untrusted';
import { readRecording, recordingNames } from '../protocol/recordings';
import type { Act, Repetition, Update, Wire } from './wire';

type Message = Readonly<Record<string, unknown>>;

const OPENING: ReadonlySet<unknown> = new Set(['session/new', 'session/load', 'session/resume']);

export function recordedWires(): ReadonlyMap<string, Wire> {
  const wires = new Map<string, Wire>();
  for (const name of recordingNames()) {
    const lines = readRecording(name).flatMap(({ dir, t = 0, msg }) =>
      msg && (dir === 'c2a' || dir === 'a2c') ? [{ fromAgent: dir === 'a2c', t, msg }] : [],
    );
    const ids = new Set(lines.map(({ msg }) => at(msg, 'params', 'sessionId')).filter((id) => typeof id === 'string'));
    for (const id of ids) {
      const wire = new SessionReader(id).read(lines);
      if (wire) wires.set(`${name} ${wires.size + 1}`, wire);
    }
  }
  return wires;
}

class SessionReader {
  readonly #sessionId: string;
  readonly #acts: Act[] = [];
  readonly #prompts: string[] = [];
  readonly #open = new Map<string, Message>();
  #initialize: unknown;
  #last: number | undefined;
  #opens: Wire['opens'];
  #offer: Readonly<Record<string, unknown>> | undefined;
  #repeats: Repetition | undefined;
  #early: Update[] | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  read(lines: readonly { readonly fromAgent: boolean; readonly t: number; readonly msg: Message }[]): Wire | undefined {
    for (const { fromAgent, t, msg } of lines) {
      const act = fromAgent ? this.#fromAgent(msg) : this.#toAgent(msg);
      if (!act) continue;
      this.#acts.push({ ...act, after: Math.max(0, t - (this.#last ?? t)) });
      this.#last = t;
    }
    if (this.#prompts.length === 0 || !this.#offer) return undefined;
    return {
      protocol: at(this.#initialize, 'protocolVersion') === 2 ? 2 : 1,
      can: {},
      initialize: this.#initialize,
      offer: this.#offer,
      ...(this.#opens && { opens: this.#opens }),
      ...(this.#repeats && { repeats: this.#repeats }),
      acts: this.#acts,
    };
  }

  #toAgent(msg: Message): Act | undefined {
    const { method, id, params } = msg;
    if (method === undefined) return this.#permission(msg);
    if (id !== undefined) this.#open.set(`client ${String(id)}`, msg);
    if (OPENING.has(method) && (method === 'session/new' || this.#isOurs(params))) this.#early = [];
    if (!this.#isOurs(params)) return undefined;
    if (method === 'session/cancel') return { user: 'cancel' };
    if (method !== 'session/prompt') return undefined;
    this.#prompts.push(String(id));
    const blocks = at(params, 'prompt');
    const words = Array.isArray(blocks) ? blocks.map((block: unknown) => at(block, 'text') ?? '[file]').join(' ') : '';
    return { user: 'prompt', text: words };
  }

  #fromAgent(msg: Message): Act | undefined {
    const { method, id, params } = msg;
    if (method === undefined) return this.#answer(msg);
    if (method === 'session/update' && this.#isOurs(params)) {
      const update = at(params, 'update') as Update;
      this.#early?.push(update);
      return this.#early ? undefined : { says: update };
    }
    if (method !== 'session/request_permission' || !this.#isOurs(params)) return undefined;
    this.#open.set(`agent ${String(id)}`, msg);
    return { asks: params as Message };
  }

  #answer({ id, result, error }: Message): Act | undefined {
    const asked = this.#open.get(`client ${String(id)}`);
    this.#open.delete(`client ${String(id)}`);
    if (!asked) return undefined;
    if (asked.method === 'initialize') this.#initialize ??= result;
    if (OPENING.has(asked.method)) return this.#opened(asked, result);
    const number = this.#prompts.indexOf(String(id)) + 1;
    if (asked.method !== 'session/prompt' || number === 0) return undefined;
    return error === undefined ? { answers: number, result } : { answers: number, error: error as never };
  }

  #opened({ method, params }: Message, result: unknown): Act | undefined {
    const repeats: Repetition = { beforeAnswer: this.#early ?? [] };
    this.#early = undefined;
    if (result === undefined || (at(result, 'sessionId') ?? at(params, 'sessionId')) !== this.#sessionId)
      return undefined;
    if (this.#offer) return { user: 'restart', repeats };
    const { sessionId: _, ...offer } = (result ?? {}) as Record<string, unknown>;
    this.#offer = offer;
    this.#opens = method === 'session/new' ? undefined : 'load';
    this.#repeats = repeats;
    return undefined;
  }

  #permission({ id, result }: Message): Act | undefined {
    if (!this.#open.delete(`agent ${String(id)}`)) return undefined;
    const optionId = at(result, 'outcome', 'optionId');
    return { user: 'allow', optionId: typeof optionId === 'string' ? optionId : null };
  }

  #isOurs(params: unknown): boolean {
    return at(params, 'sessionId') === this.#sessionId;
  }
}
