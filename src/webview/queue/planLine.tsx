// How far the plan of the running turn is, above the composer. It leads to the plan.
import { revealControls } from '../../base/revealControls';
import { Icon } from '../components/icon';
import { session } from '../host/session';
import { strings } from '../text/strings';

export function PlanLine({ onShow }: { readonly onShow: (index: number) => void }) {
  const plan = session.plan.value;
  if (!plan) return null;
  const step = revealControls(plan.step);
  return (
    <button type="button" class="plan-line" title={step} onClick={() => onShow(plan.index)}>
      <Icon name="checklist" />
      <span class="dim">{strings.planProgress(plan.done, plan.total)}</span>
      <span class="cut" dir="auto">
        {step}
      </span>
    </button>
  );
}
