// What a check of an agent is given: how to start the agent, what to send, and how long to wait.
import type { Transport } from '../../acp/jsonrpc/transport';
import type { AgentExit } from '../../agents/agentProcess';
import type { ParleyError } from '../../base/errors';
import type { ProtocolVersion } from '../rules/rule';

export interface CheckedAgent {
  readonly transport: Transport;
  /** How it ended, or why its connection did. Never rejects. */
  readonly exited: Promise<AgentExit | ParleyError>;
  stderrTail(lines?: number): string;
  /** Takes the secrets that were sent with this connection out of a text. */
  readonly scrub?: (text: string) => string;
  close(): Promise<unknown>;
}

/** Texts of the prompts. */
export interface CheckPrompts {
  readonly answer: string;
  readonly cancel: string;
  readonly permission: string;
  readonly held: string;
  readonly refusal?: string;
  readonly error?: string;
}

const WHAT = 'This is an automatic check of the protocol.';

export const MAX_PROMPTS = 20;

export const DEFAULT_PROMPTS: CheckPrompts = {
  answer: `${WHAT} Reply with one word: OK. Use no tools.`,
  cancel: `${WHAT} Count from 1 to 300 in words, one number a line. Use no tools.`,
  permission: `${WHAT} Write the text OK to the file parley-check.txt in the current folder. If that is not allowed, say so and stop.`,
  held: `${WHAT} Reply with one word: LATER. Use no tools.`,
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
  /** How long lines may keep coming until it counts as quiet. */
  noise: 4_000,
  whole: 600_000,
  /** Maximum characters of the agent's lines. */
  maxChars: 16 * 1024 * 1024,
};

export type CheckLimits = Readonly<typeof DEFAULT_LIMITS>;

export interface CheckOptions {
  /**
   * Starts the agent.
   * @throws ParleyError
   */
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
