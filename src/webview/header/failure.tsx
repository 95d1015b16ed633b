// A failure of the agent with its hint and actions, above the composer, which stays usable.

import { revealControls } from '../../base/revealControls';
import { Fold, Icon, IconButton } from '../components/icon';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

export function Failure() {
  const error = session.error.value;
  if (!error) return null;
  const { stderr } = error;
  // Neither a sign-in nor a recording is a failure.
  const isSignIn = error.code === 'auth-required';
  const isCalm = isSignIn || error.code === 'recording';
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
          <Fold label={strings.stderr} isOpen={!isCalm}>
            <div class="fold-body">
              <IconButton icon="copy" label={strings.copy} onClick={() => post({ type: 'copy', text: stderr })} />
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
              <pre class="plain" tabIndex={0}>
                {revealControls(stderr)}
              </pre>
            </div>
          </Fold>
        )}
        {error.actions.length > 0 && (
          <div class="actions">
            {error.actions.map((action) => (
              <button
                key={action.id}
                type="button"
                class={action.primary ? 'primary' : 'secondary'}
                onClick={() => post({ type: 'action', id: action.id })}
              >
                {action.label}
              </button>
            ))}
          </div>
        )}
      </div>
    </section>
  );
}
