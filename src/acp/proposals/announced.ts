// How agent and client tell each other in `initialize` which proposals they know. None of these
// capabilities has a place in the schemas, and drafts and agents use several: they are looked for in
// all of them, the same for each proposal. Parley says its own side in `_meta`, where every schema
// takes any record (docs/proposals.md).
import { at, isMarked } from '../../base/untrusted';

export const PROPOSED_CAPABILITIES = {
  ready: 'session/ready',
  status: 'session/status',
  turnComplete: 'turn_complete',
} as const;

export type ProposedCapability = keyof typeof PROPOSED_CAPABILITIES;

/** Returns whether an agent advertises a capability in any of its places. */
export function advertises(initializeResult: unknown, name: ProposedCapability): boolean {
  const key = PROPOSED_CAPABILITIES[name];
  return [[], ['agentCapabilities'], ['capabilities']].some((side) =>
    [
      ...(side.length > 0
        ? [
            ['session', name],
            ['sessionCapabilities', name],
          ]
        : []),
      ['_meta', key],
      ['_meta', 'session', name],
    ].some((place) => isMarked(at(initializeResult, ...side, ...place))),
  );
}

const IN_EVERY_VERSION = Object.fromEntries(Object.values(PROPOSED_CAPABILITIES).map((key) => [key, {}]));

/**
 * What `_meta` of the client's capabilities says in version 1: there a prompt may also be answered
 * when it is taken in, and states, echoes and whole messages may be sent (promptLifecycle.ts).
 */
export const KNOWN_IN_V1 = {
  ...IN_EVERY_VERSION,
  prompt_lifecycle: { receipt: {}, state_update: {}, state_change: {}, user_message: {}, agent_message: {} },
};

export const KNOWN_IN_V2 = IN_EVERY_VERSION;
