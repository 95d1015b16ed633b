// Runs the user's setup command in a new worktree before its session starts, as a VS Code task.
import {
  l10n,
  ShellExecution,
  Task,
  type TaskExecution,
  TaskPanelKind,
  TaskRevealKind,
  TaskScope,
  tasks,
  workspace,
} from 'vscode';
import { messageOf } from '../../base/errors';
import type { Worktree } from '../../changes/worktree/worktreeEntry';
import { isBelow } from '../../client/requests/roots';
import type { FolderConsent } from '../config/folderConsent';
import { folderValues, userValue } from '../config/folderSettings';
import { showProgress, showWarning } from '../ui/messages';

const KEY = 'worktreeSetup';
/** VS Code runs a task only once at a time, and identifies shell tasks by their command. */
const TASK_TYPE = 'parley.worktreeSetup';
/** Cursor's name for the root of the user's repository. */
const ROOT_VARIABLE = 'ROOT_WORKTREE_PATH';

/** Returns the workspace's command for worktrees if allowed, otherwise the user's. */
export async function setupCommand(consent: FolderConsent, folder: string): Promise<string | undefined> {
  const userCommand = textOf(userValue(KEY));
  const folderCommands = folderValues(KEY).filter((one) => one.place === 'workspace' || isBelow(one.folder, folder));
  const { file, place, value } = folderCommands.at(-1) ?? {};
  const command = textOf(value);
  if (file === undefined || command === undefined || command === userCommand) return userCommand;
  const detail = [
    l10n.t('{0} defines this command, which runs with your permissions in each new worktree:', file),
    command,
    l10n.t('Your choice applies until the command changes.'),
  ].join('\n\n');
  const question = l10n.t('Set up new worktrees with the command of this workspace?');
  const answer = await consent.ask({ content: `parley.${KEY} ${place}\0${command}`, question, detail });
  return answer === 'yes' ? command : userCommand;
}

/** Reports failures and never rejects. Resolves when the command ends or the user stops waiting. */
export async function setUp(command: string, worktree: Worktree): Promise<void> {
  const { branch } = worktree;
  const text = l10n.t('Setting up {0}: {1}. Cancel to start the session without waiting.', branch, command);
  try {
    const code = await showProgress(text, (signal) => run(command, worktree, signal));
    if (code === 0 || code === 'not-awaited') return;
    void showWarning(
      code === undefined
        ? l10n.t('The setup of {0} was ended.', branch)
        : l10n.t('The setup of {0} failed with exit code {1}. The terminal has its output.', branch, code),
    );
  } catch (error) {
    void showWarning(l10n.t("The setup of {0} couldn't be started: {1}", branch, messageOf(error)));
  }
}

export function isSettingUp({ cwd }: Worktree): boolean {
  return tasks.taskExecutions.some((one) => isSetupOf(cwd, one));
}

function isSetupOf(cwd: string, { task }: TaskExecution): boolean {
  const { type, cwd: place } = task.definition;
  return type === TASK_TYPE && place === cwd;
}

async function run(
  command: string,
  { branch, cwd, top }: Worktree,
  signal: AbortSignal,
): Promise<number | undefined | 'not-awaited'> {
  const execution = new ShellExecution(command, { cwd, env: { [ROOT_VARIABLE]: top } });
  const scope = workspace.workspaceFolders?.[0] ?? TaskScope.Workspace;
  const name = l10n.t('Set up {0}', branch);
  const task = new Task({ type: TASK_TYPE, cwd }, scope, name, 'Parley', execution);
  task.presentationOptions = { reveal: TaskRevealKind.Always, focus: false, panel: TaskPanelKind.New };
  const { promise, resolve } = Promise.withResolvers<number | undefined | 'not-awaited'>();
  // A short command ends before `executeTask` returns.
  const isSetup = (one: TaskExecution): boolean => isSetupOf(cwd, one);
  const listening = [
    tasks.onDidEndTaskProcess((event) => isSetup(event.execution) && resolve(event.exitCode)),
    tasks.onDidEndTask((event) => isSetup(event.execution) && resolve(undefined)),
  ];
  const stopWaiting = (): void => resolve('not-awaited');
  signal.addEventListener('abort', stopWaiting, { once: true });
  try {
    await tasks.executeTask(task);
    return await promise;
  } finally {
    signal.removeEventListener('abort', stopWaiting);
    for (const one of listening) one.dispose();
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
