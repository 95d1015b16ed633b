// Where a conversation's connection is: one value, so that no two flags can disagree.
import type { AuthMethod } from '../../acp/protocol/dialect';
import type { ParleyError } from '../../base/errors';
import type { StageName } from '../../panel/contract';
import type { AgentLink } from '../ports/agentLink';
import type { Attempt } from '../ports/backoff';

export type ConnectionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
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
