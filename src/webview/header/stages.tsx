// The stages of a starting agent, each with its duration. The clock ticks once a second while it is
// shown.
import { useSignal, useSignalEffect } from '@preact/signals';
import type { StageView } from '../../panel/contract';
import { Icon } from '../components/icon';
import type { IconName } from '../dom/icons';
import { session } from '../host/session';
import { formatDuration } from '../text/format';
import { strings } from '../text/strings';

const ICONS: Readonly<Record<StageView['state'], IconName>> = {
  running: 'loading',
  done: 'check',
  failed: 'error',
  skipped: 'circle-slash',
};
const STARTING = new Set(['starting', 'initializing', 'authRequired', 'recovering']);

export function Stages() {
  const now = useSignal(Date.now());
  const { stages, phase } = session;
  const isStarting = STARTING.has(phase.value);
  useSignalEffect(() => {
    if (!STARTING.has(phase.value)) return;
    now.value = Date.now();
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  });
  const failed = stages.value.some(({ state }) => state === 'failed');
  const shown = stages.value.filter(({ state }) => state !== 'skipped');
  if (shown.length === 0 || !(isStarting || (failed && phase.value === 'failed'))) return null;
  return (
    <ol class="stages" aria-label={strings.startStages}>
      {shown.map((stage) => (
        <li key={stage.name} data-stage={stage.name} data-stage-state={stage.state}>
          <Icon name={ICONS[stage.state]} />
          <span class="sr-only">{strings.stageState[stage.state]}</span>
          <span class="stage-name">{strings.stages[stage.name]}</span>
          <span class="grow" />
          <span class="dim">{timeOf(stage, now.value)}</span>
        </li>
      ))}
    </ol>
  );
}

function timeOf(stage: StageView, now: number): string {
  if (stage.endedAt !== undefined) return formatDuration(stage.endedAt - stage.startedAt);
  if (stage.state !== 'running') return '';
  const seconds = Math.floor((now - stage.startedAt) / 1000);
  return seconds > 0 ? formatDuration(seconds * 1000) : '';
}
