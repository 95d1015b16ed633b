// Usage of the account's rate limits. claude-agent-acp forwards the Claude Agent SDK's report
// (`SDKRateLimitInfo`) in `_meta` of `usage_update`.
import { at } from '../../base/untrusted';
import type { RateLimit } from '../../session/events/content';
import type { EventOf } from '../../session/events/event';

const WINDOWS = ['five_hour', 'seven_day', 'seven_day_overage_included'];
const MAX_KIND = 100;
/** Seconds since 1970; later times aren't valid dates. */
const MAX_TIME = 1e11;

export function rateLimitsOf(meta: unknown): EventOf<'rate_limits'> | undefined {
  const info = at(meta, '_claude/rateLimit');
  if (typeof info !== 'object' || info === null) return undefined;
  const limits = new Map<string, RateLimit>();
  for (const kind of WINDOWS) {
    const window = at(info, 'unifiedWindows', kind);
    if (typeof window === 'object' && window !== null)
      limits.set(kind, { kind, state: stateOf(window, false), ...amountOf(window) });
  }
  // Extra usage can replace an exhausted window: the outer status tells if requests are refused.
  const type = at(info, 'rateLimitType');
  const kind = typeof type === 'string' ? type.slice(0, MAX_KIND) : '';
  const isRefused = at(info, 'isUsingOverage') !== true && at(info, 'overageInUse') !== true;
  const limit = { kind, state: stateOf(info, isRefused), ...amountOf(info) };
  if (limit.state !== 'ok' || limit.used !== undefined || limit.resetsAt !== undefined)
    limits.set(kind, { ...limits.get(kind), ...limit });
  return { type: 'rate_limits', limits: [...limits.values()] };
}

function stateOf(window: unknown, isRefused: boolean): RateLimit['state'] {
  const status = at(window, 'status');
  if (status === 'rejected') return isRefused ? 'reached' : 'warning';
  return status === 'allowed_warning' ? 'warning' : 'ok';
}

function amountOf(window: unknown): Pick<RateLimit, 'used' | 'resetsAt'> {
  const [used, resetsAt] = [at(window, 'utilization'), at(window, 'resetsAt')];
  return {
    ...(typeof used === 'number' && used >= 0 && { used: Math.min(1, used) }),
    ...(typeof resetsAt === 'number' && resetsAt > 0 && resetsAt < MAX_TIME && { resetsAt: resetsAt * 1000 }),
  };
}
