// What the scripted agent's process (scriptedAgent.ts) and the version that it speaks (scriptedV1.ts, scriptedV2.ts) need of each other.

import type { AgentScript } from '../script';
import type { KeepingWire, KeptSessions } from './keptSessions';

/** A question to the client that is under way. */
export interface Asking {
  readonly answer: Promise<Record<string, unknown>>;
  /** Sends `$/cancel_request` for it. */
  withdraw(): void;
}

export interface AskObserver {
  asked(id: string, method: string, params: unknown): void;
  withdrew(id: string): void;
}

export interface ScriptedHost {
  readonly script: AgentScript;
  readonly wire: KeepingWire;
  /** Where the script has it keep sessions. */
  readonly sessions: KeptSessions | undefined;
  /** The client broke a MUST: the process ends, unless the script is lenient. */
  violation(reason: string): void;
  /** Asks the client. @param observer told before the question leaves */
  ask(method: string, params: object, observer?: AskObserver): Asking;
}

/** One version of the protocol. */
export interface ScriptedSide {
  /** Looks at each message of the client for what breaks a rule. */
  judge(message: Readonly<Record<string, unknown>>): void;
  notified(method: string, params: unknown): void;
  respond(id: unknown, method: string, params: unknown): Promise<void>;
}
