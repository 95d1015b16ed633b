// How full the agent's context is, and how much of the account's rate limits is used.
import { computed, effect, signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { RateLimit } from '../../panel/contract';
import { Icon } from '../components/icon';
import { announce, session } from '../host/session';
import { formatCost, formatCount, formatShare } from '../text/format';
import { strings } from '../text/strings';

const TICK_MS = 30_000;
/** Of a limit: from here on it is nearly used up. */
const NEARLY = 0.9;

const now = signal(Date.now());

effect(() => {
  if (session.limits.value === undefined) return undefined;
  now.value = Date.now();
  const timer = setInterval(() => (now.value = Date.now()), TICK_MS);
  return () => clearInterval(timer);
});

const limits = computed(() =>
  (session.limits.value ?? []).filter(({ resetsAt }) => resetsAt === undefined || resetsAt > now.value),
);

/** The limit that stops the agent now or soon. */
const pressing = computed(() => {
  const rank = ({ state, used = 0 }: RateLimit): number => (state === 'reached' ? 2 : used);
  const near = limits.value.filter(({ state, used = 0 }) => state !== 'ok' || used >= NEARLY);
  return near.sort((a, b) => rank(b) - rank(a))[0];
});

const warning = computed(() => pressing.value && `${pressing.value.kind} ${pressing.value.state}`);

effect(() => {
  if (warning.value !== undefined) announce(strings.limit(pressing.peek()!, now.peek()), 'polite');
});

/** Names the time at which a limit that is nearly or all used up is reset. */
export function LimitNotice() {
  if (!pressing.value) return null;
  return (
    <p class="composer-problem">
      <Icon name="warning" /> {strings.limit(pressing.value, now.value)}
    </p>
  );
}

export function UsageRing() {
  const [isOpen, setOpen] = useState(false);
  const usage = session.usage.value;
  if (!usage || usage.size <= 0) return null;
  const percent = Math.min(100, Math.round((usage.used / usage.size) * 100));
  const lines = [strings.usage(formatCount(usage.used), formatCount(usage.size))];
  if (usage.cost) lines.push(strings.cost(formatCost(usage.cost.amount, usage.cost.currency)));
  lines.push(...limits.value.map((limit) => strings.limit(limit, now.value)));
  return (
    <div>
      <button
        type="button"
        class="usage"
        aria-label={[strings.usageLabel(formatShare(percent / 100)), ...lines].join(', ')}
        aria-expanded={isOpen}
        title={lines.join('\n')}
        data-level={percent >= 90 ? 'high' : undefined}
        onClick={() => setOpen(!isOpen)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !isOpen) return;
          event.preventDefault();
          event.stopPropagation();
          setOpen(false);
        }}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <circle class="ring" cx="8" cy="8" r="6" />
          <circle class="used" cx="8" cy="8" r="6" pathLength={100} stroke-dasharray={`${percent} 100`} />
        </svg>
        <span class="percent" aria-hidden="true">
          {formatShare(percent / 100)}
        </span>
      </button>
      {isOpen && (
        // The name of the button says the same.
        <div class="popup end up usage-facts" aria-hidden="true">
          {lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      )}
    </div>
  );
}
