// The agent's background work, with a button to stop what can be stopped.

import { revealControls } from '../../base/revealControls';
import { Icon } from '../components/icon';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

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
