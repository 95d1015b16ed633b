// What a check of an agent is given: how to start the agent, what to send, and how long to wait.
import type { Transport } from '../../acp/jsonrpc/transport';
import type { AgentExit } from '../../agents/agentProcess';
import type { ParleyError } from '../../base/errors';
import type { ProtocolVersion } from '../rules/rule';

/** A running agent. */
export interface CheckedAgent {
  readonly transport: Transport;
  /** How it ended, or why its connection did. Never rejects. */
  readonly exited: Promise<AgentExit | ParleyError>;
  stderrTail(lines?: number): string;
  /** Takes the secrets that were sent with this connection out of a text. */
  readonly scrub?: (text: string) => string;
  /** Ends the agent and what it started. */
  close(): Promise<unknown>;
}

/**
 * Texts of the prompts. An agent for tests may need others; those for which there is no text in
 * general are left out if they are absent.
 */
export interface CheckPrompts {
  /** Has a short answer. */
  readonly answer: string;
  /** Keeps the agent busy until it is cancelled. */
  readonly cancel: string;
  /** Makes the agent ask for a permission. */
  readonly permission: string;
  /** Sent while the agent is busy (prompt lifecycle). */
  readonly held: string;
  /** Ends with a refusal. */
  readonly refusal?: string;
  /** Fails. */
  readonly error?: string;
}

const WHAT = 'This is an automatic check of the protocol.';

/** Maximum number of prompts that are sent for both versions of the protocol together. */
export const MAX_PROMPTS = 20;

export const DEFAULT_PROMPTS: CheckPrompts = {
  answer: `${WHAT} Reply with one word: OK. Use no tools.`,
  cancel: `${WHAT} Count from 1 to 300 in words, one number a line. Use no tools.`,
  permission: `${WHAT} Write the text OK to the file parley-check.txt in the current folder. If that is not allowed, say so and stop.`,
  held: `${WHAT} Reply with one word: LATER. Use no tools.`,
};

/** In milliseconds, except for `maxChars`. */
export interface CheckLimits {
  readonly initialize: number;
  readonly request: number;
  /** Until the end of a turn. */
  readonly prompt: number;
  /** Until the end of a turn that was cancelled. */
  readonly cancel: number;
  /** Until the first output of a turn that is to be cancelled. */
  readonly output: number;
  /** Between the first output and the cancel: a turn that ends by itself is no case for it. */
  readonly beforeCancel: number;
  /** How long a prompt that was sent while a turn runs may take to be taken in. */
  readonly held: number;
  /** Without a line from the agent, what belongs together has arrived. */
  readonly quiet: number;
  /** How long lines may keep coming until it counts as quiet. */
  readonly noise: number;
  /** For all of one version. */
  readonly whole: number;
  /** Maximum characters of the agent's lines. */
  readonly maxChars: number;
}

export const DEFAULT_LIMITS: CheckLimits = {
  initialize: 60_000,
  request: 30_000,
  prompt: 120_000,
  cancel: 30_000,
  output: 20_000,
  beforeCancel: 300,
  held: 1_000,
  quiet: 400,
  noise: 4_000,
  whole: 600_000,
  maxChars: 16 * 1024 * 1024,
};

export interface CheckOptions {
  /**
   * Starts the agent. @param folder an empty folder of its own
   * @throws ParleyError
   */
  readonly start: (folder: string, signal: AbortSignal) => Promise<CheckedAgent>;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  /** Versions to offer, in this order. */
  readonly versions: readonly ProtocolVersion[];
  readonly prompts?: Partial<CheckPrompts>;
  /** The method of a sign-in that the agent wants first. */
  readonly signIn?: string;
  readonly limits?: Partial<CheckLimits>;
  /** Told of each line as it goes over the wire. */
  readonly onTraffic?: ((kind: 'in' | 'out' | 'noise', line: string) => void) | undefined;
  /** Told what is done now. */
  readonly onStep?: (step: CheckStep) => void;
}

/** What a check does, as a code. */
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
