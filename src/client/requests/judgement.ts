// What rules say of a permission request, for those who ask the user.
import type { PermissionAsk } from '../../acp/protocol/dialect';
import type { PermissionRuleOffer } from '../../session/events/content';

/** An answer, with the rule that gives it as one line; or what rule could be made. */
export type Judgement =
  | { readonly action: 'allow' | 'reject'; readonly rule: string }
  | { readonly action?: undefined; readonly offer?: PermissionRuleOffer };

/** Judges a request of an agent. Never rejects. */
export type JudgePermission = (asked: PermissionAsk) => Promise<Judgement>;
