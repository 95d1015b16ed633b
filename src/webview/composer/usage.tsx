// The meter of context and rate limit usage, and its details.
import { computed, effect, signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RateLimit } from '../../panel/contract';
import { useDismissal } from '../components/dismissal';
import { Icon } from '../components/icon';
import { post } from '../host/host';
import { announce, hasItems, session } from '../host/session';
import { formatCost, formatCount, formatShare } from '../text/format';
import { strings } from '../text/strings';
import { compactCommand } from './slash';

const TICK_MS = 30_000;
const NEARLY_FULL = 0.9;

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

/** The limit that blocks the agent, or will soon. */
const blockingLimit = computed(() => {
  const rank = ({ state, used = 0 }: RateLimit): number => (state === 'reached' ? 2 : used);
  const near = limits.value.filter((limit) => isPressing(limit));
  return near.sort((a, b) => rank(b) - rank(a))[0];
});

/** Share of the context in use, 0 to 1. */
const context = computed(() => {
  const usage = session.usage.value;
  return usage && usage.size > 0 ? Math.min(1, usage.used / usage.size) : undefined;
});

const isNearlyFull = computed(() => (context.value ?? 0) >= NEARLY_FULL);
const warning = computed(() => blockingLimit.value && `${blockingLimit.value.kind} ${blockingLimit.value.state}`);

effect(() => {
  if (warning.value !== undefined) announce(strings.limit(blockingLimit.peek()!, now.peek()), 'polite');
});
effect(() => {
  if (isNearlyFull.value) announce(strings.contextNearlyFull, 'polite');
});

function isPressing({ state, used = 0 }: RateLimit): boolean {
  return state !== 'ok' || used >= NEARLY_FULL;
}

/**
 * Shows how full the context is, or the usage of a limit that is closer to its end. Opens the
 * details.
 */
export function ContextMeter() {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const facts = useRef<HTMLDivElement>(null);
  useDismissal(root, isOpen, () => setOpen(false));
  useLayoutEffect(() => {
    if (isOpen) facts.current?.focus();
  }, [isOpen]);

  const usage = session.usage.value;
  const share = Math.max(context.value ?? 0, ...(blockingLimit.value ? [usedOf(blockingLimit.value)] : []));
  if (context.value === undefined && limits.value.length === 0) return null;
  const isHigh = isNearlyFull.value || blockingLimit.value !== undefined;
  const lines = [
    ...(usage && context.value !== undefined
      ? [{ text: strings.usage(formatCount(usage.used), formatCount(usage.size)), isHigh: false }]
      : []),
    ...(isNearlyFull.value ? [{ text: strings.contextNearlyFull, isHigh: true }] : []),
    ...(usage?.cost ? [{ text: strings.cost(formatCost(usage.cost.amount, usage.cost.currency)), isHigh: false }] : []),
    ...limits.value.map((limit) => ({ text: strings.limit(limit, now.value), isHigh: isPressing(limit) })),
  ];
  const label = context.value === undefined ? strings.limits : strings.usageLabel(formatShare(context.value));

  function close(): void {
    setOpen(false);
    trigger.current?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the dialog in it
    <div
      class="usage-anchor"
      ref={root}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !root.current?.contains(relatedTarget)) setOpen(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <button
        type="button"
        ref={trigger}
        class="usage"
        aria-label={[label, ...lines.map(({ text }) => text)].join(', ')}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        title={lines.map(({ text }) => text).join('\n')}
        data-level={isHigh ? 'high' : undefined}
        onClick={() => (isOpen ? close() : setOpen(true))}
      >
        {isHigh ? (
          <Icon name="warning" />
        ) : (
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle class="ring" cx="8" cy="8" r="6" />
            <circle class="used" cx="8" cy="8" r="6" pathLength={100} stroke-dasharray={`${share * 100} 100`} />
          </svg>
        )}
        <span class="percent" aria-hidden="true">
          {formatShare(share)}
        </span>
      </button>
      {isOpen && (
        <div class="popup end up usage-facts" role="dialog" aria-label={label} tabIndex={-1} ref={facts}>
          {lines.map(({ text, isHigh }) => (
            <p key={text}>
              {isHigh && <Icon name="warning" />}
              {text}
            </p>
          ))}
          <Remedies leave={close} />
        </div>
      )}
    </div>
  );
}

function usedOf({ state, used = 0 }: RateLimit): number {
  return state === 'reached' ? 1 : Math.min(1, used);
}

function Remedies({ leave }: { readonly leave: () => void }) {
  const command = compactCommand(session.commands.value);
  // The demo has no model, and a working agent cannot be prompted.
  const canContinue = hasItems.value && !session.running.value && session.agentId.value !== 'demo';
  return (
    <>
      {command !== undefined && (
        <button
          type="button"
          class="secondary"
          title={`/${command.name}: ${command.description}`}
          onClick={() => {
            post({ type: 'sendCommand', name: command.name });
            leave();
          }}
        >
          {strings.summarize}
        </button>
      )}
      {canContinue && (
        <button
          type="button"
          class="secondary"
          onClick={() => {
            post({ type: 'command', command: 'continueWithSummary' });
            leave();
          }}
        >
          {strings.continueWithSummary}
        </button>
      )}
    </>
  );
}
