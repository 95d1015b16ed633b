// What the client uses of storage servers: writing to them, and reading histories under a guard.
export type { HistoryLinks } from '../../distributed/fetch/historyLinks';
export { OriginHealth } from '../../distributed/fetch/originLimiter';
export type { HistoryEntry, PartOptions, ResolvedMessage, Resolver } from '../../distributed/fetch/resolver';
export { type Gap, gapOf, gapSentence, isGapReason } from '../../distributed/model/gap';
export { DEFAULT_URL_SECONDS, folderOf, type ResourceStore, sha256Of } from '../../distributed/model/resources';
export { hashOf, originOf, redactSignatures, redactUrl, urlIdentity } from '../../distributed/model/resourceUrl';
export {
  MAX_EARLIER_STATES,
  type OwnPlace,
  type Place,
  readRecord,
  type SessionRecord,
} from '../../distributed/model/sessionRecord';
export { diskError, readFramed, writeFramed } from '../../distributed/stores/framedFile';
export type { LocalStore } from '../../distributed/stores/localStore';
export { objectUrl, type S3Location } from '../../distributed/stores/s3Signer';
export type { S3Store } from '../../distributed/stores/s3Store';
export { isOfObject, isOfSettings } from '../../distributed/stores/s3Store';
