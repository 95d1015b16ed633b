// The stages of an agent's start, and the reason if it failed.
import { computed, useSignal, useSignalEffect } from '@preact/signals';
import { revealControls } from '../../base/revealControls';
import type { StageView } from '../../panel/contract';
import type { Bar } from '../components/bars';
import { Icon, IconButton } from '../components/icon';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
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

/** Codes that are not failures: the user chose them, or only has to answer. */
const NO_FAILURES: ReadonlySet<string> = new Set(['auth-required', 'recording', 'untrusted-workspace']);

const stagesShown = computed(() => {
  const { stages, phase } = session;
  const failed = stages.value.some(({ state }) => state === 'failed');
  const isShown = STARTING.has(phase.value) || (failed && phase.value === 'failed');
  return isShown ? stages.value.filter(({ state }) => state !== 'skipped') : [];
});

export const startBar: Bar = {
  id: 'start',
  rank: () => (session.error.value ? 0 : stagesShown.value.length > 0 ? 7 : undefined),
  label: () => session.error.value?.message ?? strings.startStages,
  Content: () => (
    <>
      <Stages />
      <Failure />
    </>
  ),
};

/** Shows each stage with its duration. The clock ticks every second while visible. */
function Stages() {
  const now = useSignal(Date.now());
  const { phase } = session;
  useSignalEffect(() => {
    if (!STARTING.has(phase.value)) return;
    now.value = Date.now();
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  });
  const shown = stagesShown.value;
  if (shown.length === 0) return null;
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

function Failure() {
  const error = session.error.value;
  if (!error) return null;
  const { stderr } = error;
  const isSignIn = error.code === 'auth-required';
  const isCalm = NO_FAILURES.has(error.code);
  return (
    <section
      class={isCalm ? 'failure calm' : 'failure'}
      aria-label={isSignIn ? strings.stages['sign-in'] : isCalm ? error.message : strings.error}
      data-error-code={error.code}
    >
      <Icon name={isCalm ? 'info' : 'error'} />
      <div class="words">
        <p class="error-text">{error.message}</p>
        {error.hint && <p class="hint">{error.hint}</p>}
        {stderr && (
          <details class="fold" open={!isCalm}>
            <summary>
              <Icon name="chevron-right" />
              <span>{strings.stderr}</span>
            </summary>
            <div class="fold-body">
              <IconButton icon="copy" label={strings.copy} onClick={() => post({ type: 'copy', text: stderr })} />
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
              <pre class="plain" tabIndex={0}>
                {revealControls(stderr)}
              </pre>
            </div>
          </details>
        )}
        {error.actions.length > 0 && (
          <div class="actions">
            {error.actions.map((action, index) => (
              <span key={action.id} class={action.detail ? 'described' : undefined}>
                <button
                  type="button"
                  class={action.primary ? 'primary' : 'secondary'}
                  aria-describedby={action.detail ? `action-${index}` : undefined}
                  onClick={() => post({ type: 'action', id: action.id })}
                >
                  {action.label}
                </button>
                {action.detail && (
                  <span id={`action-${index}`} class="dim">
                    {action.detail}
                  </span>
                )}
              </span>
            ))}
          </div>
        )}
      </div>
    </section>
  );
}
