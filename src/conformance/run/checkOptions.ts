// Options of a check: how to start the agent, what to send, and the time limits.
import type { Transport } from '../../acp/jsonrpc/transport';
import type { AgentExit } from '../../agents/agentProcess';
import type { ParleyError } from '../../base/errors';
import type { ProtocolVersion } from '../rules/rule';

export interface CheckedAgent {
  readonly transport: Transport;
  /** How it exited, or why its connection ended. Never rejects. */
  readonly exited: Promise<AgentExit | ParleyError>;
  stderrTail(lines?: number): string;
  /** Removes the secrets sent with this connection. */
  readonly scrub?: (text: string) => string;
  close(): Promise<unknown>;
}

export interface CheckPrompts {
  readonly answer: string;
  readonly cancel: string;
  readonly permission: string;
  readonly held: string;
  readonly refusal?: string;
  readonly error?: string;
}

const PURPOSE = 'This is an automatic check of the protocol.';

export const MAX_PROMPTS = 20;

export const DEFAULT_PROMPTS: CheckPrompts = {
  answer: `${PURPOSE} Reply with one word: OK. Use no tools.`,
  cancel: `${PURPOSE} Count from 1 to 300 in words, one number a line. Use no tools.`,
  permission: `${PURPOSE} Write the text OK to the file parley-check.txt in the current folder. If that is not allowed, say so and stop.`,
  held: `${PURPOSE} Reply with one word: LATER. Use no tools.`,
};

/** In milliseconds, except for `maxChars`. */
export const DEFAULT_LIMITS = {
  initialize: 60_000,
  request: 30_000,
  prompt: 120_000,
  cancel: 30_000,
  output: 20_000,
  beforeCancel: 300,
  held: 1_000,
  quiet: 400,
  /** Longest wait for quiet while lines keep coming. */
  noise: 4_000,
  whole: 600_000,
  /** Maximum characters of the agent's lines. */
  maxChars: 16 * 1024 * 1024,
};

export type CheckLimits = Readonly<typeof DEFAULT_LIMITS>;

export interface CheckOptions {
  /** @throws ParleyError */
  readonly start: (folder: string, signal: AbortSignal) => Promise<CheckedAgent>;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  readonly versions: readonly ProtocolVersion[];
  readonly prompts?: Partial<CheckPrompts>;
  readonly signIn?: string;
  readonly limits?: Partial<CheckLimits>;
  readonly onTraffic?: ((kind: 'in' | 'out' | 'noise', line: string) => void) | undefined;
  readonly onStep?: (step: CheckStep) => void;
}

export type CheckStep =
  | 'start'
  | 'new'
  | 'status'
  | 'answer'
  | 'cancel'
  | 'permission'
  | 'refusal'
  | 'error'
  | 'close'
  | 'resume'
  | 'load';
