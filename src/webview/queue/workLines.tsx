// Lines above the composer: background tasks, the plan, the start mode, and the demo notice.

import { revealControls } from '../../base/revealControls';
import type { Bar, BarPlace } from '../components/bars';
import { Icon } from '../components/icon';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

export const backgroundBar: Bar = {
  id: 'background',
  rank: () => (session.background.value.length > 0 ? 6 : undefined),
  label: () => strings.backgroundCount(session.background.value.length),
  Content: Background,
};

export const planBar: Bar = {
  id: 'plan',
  rank: () => (session.plan.value ? 5 : undefined),
  label() {
    const { done = 0, total = 0, step = '' } = session.plan.value ?? {};
    return `${strings.outOf(done, total)} ${revealControls(step)}`;
  },
  Content: PlanLine,
};

export const startModeBar: Bar = {
  id: 'startMode',
  rank: () => (session.startMode.value ? 4 : undefined),
  label: () => session.startMode.value?.text ?? '',
  Content: StartMode,
};

export const demoBar: Bar = {
  id: 'demo',
  rank: () => (session.banner.value && session.queue.value.length === 0 && !session.review.value ? 8 : undefined),
  label: () => session.banner.value ?? '',
  Content: Demo,
};

function Background() {
  const work = session.background.value;
  if (work.length === 0) return null;
  return (
    <section class="background-work" aria-label={strings.backgroundWork}>
      <p>{strings.backgroundCount(work.length)}</p>
      <ul>
        {work.map(({ kind, id, label, stop }) => (
          <li key={`${kind} ${id}`}>
            <Icon name={kind === 'terminal' ? 'terminal' : 'circle-outline'} />
            <span class="cut" title={revealControls(label)}>
              {revealControls(label)}
            </span>
            {stop && (
              <button
                type="button"
                class="text-button"
                aria-label={strings.stopOne(revealControls(label))}
                onClick={() => post({ type: 'stopOne', kind: stop, id })}
              >
                {strings.stop}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function PlanLine({ place }: { readonly place: BarPlace }) {
  const plan = session.plan.value;
  if (!plan) return null;
  const step = revealControls(plan.step);
  return (
    <div class="plan-line">
      <button type="button" class="plan-step" title={step} onClick={() => place.reveal(plan.index)}>
        <Icon name="checklist" />
        <span class="dim">{strings.outOf(plan.done, plan.total)}</span>
        <span class="cut" dir="auto">
          {step}
        </span>
      </button>
      <button
        type="button"
        class="plan-comment dim"
        title={strings.commentOnPlan}
        onClick={() => post({ type: 'command', command: 'commentOnPlan' })}
      >
        {strings.comment}
      </button>
    </div>
  );
}

function StartMode() {
  if (!session.startMode.value) return null;
  const { text, actions } = session.startMode.value;
  return (
    <p class="banner" role="status">
      {text}{' '}
      {actions.map(({ id, label, detail }) => (
        <button key={id} type="button" class="text-button" title={detail} onClick={() => post({ type: 'action', id })}>
          {detail ? `${label}: ${detail}` : label}
        </button>
      ))}
    </p>
  );
}

function Demo() {
  if (!session.banner.value) return null;
  return (
    <p class="banner">
      {session.banner.value}{' '}
      <button type="button" class="text-button" onClick={() => post({ type: 'command', command: 'installAgent' })}>
        {strings.setUpAgent}
      </button>
    </p>
  );
}
