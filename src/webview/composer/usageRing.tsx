// Shows how full the agent's context is.

import { session } from '../host/session';
import { formatCost, formatCount, formatShare } from '../text/format';
import { strings } from '../text/strings';

export function UsageRing() {
  const usage = session.usage.value;
  if (!usage || usage.size <= 0) return null;
  const percent = Math.min(100, Math.round((usage.used / usage.size) * 100));
  const lines = [strings.usage(formatCount(usage.used), formatCount(usage.size))];
  if (usage.cost) lines.push(strings.cost(formatCost(usage.cost.amount, usage.cost.currency)));
  return (
    <span
      class="usage"
      role="img"
      aria-label={[strings.usageLabel(formatShare(percent / 100)), ...lines].join(', ')}
      title={lines.join('\n')}
      data-level={percent >= 90 ? 'high' : undefined}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle class="ring" cx="8" cy="8" r="6" />
        <circle class="used" cx="8" cy="8" r="6" pathLength={100} stroke-dasharray={`${percent} 100`} />
      </svg>
      <span class="percent" aria-hidden="true">
        {formatShare(percent / 100)}
      </span>
    </span>
  );
}
