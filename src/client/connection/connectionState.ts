// The state of a conversation's connection as one union, so that no two flags can disagree; and the
// interfaces between a connection and its conversation.

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
      readonly reconnects?: true;
    }
  | {
      readonly kind: 'recovering';
      readonly error: ParleyError;
      readonly attempt: Attempt;
    }
  | {
      readonly kind: 'authRequired';
      readonly link: AgentLink;
      readonly methods: readonly AuthMethod[];
      readonly error?: string;
      /** The agent's own words, if they say more than the method list. */
      readonly words?: string;
      /** Usable again after the sign-in. */
      readonly sessionId?: string;
    }
  | { readonly kind: 'ready'; readonly link: AgentLink; readonly sessionId: string }
  | { readonly kind: 'failed'; readonly error: ParleyError; readonly stage?: StageName }
  | { readonly kind: 'exited'; readonly error: ParleyError };

export interface DropOptions {
  /** What the next start opens, if that changes. */
  readonly next?: SessionOpenStrategy | undefined;
  /** Sends `session/close` first. */
  readonly closing?: boolean;
}

export interface AgentSide {
  readonly link: AgentLink;
  readonly files: AgentFiles;
  readonly dialect: Dialect;
}

export interface ConnectionServices extends StartServices, McpServices {
  readonly clock: Clock;
  readonly currentAgent?: (id: string) => AgentDefinition | undefined;
  /**
   * Returns the file access of one agent, with its quirks.
   * @param given texts that agents of the conversation have read
   */
  readonly filesFor: (agentName: string, initializeResult: unknown, given: GivenTexts) => AgentFiles;
  readonly isTrusted: () => boolean;
  readonly restarts?: () => boolean;
  /** Delays between attempts to reconnect, in milliseconds. */
  readonly reconnectDelaysMs?: readonly number[];
}

export interface ConnectionContext extends Omit<StartContext, 'onNamed'> {
  readonly services: ConnectionServices;
}

export interface ConnectorListener {
  refuses(): ParleyError | undefined;
  changed(): void;
  described(facts: {
    readonly agentId?: string;
    readonly agentSessionId?: string | null;
    readonly protocol?: Protocol;
  }): void;
  /** @param lastEnd how the previous agent ended, if the transcript doesn't show it yet */
  starting(lastEnd: ParleyError | undefined): void;
  /**
   * The session can be used, after a start or within a turn.
   * @param problems what the agent did not get
   * @param isNew the agent doesn't have the transcript
   * @param notForked why the session is new although it was to be forked
   */
  ready(problems: readonly LocalizableText[], isNew: boolean, notForked?: LocalizableText): void;
  replacing(): void;
  attached(opened: OpenedSession): void;
  /** @param hadSession a session is lost with the agent */
  detached(end: AgentEnd, hadSession: boolean): void;
  /**
   * The connection is lost, but the agent can be asked about the session after reconnecting.
   * @returns whether a turn waits for that; {@link rejoined} or {@link detached} follows then
   */
  cut(link: AgentLink): boolean;
  /**
   * The agent has answered about the turn.
   * @returns false if the turn is lost; {@link detached} follows then
   */
  rejoined(status: SessionStatus): boolean;
}

export interface AgentEnd {
  readonly note: LocalizableText;
  /** Ended on purpose, not a failure. */
  readonly interrupted?: boolean;
}
