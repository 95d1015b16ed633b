// Shows how many shared messages wait for the storage server, and why.
import { type Disposable, l10n } from 'vscode';
import type { ParleyError } from '../../base/errors';
import type { UploadState } from '../../client/sharing/uploads';
import { openSettings } from '../config/settings';
import { showWarning } from '../ui/messages';
import { StatusItem } from '../ui/statusItem';

export interface ResourceActions {
  enterKeys(): Promise<unknown>;
  retry(): Promise<unknown>;
}

export class ResourceStatus implements Disposable {
  #item: StatusItem | undefined;

  show(state: UploadState | undefined): void {
    if (!state) {
      this.dispose();
      return;
    }
    const { waiting, problem } = state;
    this.#item ??= new StatusItem('parley.resources');
    this.#item.show({
      name: l10n.t('Parley: Messages to Upload'),
      text: [
        { icon: 'cloud-upload' },
        ` ${waiting === 1 ? l10n.t('1 message not uploaded') : l10n.t('{0} messages not uploaded', waiting)}`,
      ],
      tooltip: [
        ...(problem ? [sentenceOf(problem)] : []),
        l10n.t("Messages of shared sessions are kept on this machine until they're uploaded."),
        l10n.t('Select to try again.'),
      ],
      command: { title: l10n.t('Upload Waiting Messages'), command: 'parley.resources.retry' },
      isWarning: problem !== undefined,
    });
  }

  dispose(): void {
    this.#item?.dispose();
    this.#item = undefined;
  }
}

/** @param waiting number of messages that the server does not have yet */
export async function warnOfStore(problem: ParleyError, waiting: number, actions: ResourceActions): Promise<void> {
  const enterKeys = l10n.t('Enter Credentials');
  const settings = l10n.t('Open Settings');
  const retry = l10n.t('Retry');
  const waits =
    waiting === 0
      ? ''
      : waiting === 1
        ? ` ${l10n.t('1 message is waiting to be uploaded.')}`
        : ` ${l10n.t('{0} messages are waiting to be uploaded.', waiting)}`;
  const buttons = [...(problem.code === 'store-denied' ? [enterKeys] : []), settings, retry];
  const choice = await showWarning(`Parley: ${sentenceOf(problem)}${waits}`, ...buttons);
  if (choice === enterKeys) await actions.enterKeys();
  else if (choice === settings) await openSettings('parley.resources');
  else if (choice === retry) await actions.retry();
}

export function sentenceOf({ message, hint }: ParleyError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}
