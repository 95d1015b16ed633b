// Copies a session's descriptor to the clipboard, after explaining what others can read with it.

import { env, l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { formatTime } from '../../base/localFormat';
import type { Conversation } from '../../client/conversation/conversation';
import { UnreadableLinks } from '../../client/sharing/uploads';
import { type ExportedDescriptor, exportDescriptor } from '../../distributed/fetch/descriptor';
import type { SessionDescriptor } from '../../distributed/model/model';
import { isOnThisMachine } from '../../distributed/model/resourceUrl';
import type { Questions } from '../config/questions';
import { openSettings } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { Descriptors } from '../sharing/descriptors';
import { ResourceStores } from '../sharing/resourceStores';

interface CopyServices {
  readonly descriptors: Descriptors;
  readonly stores: ResourceStores;
  readonly ask: Questions;
}

type Form = 'json' | 'link';

interface Exported extends ExportedDescriptor {
  readonly descriptor: SessionDescriptor;
}

/**
 * @param wanted for programs: don't ask
 * @returns the link or descriptor; undefined if cancelled
 * @throws ParleyError as `Descriptors.exportDescriptor` does
 */
export async function copyDescriptor(
  workbench: Workbench,
  conversation: Conversation,
  wanted: Form | undefined,
  ask: Questions,
): Promise<string | SessionDescriptor | undefined> {
  const services = { descriptors: workbench.get(Descriptors), stores: workbench.get(ResourceStores), ask };
  const form = wanted ?? (await askForm(services, conversation));
  if (form === undefined) return undefined;
  const descriptor = await exportReadable(services, conversation.key, wanted === undefined);
  if (!descriptor) return undefined;
  const exported = withForms(descriptor);
  await env.clipboard.writeText(form === 'link' ? exported.link : exported.text);
  return form === 'link' ? exported.link : exported.descriptor;
}

/** Waits until the links are readable. @param asks whether to ask instead of throwing */
async function exportReadable(
  { descriptors, stores, ask }: CopyServices,
  key: string,
  asks: boolean,
): Promise<SessionDescriptor | undefined> {
  for (let unsent = false; ; ) {
    try {
      return await descriptors.exports.forOthers(key, { unsent });
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'cancelled') return undefined;
      if (!asks || !(error instanceof UnreadableLinks)) throw error;
      const choice = await askAboutUnreadable(ask, error);
      if (choice === undefined) return undefined;
      if (choice === 'settings') {
        await openSettings('parley.resources');
        return undefined;
      }
      if (choice === 'keys' && !(await stores.setKeys())) return undefined;
      unsent = choice === 'anyway';
    }
  }
}

/** Offers links that are only waiting for the server, never links signed with a wrong key. */
async function askAboutUnreadable(
  ask: Questions,
  { message, hint, reason, onlyLater }: UnreadableLinks,
): Promise<'retry' | 'keys' | 'settings' | 'anyway' | undefined> {
  const retry = l10n.t('Retry');
  const keys = l10n.t('Enter Credentials');
  const settings = l10n.t('Open Settings');
  const anyway = l10n.t('Copy Anyway');
  const lines = [...(hint === undefined ? [] : [hint]), l10n.t('Nothing was copied.')];
  const buttons = [retry, ...(reason.code === 'store-denied' ? [keys] : []), settings, ...(onlyLater ? [anyway] : [])];
  const choice = await ask.choose(message, lines.join('\n'), buttons);
  if (choice === retry) return 'retry';
  if (choice === keys) return 'keys';
  if (choice === settings) return 'settings';
  return choice === anyway ? 'anyway' : undefined;
}

/** Also asks whether to share the session at all. @returns undefined if cancelled */
async function askForm(services: CopyServices, conversation: Conversation): Promise<Form | undefined> {
  const { descriptors, ask } = services;
  const preview = async (): Promise<Exported> => withForms(await descriptors.exports.preview(conversation.key));
  const first = await preview();
  const form = await pickForm(ask, first.link.length);
  if (form === undefined) return undefined;
  const answer = await agree(services, conversation, first, true);
  if (answer !== 'move') return answer === 'copy' ? form : undefined;
  if (!(await moved(services, conversation))) return undefined;
  const second = await preview();
  // What could not be copied is reported again.
  if (second.onThisMachine === 0) return form;
  return (await agree(services, conversation, second, false)) === 'copy' ? form : undefined;
}

function withForms(descriptor: SessionDescriptor): Exported {
  return { descriptor, ...exportDescriptor(descriptor, env.uriScheme) };
}

async function agree(
  { ask, stores }: CopyServices,
  { agent }: Conversation,
  exported: Exported,
  offers: boolean,
): Promise<'copy' | 'move' | undefined> {
  const { carriesSignatures, expiresAt, onThisMachine, descriptor } = exported;
  if (!carriesSignatures && onThisMachine === 0) return 'copy';
  const all = descriptor.history.length + (descriptor.state === undefined ? 0 : 1);
  const isAll = onThisMachine === all;
  const text =
    onThisMachine === 0
      ? l10n.t('Anyone with this link can read all messages of the session without signing in.')
      : isAll
        ? l10n.t("This session can't be opened on another machine.")
        : l10n.t("On another machine, {0} of the {1} messages can't be opened.", onThisMachine, all);
  const lines = [
    ...(onThisMachine > 0
      ? [l10n.t('Their links point to this machine (127.0.0.1) and work while this window is open.')]
      : []),
    ...(carriesSignatures
      ? [
          l10n.t('Its links are signed. Anyone who can reach them can read the messages without signing in.'),
          expiresAt === undefined
            ? l10n.t('Their expiration is unknown.')
            : l10n.t('They expire on {0}.', formatTime(expiresAt)),
        ]
      : []),
  ];
  const copy = l10n.t('Copy');
  const move = l10n.t('Upload Messages First');
  const setUp = l10n.t('Set Up Shared Storage…');
  const bucket = stores.origin;
  // An HTTP agent's server has the messages; a bucket on this machine is no improvement.
  const canHelp = offers && onThisMachine > 0 && agent.type !== 'communication';
  const canMove = canHelp && bucket !== undefined && !isOnThisMachine(bucket);
  const canSetUp = canHelp && bucket === undefined;
  const buttons = [copy, ...(canMove ? [move] : []), ...(canSetUp ? [setUp] : [])];
  const choice = await ask.choose(text, lines.join('\n'), buttons);
  if (choice === setUp) await openSettings('parley.resources');
  return choice === copy ? 'copy' : choice === move ? 'move' : undefined;
}

async function moved({ stores, descriptors }: CopyServices, { key }: Conversation): Promise<boolean> {
  const [store] = await stores.all();
  if (store.isLocal && !(await stores.setKeys())) return false;
  await descriptors.move(key);
  return true;
}

async function pickForm(ask: Questions, linkLength: number): Promise<Form | undefined> {
  const long = linkLength > 2000 ? l10n.t('{0} characters; some apps truncate long links', linkLength) : '';
  const id = await ask.pick(
    [
      { id: 'link', label: l10n.t('Link'), description: l10n.t('opens the session in VS Code'), detail: long },
      { id: 'json', label: l10n.t('JSON'), description: l10n.t('for other clients of the protocol') },
    ],
    l10n.t('Copy the session as'),
  );
  return id === 'link' || id === 'json' ? id : undefined;
}
