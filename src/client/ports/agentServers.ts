// What the client uses of agent servers: calling them, and being called as one of our agents.
export { AgentServerError } from '../../distributed/client/agentServerError';
export { CommunicationClient, type FetchLike, type Traffic } from '../../distributed/client/communicationClient';
export {
  type AgentEndpoint,
  CommunicationSession,
  type SendOutcome,
} from '../../distributed/client/communicationSession';
export { compareHistories, type HistoryRelation } from '../../distributed/client/handOver';
export { heldSchema } from '../../distributed/client/heldMessages';
export {
  citationBlock,
  isRemote,
  isRemoteText,
  loadingPart,
  missingPart,
  partBlock,
  partGapId,
  textOf,
  unloadedPart,
  withBytes,
} from '../../distributed/client/runParts';
export type { FollowOptions, RunPosition } from '../../distributed/client/runRecovery';
export { RunToEvents } from '../../distributed/client/runToEvents';
export { type KeptPast, type MessageRecorder, SessionPast } from '../../distributed/client/sessionPast';
export type {
  PastMessage,
  RunEmitter,
  RunState,
  ServedAgent,
  ServedRunContext,
  SessionState,
} from '../../distributed/server/servedAgent';
