// What conversations share: made once by whoever composes the program (the extension, or a test).
import type { AgentDefinition } from '../agents/agentDefinition';
import type { Log } from '../base/log';
import type { AgentFiles } from './agentFiles';
import type { Clock } from './ports';
import type { Terminals } from './terminals';

export interface ConversationServices {
  readonly log: Log;
  readonly clock: Clock;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  /** What the settings say of an agent now; undefined where it is no longer in them. */
  readonly currentAgent?: (id: string) => AgentDefinition | undefined;
  /** The environment to start an agent's command in: the user's, with the PATH of their login shell. */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  /** Files for an agent, made anew for each because a quirk may need its own reading. */
  readonly filesFor: (agentName: string, initializeResult: unknown) => AgentFiles;
  readonly terminals: Terminals;
  /** Nothing is started while this is false. */
  readonly isTrusted: () => boolean;
  /** The user's limit for the slow start stages, in milliseconds. */
  readonly startTimeoutMs: () => number;
  /** Whether the queue goes on by itself after the user stopped a turn. */
  readonly afterCancel: () => 'pause' | 'continue';
  readonly onTraffic?: (sessionKey: string, dir: 'in' | 'out', line: string) => void;
  /** How long a session must be quiet before it is probed again, in milliseconds. */
  readonly quietMs?: number;
  readonly barrierGraceMs?: number;
}
