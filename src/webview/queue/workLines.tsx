// What the agent works on, above the composer: its background work, and the plan of the running turn.

import { revealControls } from '../../base/revealControls';
import { Icon } from '../components/icon';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

/** A button stops what can be stopped. */
export function Background() {
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

/** Leads to the plan, and to comments on it. */
export function PlanLine({ onShow }: { readonly onShow: (index: number) => void }) {
  const plan = session.plan.value;
  if (!plan) return null;
  const step = revealControls(plan.step);
  return (
    <div class="plan-line">
      <button type="button" class="plan-step" title={step} onClick={() => onShow(plan.index)}>
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
