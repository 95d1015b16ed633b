// Shown for an empty conversation: the agent and its commands.
import { composer } from '../composer/composerState';
import { hasItems, session } from '../host/session';
import { strings } from '../text/strings';

const MOST_COMMANDS = 8;

export function EmptyState() {
  const { agentName, commands, phase, error } = session;
  if (hasItems.value || agentName.value === '' || error.value || session.elicitations.value.length > 0) return null;
  const isStarting = phase.value === 'starting' || phase.value === 'initializing' || phase.value === 'recovering';
  const isReady = commands.value.length > 0 && phase.value === 'ready';
  return (
    <div class="empty">
      <h2>{agentName.value}</h2>
      <p class="dim">{isReady ? strings.emptyReady : isStarting ? strings.emptyStarting : strings.emptyHint}</p>
      {isReady && (
        <div class="empty-commands">
          {commands.value.slice(0, MOST_COMMANDS).map(({ name, description }) => (
            <button
              key={name}
              type="button"
              class="chip command"
              title={description}
              onClick={() => {
                composer.set(`/${name} `);
                composer.focus();
              }}
            >
              /{name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
