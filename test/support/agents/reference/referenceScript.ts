// Start options of the reference agent: which versions and proposals it speaks, in which form, and
// which of its answers are false. What a turn does is decided by the prompt (referenceTurn.ts).
import { at } from '../../../../src/base/untrusted';
import type { Advert } from '../script';
import type { ReferenceFaultName } from './referenceFaults';

export type Offer = keyof typeof places;

export interface ReferenceScript {
  readonly versions?: readonly (1 | 2)[];
  readonly offers?: readonly Offer[];
  readonly ready?: Advert;
  readonly status?: Partial<Advert> & {
    /**
     * A word, an error code, `silent`, `unloads`, or (default) the true state in the seed's words.
     * `unloads`:
     * each question finds the session unloaded, so that it has to be opened again before a prompt.
     */
    readonly answer?: string | number;
    readonly state?: string;
  };
  readonly turnComplete?: Partial<Advert> & {
    /** False: it comes without being advertised. */
    readonly advertised?: boolean;
    /**
     * Its place against the response of the prompt. `trailing`: pieces of text stand between them,
     * one every 200 ms. `unanswered`: the first prompt gets no response at all.
     */
    readonly when: 'before' | 'after' | 'late' | 'trailing' | 'unanswered' | 'twice' | 'never';
    /** How it names its prompt. */
    readonly id?: 'text' | 'number' | 'none' | 'wrong' | 'earlier' | 'foreign';
    /** False: a turn that fails has none. */
    readonly failed?: false;
    readonly stopReason?: string;
  };
  /**
   * Updates for a session against the answer that opens it: each written before it, all in one
   * write with it, that write in single bytes, or right after it.
   */
  readonly race?: 'before' | 'same-write' | 'bytes' | 'after';
  readonly saved?: readonly string[];
  readonly unloads?: boolean;
  /** The id of the only message at which it forks a session. */
  readonly forksAt?: string;
  readonly keepsPrompts?: boolean;
  readonly refuse?: Readonly<Record<string, number>>;
  readonly authMethods?: readonly Readonly<Record<string, unknown>>[];
  readonly signInFile?: string;
  /** v1: prompts are answered when they are taken in, as a preview of v2, with states. */
  readonly lifecycle?: 'echo-first' | 'receipt-first' | 'empty-first';
  readonly receipt?: 'id' | 'empty' | 'null' | 'v1';
  readonly echo?: 'before' | 'after' | 'chunks';
  readonly stateWord?: 'state_update' | 'state_change';
  readonly faults?: readonly ReferenceFaultName[];
  /** Milliseconds for answers that a client owes. Default 5000. */
  readonly answerDeadlineMs?: number;
}

export const SAVED_PAIRS = 3;
/** How many updates race against the answer that opens a session. */
export const RACING = 20;

/** The script of a command line. @throws SyntaxError */
export function readReference(text: string | undefined): ReferenceScript {
  return text === undefined || text === '' ? {} : (JSON.parse(text) as ReferenceScript);
}

const seats = {
  status: { 1: ['agentCapabilities', 'sessionCapabilities', 'status'], 2: ['capabilities', 'session', 'status'] },
  turnComplete: {
    1: ['agentCapabilities', 'sessionCapabilities', 'turnComplete'],
    2: ['capabilities', 'session', 'turnComplete'],
  },
} as const;

const places = {
  load: { 1: ['loadSession'] },
  resume: { 1: ['sessionCapabilities', 'resume'] },
  fork: { 1: ['sessionCapabilities', 'fork'], 2: ['session', 'fork'] },
  list: { 1: ['sessionCapabilities', 'list'] },
  close: { 1: ['sessionCapabilities', 'close'] },
  delete: { 1: ['sessionCapabilities', 'delete'], 2: ['session', 'delete'] },
  title: { 1: ['sessionCapabilities', 'title'], 2: ['session', 'title'] },
  archive: { 1: ['sessionCapabilities', 'archive'], 2: ['session', 'archive'] },
  additionalDirectories: {
    1: ['sessionCapabilities', 'additionalDirectories'],
    2: ['session', 'additionalDirectories'],
  },
  options: { 1: ['sessionCapabilities', 'options'], 2: ['session', 'options'] },
  systemPrompt: { 1: ['sessionCapabilities', 'systemPrompt'], 2: ['session', 'systemPrompt'] },
  authStatus: { 1: ['auth', 'status'], 2: ['auth', 'status'] },
  logout: { 1: ['auth', 'logout'] },
  image: { 1: ['promptCapabilities', 'image'], 2: ['session', 'prompt', 'image'] },
  audio: { 1: ['promptCapabilities', 'audio'], 2: ['session', 'prompt', 'audio'] },
  embeddedContext: { 1: ['promptCapabilities', 'embeddedContext'], 2: ['session', 'prompt', 'embeddedContext'] },
  mcpHttp: { 1: ['mcpCapabilities', 'http'], 2: ['session', 'mcp', 'http'] },
  mcpSse: { 1: ['mcpCapabilities', 'sse'] },
  mcpAcp: { 1: ['mcpCapabilities', 'acp'], 2: ['session', 'mcp', 'acp'] },
  modes: {},
  config: {},
} as const satisfies Readonly<Record<string, { readonly 1?: readonly string[]; readonly 2?: readonly string[] }>>;
const BOOLEAN = /^(?:load|image|audio|embeddedContext|mcp\w+)$/;

/** What the capabilities of an agent of version 1 offer. */
export function offersIn(capabilities: unknown): Offer[] {
  return (Object.keys(places) as Offer[]).filter((offer) => {
    const seat: { readonly 1?: readonly string[] } = places[offer];
    return seat[1] !== undefined && Boolean(at(capabilities, ...seat[1]));
  });
}

export function introduction(script: ReferenceScript, version: 1 | 2): Record<string, unknown> {
  const { offers = [], ready, status, turnComplete, authMethods = [] } = script;
  const info = { name: 'reference-agent', title: 'Reference agent', version: '1.0.0' };
  const result: Record<string, unknown> =
    version === 2
      ? { protocolVersion: 2, info, capabilities: { session: { prompt: {}, mcp: { stdio: {} } } }, authMethods }
      : { protocolVersion: 1, agentInfo: info, agentCapabilities: {}, authMethods };
  const root = version === 2 ? 'capabilities' : 'agentCapabilities';
  for (const offer of offers) {
    const seat: { readonly 1?: readonly string[]; readonly 2?: readonly string[] } = places[offer];
    const path = seat[version];
    if (path) put(result, [root, ...path], version === 1 && BOOLEAN.test(offer) ? true : {});
  }
  if (ready) put(result, ready.path, ready.value === undefined ? true : ready.value);
  if (status) put(result, status.path ?? seats.status[version], status.value === undefined ? {} : status.value);
  if (turnComplete && turnComplete.advertised !== false)
    put(result, turnComplete.path ?? seats.turnComplete[version], turnComplete.value ?? {});
  return result;
}

export function counts(advert: { readonly counts?: boolean } | undefined): boolean {
  return advert !== undefined && advert.counts !== false;
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) target[key] = value;
  else {
    const inner = { ...(target[key] as Record<string, unknown> | undefined) };
    target[key] = inner;
    put(inner, rest, value);
  }
}
