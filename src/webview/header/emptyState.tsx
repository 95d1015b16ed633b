// The view of an empty conversation: agent, commands, folder, recent sessions and shortcuts.
import { revealControls } from '../../base/revealControls';
import type { FirstUseView, WelcomeView } from '../../panel/contract';
import { Icon } from '../components/icon';
import { composer } from '../composer/composerState';
import { post } from '../host/host';
import { firstUse, hasItems, session, welcome } from '../host/session';
import { formatAgo } from '../text/format';
import { strings } from '../text/strings';

const MAX_COMMANDS = 8;
const MAX_AGENTS = 6;

export function EmptyState() {
  const { agentName, commands, phase, error } = session;
  const isAsked = session.permissions.value.length > 0 || session.elicitations.value.length > 0;
  if (hasItems.value || agentName.value === '' || error.value || isAsked) return null;
  const isStarting = phase.value === 'starting' || phase.value === 'initializing' || phase.value === 'recovering';
  const isReady = commands.value.length > 0 && phase.value === 'ready';
  const current = welcome.value?.key === session.key.value ? welcome.value.welcome : undefined;
  return (
    <div class="empty">
      <h2>{agentName.value}</h2>
      {current && <Place {...current} />}
      <p class="dim">{isReady ? strings.emptyReady : isStarting ? strings.emptyStarting : strings.emptyHint}</p>
      {isReady && (
        <div class="empty-commands">
          {commands.value.slice(0, MAX_COMMANDS).map(({ name, description }) => (
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
      {current && current.sessions.length > 0 && <Earlier sessions={current.sessions} />}
      <p class="empty-keys dim">
        {strings.emptyKeys.map(([key, label]) => (
          <span key={key}>
            <kbd>{key}</kbd> {label}
          </span>
        ))}
      </p>
    </div>
  );
}

function Place({ folder, isSelectable, branch }: WelcomeView) {
  if (folder === undefined) return null;
  const name = revealControls(folder);
  return (
    <p class="empty-place dim">
      <Icon name="folder" />
      {isSelectable ? (
        <button
          type="button"
          class="text-button"
          title={strings.selectFolder(name)}
          aria-label={strings.selectFolder(name)}
          onClick={selectFolder}
        >
          {name}
        </button>
      ) : (
        <span title={`${strings.folder}: ${folder}`}>{name}</span>
      )}
      {branch !== undefined && (
        <>
          <Icon name="git-branch" />
          <span title={`${strings.branch}: ${branch}`}>{revealControls(branch)}</span>
        </>
      )}
    </p>
  );
}

function selectFolder(): void {
  post({ type: 'command', command: 'selectFolder' });
}

function Earlier({ sessions }: Pick<WelcomeView, 'sessions'>) {
  return (
    <section class="empty-sessions" aria-labelledby="empty-sessions-title">
      <p class="dim" id="empty-sessions-title">
        {strings.lastSessions}
      </p>
      {sessions.map(({ key, title, agent, at, files }) => (
        <button
          key={key}
          type="button"
          class="empty-session"
          title={title}
          onClick={() => post({ type: 'action', id: `show:${key}` })}
        >
          <span class="cut">{revealControls(title)}</span>
          <span class="dim">
            {agent} · {files > 0 && `${strings.files(files)} · `}
            {formatAgo(Date.now() - at)}
          </span>
        </button>
      ))}
    </section>
  );
}

function FirstUse({ offers }: { readonly offers: FirstUseView }) {
  return (
    <section class="first-use" aria-labelledby="first-use-title">
      <p class="dim" id="first-use-title">
        {offers.isSearching ? strings.firstUseSearching : strings.firstUse}
      </p>
      {offers.agents.slice(0, MAX_AGENTS).map(({ id, name, version }) => (
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
