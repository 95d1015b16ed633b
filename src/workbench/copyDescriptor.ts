// Puts a session onto the clipboard for others, and says before what they can do with it: read everything, or nothing at all where its messages are on this machine only.
import { env, l10n } from 'vscode';
import type { Conversation } from '../client/conversation';
import { type ExportedDescriptor, exportDescriptor } from '../distributed/descriptor';
import type { SessionDescriptor } from '../distributed/model';
import { isOnThisMachine } from '../distributed/resourceUrl';
import type { Conversations } from './conversations';
import type { Descriptors } from './descriptors';
import { openSettings } from './openSettings';
import type { Questions } from './questions';
import type { ResourceStores } from './resourceStores';

export interface CopyServices {
  readonly conversations: Pick<Conversations, 'active' | 'get'>;
  readonly descriptors: Pick<Descriptors, 'exportDescriptor' | 'move'>;
  readonly stores: Pick<ResourceStores, 'origin' | 'all' | 'setKeys'>;
  readonly ask: Questions;
}

type Form = 'json' | 'link';

interface Exported extends ExportedDescriptor {
  readonly descriptor: SessionDescriptor;
}

/**
 * @param argument `session`: our key, absent: the active conversation; `form`: a program that says what it wants is not asked anything
 * @returns the link, or the descriptor; undefined where the user does not want it after all
 * @throws ParleyError as `Descriptors.exportDescriptor` does; of the bucket where the messages are to go there first
 */
export async function copyDescriptor(
  services: CopyServices,
  argument: { readonly session?: string; readonly form?: Form },
): Promise<string | SessionDescriptor | undefined> {
  const { conversations, descriptors } = services;
  const conversation = argument.session === undefined ? conversations.active() : conversations.get(argument.session);
  const read = async (): Promise<Exported> => {
    const descriptor = await descriptors.exportDescriptor(conversation.key);
    return { descriptor, ...exportDescriptor(descriptor, env.uriScheme) };
  };
  let exported = await read();
  const form = argument.form ?? (await pickForm(services.ask, exported.link.length));
  if (form === undefined) return undefined;
  if (argument.form === undefined) {
    const answer = await agree(services, conversation, exported, true);
    if (answer === 'move') {
      if (!(await moved(services, conversation))) return undefined;
      exported = await read();
      // What could not be copied there, and what others keep on this machine, is said again.
      if (exported.onThisMachine > 0 && (await agree(services, conversation, exported, false)) !== 'copy')
        return undefined;
    } else if (answer !== 'copy') return undefined;
  }
  await env.clipboard.writeText(form === 'link' ? exported.link : exported.text);
  return form === 'link' ? exported.link : exported.descriptor;
}

/** @param offers whether something may be done about messages that are on this machine only */
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
      ? l10n.t('Whoever gets this can read all messages of the session, without signing in.')
      : isAll
        ? l10n.t('Nobody can open this session on another machine.')
        : l10n.t('On another machine, {0} of the {1} messages cannot be opened.', onThisMachine, all);
  const lines = [
    ...(onThisMachine > 0
      ? [l10n.t('Their addresses lead to this machine (127.0.0.1). Those of Parley work while this window is open.')]
      : []),
    ...(carriesSignatures
      ? [
          l10n.t('The addresses in it are signed: whoever can reach them can read without signing in.'),
          expiresAt === undefined
            ? l10n.t('They say nothing about when they end.')
            : l10n.t('They end on {0}.', new Date(expiresAt).toLocaleString()),
        ]
      : []),
  ];
  const copy = l10n.t('Copy');
  const move = l10n.t('Copy the Messages to the Bucket First');
  const setUp = l10n.t('Set Up a Bucket…');
  const bucket = stores.origin;
  // Messages of an HTTP agent's session are where its server keeps them; a bucket on this machine is no better.
  const helps = offers && onThisMachine > 0 && agent.type !== 'communication';
  const canMove = helps && bucket !== undefined && !isOnThisMachine(bucket);
  const canSetUp = helps && bucket === undefined;
  const buttons = [copy, ...(canMove ? [move] : []), ...(canSetUp ? [setUp] : [])];
  const choice = await ask.choose(text, lines.join('\n'), buttons);
  if (choice === setUp) await openSettings('parley.resources');
  return choice === copy ? 'copy' : choice === move ? 'move' : undefined;
}

/** @returns false where the bucket has no keys, and gets none */
async function moved({ stores, descriptors }: CopyServices, { key }: Conversation): Promise<boolean> {
  const [store] = await stores.all();
  if (store.isLocal && !(await stores.setKeys())) return false;
  await descriptors.move(key);
  return true;
}

async function pickForm(ask: Questions, linkLength: number): Promise<Form | undefined> {
  const long = linkLength > 2000 ? l10n.t('{0} characters: some systems cut such links', linkLength) : '';
  const id = await ask.pick(
    [
      { id: 'link', label: l10n.t('Link'), description: l10n.t('opens the session in an editor'), detail: long },
      { id: 'json', label: l10n.t('Descriptor'), description: l10n.t('JSON, for any client of the protocol') },
    ],
    l10n.t('Copy the session as'),
  );
  return id === 'link' || id === 'json' ? id : undefined;
}
