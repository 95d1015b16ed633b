// The header: the agent with its status as text, and the session's commands.
import { revealControls } from '../../base/revealControls';
import { Icon, IconButton } from '../components/icon';
import { Popup } from '../components/popup';
import { post } from '../host/host';
import { hasItems, hiddenPermissions, isFocusView, onlyPrompt, session, worktree } from '../host/session';
import { strings } from '../text/strings';
import { openKeySheet } from './keySheet';

const SESSION = strings.ofSession;
const AGENT = strings.ofAgent;
const HELP = strings.help;
const RENAME = { id: 'renameSession', label: strings.renameSession, group: SESSION } as const;
const FORK = { id: 'forkSession', label: strings.forkSession, group: SESSION } as const;
const OF_SESSION = [
  { id: 'openAsMarkdown', label: strings.openAsMarkdown, group: SESSION },
  { id: 'export', label: strings.exportSession, group: SESSION },
] as const;
const STATUS = { id: 'checkStatus', label: strings.checkStatus, group: AGENT } as const;
const INFO = { id: 'sessionInfo', label: strings.sessionInfo, group: AGENT } as const;
const FOR_HELP = [
  { id: 'troubleshoot', label: strings.troubleshoot, group: HELP },
  { id: 'showTraffic', label: strings.showTraffic, group: HELP },
  { id: 'showLog', label: strings.log, group: HELP },
  { id: 'openSettings', label: strings.settings, group: HELP },
  { id: 'openDocumentation', label: strings.documentation, group: HELP },
] as const;
const NEW_WITH = { id: 'selectAgent', label: strings.newSessionWith } as const;
const CONTINUE_WITH = { id: 'continueWith', label: strings.continueWith } as const;
const SET_MODEL = { id: 'setModel', label: strings.setModel } as const;
const SAVE_PRESET = { id: 'savePreset', label: strings.savePreset } as const;
const OF_WORKTREE = [
  { id: 'applyWorktree', label: strings.applyWorktree },
  { id: 'compareSessions', label: strings.compareSessions },
  { id: 'commitWorktree', label: strings.commitWorktree },
  { id: 'removeWorktree', label: strings.removeWorktree },
] as const;
const OF_AGENT = [NEW_WITH, CONTINUE_WITH, SET_MODEL, SAVE_PRESET];
const ALL = [RENAME, FORK, STATUS, INFO, ...OF_SESSION, ...FOR_HELP, ...OF_AGENT, ...OF_WORKTREE];

function run(id: string): void {
  const item = ALL.find((item) => item.id === id)?.id;
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
            ...(hasItems.value ? [{ id: 'timeline', label: strings.timelineTitle, group: SESSION }, RENAME] : []),
            ...(hasItems.value && session.canFork.value ? [FORK] : []),
            ...(hasItems.value ? OF_SESSION : []),
            { id: 'focusView', label: strings.focusView, group: SESSION, isOn: isFocusView.value },
            ...(session.canCheckStatus.value ? [STATUS] : []),
            INFO,
            ...FOR_HELP,
            { id: 'keys', label: strings.keyboardShortcuts, group: HELP },
          ]}
          onChoose={(id) => {
            if (id === 'timeline') onTimeline();
            else if (id === 'focusView') post({ type: 'focusView', on: !isFocusView.peek() });
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
  const { phase, liveness, agentName, title, status, config, modes } = session;
  // When the agent is ready, the status says so.
  const isLost = liveness.value === 'not_found' && phase.value !== 'ready';
  // The dot indicates a healthy session; the button indicates that the agent waits.
  const isWell = phase.value === 'ready' && liveness.value !== 'not_found';
  const words = isWell || hiddenPermissions.value.length > 0 ? 'status-words sr-only' : 'status-words';
  // In the first turn, the message already shows the title.
  const isSaid = onlyPrompt.value.startsWith((title.value ?? '').replace(/\u2026$/, ''));
  const shownTitle = isSaid ? '' : revealControls(title.value ?? '');
  return (
    <div class="agent-status" data-state={phase.value}>
      <span class="dot" aria-hidden="true" />
      <Popup
        role="menu"
        label={strings.agent}
        value={agentName.value}
        title={agentName.value}
        class="agent-name"
        direction="down"
        items={[
          NEW_WITH,
          ...(hasItems.value ? [CONTINUE_WITH] : []),
          ...(config.value.some(({ category }) => category === 'model') ? [SET_MODEL] : []),
          ...(config.value.length + modes.value.length > 0 ? [SAVE_PRESET] : []),
        ]}
        onChoose={run}
      >
        <span class="cut">{agentName.value}</span>
        <Icon name="chevron-down" />
      </Popup>
      <div
        class="agent-words"
        role="status"
        aria-label={strings.agent}
        data-state={phase.value}
        data-liveness={liveness.value}
      >
        <span class="sr-only">{agentName.value}</span>
        <span class="session-title" title={shownTitle}>
          {shownTitle}
        </span>
        <span class={words} title={status.value}>
          <span class="status-text">{status.value}</span>
          {isLost && <span class="liveness"> · {strings.sessionLost}</span>}
        </span>
      </div>
    </div>
  );
}
