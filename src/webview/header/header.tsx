// The header: the agent with its status as text, and the session's commands.
import { revealControls } from '../../base/revealControls';
import { Icon, IconButton } from '../components/icon';
import { Popup } from '../components/popup';
import { post } from '../host/host';
import { hasItems, hiddenPermissions, session, worktree } from '../host/session';
import { strings } from '../text/strings';
import { openKeySheet } from './keySheet';

const RENAME = { id: 'renameSession', label: strings.renameSession } as const;
const FORK = { id: 'forkSession', label: strings.forkSession } as const;
const STATUS = { id: 'checkStatus', label: strings.checkStatus } as const;
const OF_SESSION = [
  { id: 'continueWith', label: strings.continueWith },
  { id: 'openAsMarkdown', label: strings.openAsMarkdown },
  { id: 'export', label: strings.exportSession },
] as const;
const MORE = [
  { id: 'sessionInfo', label: strings.sessionInfo },
  { id: 'selectAgent', label: strings.changeAgent },
  { id: 'showLog', label: strings.log },
  { id: 'showTraffic', label: strings.showTraffic },
  { id: 'troubleshoot', label: strings.troubleshoot },
  { id: 'openSettings', label: strings.settings },
] as const;
const OF_WORKTREE = [
  { id: 'applyWorktree', label: strings.applyWorktree },
  { id: 'commitWorktree', label: strings.commitWorktree },
  { id: 'removeWorktree', label: strings.removeWorktree },
] as const;
const ALL = [RENAME, FORK, STATUS, ...OF_SESSION, ...MORE, ...OF_WORKTREE];

function run(id: string): void {
  const item = ALL.find((one) => one.id === id)?.id;
  if (item) post({ type: 'command', command: item });
}

export function Header({ onNeedsYou, onTimeline }: { onNeedsYou(): void; onTimeline(): void }) {
  const command = (name: 'newSession' | 'sessions') => () => post({ type: 'command', command: name });
  return (
    <header class="header">
      <h1 class="sr-only">{strings.panelTitle}</h1>
      <Status />
      <Worktree />
      {hiddenPermissions.value.length > 0 && (
        <button type="button" class="needs-you" title={strings.needsYouHint} onClick={onNeedsYou}>
          {strings.needsYou}
        </button>
      )}
      <div class="header-buttons">
        <IconButton icon="add" label={strings.newSession} onClick={command('newSession')} />
        <IconButton icon="history" label={strings.sessions} onClick={command('sessions')} />
        <Popup
          role="menu"
          label={strings.more}
          class="icon-button"
          align="end"
          direction="down"
          items={[
            ...(hasItems.value ? [{ id: 'timeline', label: strings.timelineTitle }, RENAME] : []),
            ...(hasItems.value && session.canFork.value ? [FORK] : []),
            ...(hasItems.value ? OF_SESSION : []),
            ...(session.canCheckStatus.value ? [STATUS] : []),
            ...MORE,
            { id: 'keys', label: strings.keyboardShortcuts },
          ]}
          onChoose={(id) => {
            if (id === 'timeline') onTimeline();
            else if (id === 'keys') openKeySheet();
            else run(id);
          }}
        >
          <Icon name="ellipsis" />
        </Popup>
      </div>
    </header>
  );
}

function Worktree() {
  const branch = worktree.value?.key === session.key.value ? worktree.value.branch : null;
  if (branch === null) return null;
  const shown = revealControls(branch);
  return (
    <Popup
      role="menu"
      label={strings.worktree}
      value={shown}
      title={`${shown}\n${strings.worktreeHint}`}
      class="pick worktree"
      align="end"
      direction="down"
      items={OF_WORKTREE}
      onChoose={run}
    >
      <Icon name="git-branch" />
      <span class="cut">{shown}</span>
    </Popup>
  );
}

function Status() {
  const { phase, liveness, agentName, title, status } = session;
  // When the agent is ready, the status says so.
  const isLost = liveness.value === 'not_found' && phase.value !== 'ready';
  // The dot shows that all is well; the button shows that the agent waits.
  const isWell = phase.value === 'ready' && liveness.value !== 'not_found';
  const words = isWell || hiddenPermissions.value.length > 0 ? 'status-words sr-only' : 'status-words';
  return (
    <div
      class="agent-status"
      role="status"
      aria-label={strings.agent}
      data-state={phase.value}
      data-liveness={liveness.value}
    >
      <span class="dot" aria-hidden="true" />
      <b class="agent-name" title={agentName.value}>
        {agentName.value}
      </b>
      <span class="session-title" title={title.value ?? ''}>
        {revealControls(title.value ?? '')}
      </span>
      <span class={words} title={status.value}>
        <span class="status-text">{status.value}</span>
        {isLost && <span class="liveness"> · {strings.sessionLost}</span>}
      </span>
    </div>
  );
}
