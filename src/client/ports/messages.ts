// What the client uses of messages in distributed sessions.
export {
  type AgentManifest,
  idSchema,
  MAX_HISTORY,
  MAX_MESSAGE_BYTES,
  type Message,
  type MessagePart,
  markdownPart,
  mintId,
  readMessage,
  remotePart,
  type SessionDescriptor,
  sessionSchema,
  textPart,
  timestamp,
  trajectoryOf,
  urlSchema,
} from '../../distributed/model/model';
export { roleName, stopReasonOf, toMessages } from '../../distributed/model/toMessages';
