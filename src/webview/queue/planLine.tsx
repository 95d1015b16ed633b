// How far the plan of the running turn is, above the composer. It leads to the plan, and to comments on it.
import { revealControls } from '../../base/revealControls';
import { Icon } from '../components/icon';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

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
