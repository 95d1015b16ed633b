// The state of a conversation's connection, as one value so that no two flags can disagree; what a
// connection needs from outside, and what it tells its conversation.

import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AuthMethod, Dialect, Protocol } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { ParleyError } from '../../base/errors';
import type { LocalizableText } from '../../base/localizable';
import type { StageName } from '../../panel/contract';
import type { McpServices } from '../mcp/mcpOffer';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import type { Clock } from '../ports/ports';
import type { AgentFiles } from '../requests/agentFiles';
import type { GivenTexts } from '../requests/givenTexts';
import type { Attempt } from './recovery';
import type { SessionOpenStrategy } from './sessionOpenStrategy';
import type { StartContext, StartServices } from './startAgent';

export type ConnectionState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'starting';
      /** The connection was lost, and is tried again. */
      readonly reconnects?: true;
    }
  | {
      /** The connection was lost and is tried again after a while. */
      readonly kind: 'recovering';
      /** Why the last attempt failed, or how the connection was lost. */
      readonly error: ParleyError;
      readonly attempt: Attempt;
    }
  | {
      readonly kind: 'authRequired';
      readonly link: AgentLink;
      readonly methods: readonly AuthMethod[];
      /** Why the last attempt failed. */
      readonly error?: string;
      /** The session that is open and can be used again after the sign-in. */
      readonly sessionId?: string;
    }
  | { readonly kind: 'ready'; readonly link: AgentLink; readonly sessionId: string }
  | { readonly kind: 'failed'; readonly error: ParleyError; readonly stage?: StageName }
  | { readonly kind: 'exited'; readonly error: ParleyError };

/** How an agent is let go of. */
export interface DropOptions {
  /** What the next start opens; absent: what it would open anyway. */
  readonly next?: SessionOpenStrategy | undefined;
  /** The session is left for good, and an agent that can be told so is told. */
  readonly closing?: boolean;
}

/** The agent while it runs, also before its session is ready. */
export interface AgentSide {
  readonly link: AgentLink;
  /** The files that it may use. */
  readonly files: AgentFiles;
  readonly dialect: Dialect;
}

/** What a connection needs from outside. */
export interface ConnectionServices extends StartServices, McpServices {
  readonly clock: Clock;
  /** Returns an agent as the settings have it now; undefined where it is no longer in them. */
  readonly currentAgent?: (id: string) => AgentDefinition | undefined;
  /**
   * Returns the files for one agent: its quirks may decide how requests for files are read.
   * @param given what the agents of the conversation have read
   */
  readonly filesFor: (agentName: string, initializeResult: unknown, given: GivenTexts) => AgentFiles;
  /** Nothing is started while this is false. */
  readonly isTrusted: () => boolean;
  /**
   * Returns whether an agent that exits unexpectedly is restarted automatically. Absent: it is not.
   */
  readonly restarts?: () => boolean;
  /** The waits between attempts to connect again, in milliseconds. */
  readonly reconnectDelaysMs?: readonly number[];
}

/** What all starts of one conversation share. */
export interface ConnectionContext extends Omit<StartContext, 'onNamed'> {
  readonly services: ConnectionServices;
}

/** What the connector tells its conversation. */
export interface ConnectorListener {
  /** Returns why no agent may be started now. */
  refuses(): ParleyError | undefined;
  /** The connection state changed. */
  changed(): void;
  /** The agent's side of the session has changed. */
  described(facts: {
    readonly agentId?: string;
    readonly agentSessionId?: string | null;
    readonly protocol?: Protocol;
  }): void;
  /**
   * An agent is about to start.
   * @param lastEnd how the one before it ended, where the transcript does not say so yet
   */
  starting(lastEnd: ParleyError | undefined): void;
  /**
   * The session can be used, after a start or in the midst of a turn.
   * @param problems sentences on what the agent did not get
   * @param isNew the agent does not know the transcript
   */
  ready(problems: readonly LocalizableText[], isNew: boolean): void;
  /** A new session is about to take the place of one that the agent has lost. */
  replacing(): void;
  /** The agent of an earlier window is here, with the session as it was left. */
  attached(opened: OpenedSession): void;
  /** The agent is gone or is being ended. @param hadSession a session is lost with it */
  detached(end: AgentEnd, hadSession: boolean): void;
  /**
   * The connection is lost, and the agent can be asked about the session over the next one.
   * @returns whether a turn waits for that; {@link rejoined} or {@link detached} follows then
   */
  cut(link: AgentLink): boolean;
  /**
   * The agent was asked.
   * @returns false where the turn does not go on; {@link detached} follows then
   */
  rejoined(status: SessionStatus): boolean;
}

/** How a connection to an agent ended. */
export interface AgentEnd {
  /** A sentence on how it went. */
  readonly note: LocalizableText;
  /** It was ended here, and has not failed. */
  readonly interrupted?: boolean;
}
