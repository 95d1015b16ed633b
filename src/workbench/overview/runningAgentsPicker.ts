// The list of all agents of this user on this machine, and of the commands that they run.
import { basename } from 'node:path';
import { l10n } from 'vscode';
import { oneLine } from '../../base/text';
import { commandLineOf } from '../../client/transport/commandsOfKeeper';
import type { FoundKeeper, Keepers } from '../../client/transport/keepers';
import { agoLabel } from '../sessions/sessionLabels';
import { List, type ListButton } from '../ui/input';
import { type ChoiceRow, choiceFrom } from '../ui/listChoice';
import { statusLabel } from './rowLabels';
import { backgroundStateOf } from './runningAgents';

const MAX_COMMAND = 100;

export interface RunningAgentsPicker {
  readonly keepers: Pick<Keepers, 'list' | 'endCommand'>;
  readonly end: (id: string) => Promise<void>;
  readonly titleOf: (session: string) => string | undefined;
  readonly isHere: (session: string) => boolean;
  readonly open: (session: string) => Promise<unknown>;
}

export async function showRunningAgents(services: RunningAgentsPicker): Promise<void> {
  const list = new List<ChoiceRow>(l10n.t('Select an agent to open its session'), l10n.t('Running Agents'));
  let isOpen = true;
  const draw = async (): Promise<void> => {
    list.busy = true;
    const found = await services.keepers.list();
    if (!isOpen) return;
    list.busy = false;
    const none: ChoiceRow = { id: 'none', label: l10n.t('No agents run without a window') };
    list.draw(
      found.length === 0 ? [none] : found.flatMap((one) => [rowOf(one, services), ...commandRows(one, services)]),
      [],
    );
  };
  const choice = choiceFrom(list);
  void draw();
  const choose = await choice;
  isOpen = false;
  await choose?.();
}

function rowOf(found: FoundKeeper, services: RunningAgentsPicker): ChoiceRow {
  const { id, kind, about, startedAt } = found;
  const title = services.titleOf(about.session);
  const untitled = found.state?.isAttached ? l10n.t('New session') : l10n.t('Deleted session');
  const isEndable = kind !== 'elsewhere';
  const end = endButton(l10n.t('End Agent'), () => services.end(id), services);
  return {
    id,
    label: [{ icon: iconOf(found) }, ` ${title ?? untitled}`],
    description: `${about.agentName} · ${basename(about.folder) || about.folder} · ${whereOf(found, services)}`,
    detail: l10n.t('Started: {0}', agoLabel(startedAt, Date.now())),
    buttons: isEndable ? [end] : undefined,
    choose: title !== undefined && kind === 'alive' ? () => services.open(about.session) : undefined,
  };
}

function commandRows({ id, about, state }: FoundKeeper, services: RunningAgentsPicker): readonly ChoiceRow[] {
  const running = state?.commands?.filter(({ isRunning }) => isRunning) ?? [];
  return running.map((command) => ({
    id: `${id} ${command.id}`,
    label: [{ icon: 'terminal' }, ` ${oneLine(commandLineOf(command) ?? '', MAX_COMMAND)}`],
    description: l10n.t('command of {0}', about.agentName),
    buttons: [endButton(l10n.t('End Command'), () => services.keepers.endCommand(id, command.id), services)],
  }));
}

function endButton(tooltip: string, end: () => Promise<void>, services: RunningAgentsPicker): ListButton {
  const run = async (): Promise<void> => {
    await end();
    await showRunningAgents(services);
  };
  return { icon: 'stop-circle', tooltip, run };
}

function iconOf(found: FoundKeeper): string {
  if (found.kind !== 'alive') return 'warning';
  if (found.state?.isAttached) return 'window';
  switch (backgroundStateOf(found)) {
    case 'needsYou':
      return 'question';
    case 'working':
      return 'play-circle';
    case 'ready':
      return 'circle-outline';
    case 'ended':
      return 'check';
  }
}

function whereOf(found: FoundKeeper, { isHere }: RunningAgentsPicker): string {
  switch (found.kind) {
    case 'unreachable':
      return l10n.t("isn't responding");
    case 'newer':
      return l10n.t('started by a newer version of Parley');
    case 'elsewhere':
      return l10n.t('on {0}', found.host);
    case 'alive':
      if (found.state?.isAttached)
        return isHere(found.about.session) ? l10n.t('this window') : l10n.t('another window');
      return l10n.t('{0}, no window', statusLabel(backgroundStateOf(found)));
  }
}
