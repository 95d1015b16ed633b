// Advertises proposals in `initialize` and detects the agent's. The schemas have no place for them,
// and drafts and agents use several, so all of these are searched. Parley advertises in `_meta`,
// which every schema allows (docs/proposals.md).
import { at, isMarked } from '../../base/untrusted';

export const PROPOSED_CAPABILITIES = {
  ready: 'session/ready',
  status: 'session/status',
  turnComplete: 'turn_complete',
} as const;

export type ProposedCapability = keyof typeof PROPOSED_CAPABILITIES;

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
    ].some((path) => isMarked(at(initializeResult, ...side, ...path))),
  );
}

const ANY_VERSION = Object.fromEntries(Object.values(PROPOSED_CAPABILITIES).map((key) => [key, {}]));

/** In v1, also announces the prompt lifecycle (promptLifecycle.ts). */
export const ADVERTISED_V1 = {
  ...ANY_VERSION,
  prompt_lifecycle: { receipt: {}, state_update: {}, state_change: {}, user_message: {}, agent_message: {} },
};

export const ADVERTISED_V2 = ANY_VERSION;
