// What carries an agent: its process on this machine, or a connection to another. Above it nobody asks which.
import type { Transport } from '../../acp/jsonrpc/transport';
import type { AgentExit } from '../../agents/agentProcess';
import type { Disposable } from '../../base/disposable';
import type { ParleyError } from '../../base/errors';

export interface Carrier extends Disposable {
  readonly transport: Transport;
  /** How it ended without our doing: the exit of a process, or why a connection is gone, in words that begin with the host. Never rejects. */
  readonly exited: Promise<AgentExit | ParleyError>;
  /** Of a process on this machine. */
  readonly pid?: number;
  /** The last lines of stderr; empty where there is none. */
  stderrTail(lines?: number): string;
  /** Takes the secrets that were sent with this connection out of a text that a person or a log will see. */
  readonly scrub?: (text: string) => string;
  /** Ends the agent and what it started, or says goodbye to it; resolves when that is done. */
  close(): Promise<unknown>;
}
