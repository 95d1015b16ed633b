// Shown for an empty conversation: the agent and its commands, and the agents to begin with.
import type { FirstUseView } from '../../panel/contract';
import { composer } from '../composer/composerState';
import { post } from '../host/host';
import { firstUse, hasItems, session } from '../host/session';
import { strings } from '../text/strings';

const MOST_COMMANDS = 8;
const MOST_AGENTS = 6;

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
      {firstUse.value && <FirstUse offers={firstUse.value} />}
    </div>
  );
}

/** Agents that a click configures and starts. */
function FirstUse({ offers }: { readonly offers: FirstUseView }) {
  return (
    <section class="first-use" aria-labelledby="first-use-title">
      <p class="dim" id="first-use-title">
        {offers.isSearching ? strings.firstUseSearching : strings.firstUse}
      </p>
      {offers.agents.slice(0, MOST_AGENTS).map(({ id, name, version }) => (
        <button
          key={id}
          type="button"
          class="secondary"
          data-agent-id={id}
          onClick={() => post({ type: 'useAgent', id })}
        >
          {strings.useAgent(name)} {version && <span class="dim">{version}</span>}
        </button>
      ))}
      <button type="button" class="secondary" onClick={() => post({ type: 'command', command: 'installAgent' })}>
        {strings.browseAgents}
      </button>
    </section>
  );
}
