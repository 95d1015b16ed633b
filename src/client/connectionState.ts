// Where a conversation's connection is: one value, so that no two flags can disagree.
import type { AuthMethod } from '../acp/dialect';
import type { ParleyError } from '../base/errors';
import type { StageName } from '../panel/contract';
import type { AgentLink } from './agentLink';

export type ConnectionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'authRequired';
      readonly link: AgentLink;
      readonly methods: readonly AuthMethod[];
      readonly error?: string;
    }
  | { readonly kind: 'ready'; readonly link: AgentLink; readonly sessionId: string }
  | { readonly kind: 'failed'; readonly error: ParleyError; readonly stage?: StageName }
  | { readonly kind: 'exited'; readonly error: ParleyError };
