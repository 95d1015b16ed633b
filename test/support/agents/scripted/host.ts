// What the scripted agent's process (scriptedAgent.ts) and the version that it speaks
// (scriptedV1.ts, scriptedV2.ts) need of each other.

import type { AgentScript } from '../script';
import type { KeepingWire, KeptSessions } from './keptSessions';

export interface Asking {
  readonly answer: Promise<Record<string, unknown>>;
  withdraw(): void;
}

export interface AskObserver {
  asked(id: string, method: string, params: unknown): void;
  withdrew(id: string): void;
}

export interface ScriptedHost {
  readonly script: AgentScript;
  readonly wire: KeepingWire;
  readonly sessions: KeptSessions | undefined;
  violation(reason: string): void;
  ask(method: string, params: object, observer?: AskObserver): Asking;
}

export interface ScriptedSide {
  judge(message: Readonly<Record<string, unknown>>): void;
  notified(method: string, params: unknown): void;
  respond(id: unknown, method: string, params: unknown): Promise<void>;
}
