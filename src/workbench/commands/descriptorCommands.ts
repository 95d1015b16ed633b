// Commands that share and open sessions: copy and open descriptors, continue with another agent,
// choose where messages are stored.
import { l10n } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { originsOf } from '../../client/sharing/historyEvents';
import type { SessionDescriptor } from '../../distributed/model/model';
import { type Questions, vscodeQuestions } from '../config/questions';
import type { Descriptors } from '../sharing/descriptors';
import type { ResourceStores } from '../sharing/resourceStores';
import { showInfo, showProgress, showStatus } from '../ui/messages';
import type { Command, CommandServices, Register } from './commandServices';
import { sessionOf } from './commandSession';
import { continueWith } from './continueWith';
import { copyDescriptor } from './copyDescriptor';
import { showBranch } from './showBranch';

interface OpenArgument {
  readonly descriptor?: unknown;
  readonly agent?: string;
  /** The user did not choose this: they are asked before anything is fetched. */
  readonly asks?: boolean;
}

export interface DescriptorServices extends Pick<CommandServices, 'conversations' | 'catalog' | 'chat'> {
  readonly descriptors: Descriptors;
  readonly stores: ResourceStores;
  /** Absent: VS Code's dialogs. */
  readonly ask?: Questions;
}

export function descriptorCommands(services: DescriptorServices, register: Register): Command[] {
  const { conversations, chat, descriptors, stores, ask = vscodeQuestions } = services;

  const show = (conversation: Conversation): Promise<void> => chat.present(conversation).painted();

  const open = async ({ descriptor: given, agent, asks }: OpenArgument): Promise<string | undefined> => {
    if (given === undefined) descriptors.prepare();
    const input =
      given ?? (await ask.line({ prompt: l10n.t('Session link, descriptor, or address of a session on a server') }));
    if (!input) return undefined;
    if (asks && !(await agreesToOpen(ask, input))) return undefined;
    // A program cannot answer.
    const descriptor = await descriptors.read(input, asks === true || given === undefined);
    if (asks && !(await agreesToLoad(ask, descriptor))) return undefined;
    const conversation = await descriptors.open(descriptor, { agent, onDidShow: show });
    return conversation.key;
  };

  return [
    register('copyDescriptor', async (argument?: { session?: string; form?: 'json' | 'link' }) => {
      const copied = await copyDescriptor(
        { descriptors, stores, ask },
        await sessionOf(services, argument),
        argument?.form,
      );
      if (copied !== undefined) showStatus(l10n.t('Parley: Session copied.'));
      return copied;
    }),
    register('openDescriptor', (argument?: unknown) => open(readOpenArgument(argument))),
    register('continueWith', async (argument?: { session?: string; agent?: string; descriptor?: unknown }) => {
      const { agent, descriptor } = argument ?? {};
      const from = descriptor === undefined ? await sessionOf(services, argument) : { descriptor };
      return (await continueWith({ ...services, show }, from, agent))?.key;
    }),
    register('showBranch', async (argument?: { session?: string; branch?: string }) => {
      const origin = await sessionOf(services, argument);
      return (await showBranch({ conversations, descriptors, show }, origin, argument?.branch))?.key;
    }),
    register('resources.setKeys', async () => {
      if (await stores.setKeys()) showStatus(l10n.t('Parley: Credentials saved.'));
    }),
    register('resources.retry', async () => {
      const isDone = await showProgress(l10n.t('Uploading messages…'), (signal) => stores.retry(signal));
      if (isDone) showStatus(l10n.t('Parley: All messages are uploaded.'));
      return isDone;
    }),
    register('resources.moveSession', async (argument?: { session?: string }) => {
      const { key } = await sessionOf(services, argument);
      const { moved, unreadable } = await descriptors.move(key);
      const left = unreadable.length === 0 ? [] : [l10n.t("{0} couldn't be read and remain.", unreadable.length)];
      void showInfo(['Parley:', l10n.t('Uploaded {0} messages.', moved), ...left].join(' '));
      return { moved, unreadable };
    }),
  ];
}

/** A program may give the descriptor itself, its text, a link, or an object with more to say. */
function readOpenArgument(argument: unknown): OpenArgument {
  if (typeof argument !== 'object' || argument === null) return argument === undefined ? {} : { descriptor: argument };
  return 'descriptor' in argument ? (argument as OpenArgument) : { descriptor: argument };
}

/** Before a link may even make us ask a server what is behind it. */
async function agreesToOpen(ask: Questions, input: unknown): Promise<boolean> {
  if (typeof input !== 'string' || !/^https?:/i.test(input)) return true;
  const yes = l10n.t('Open');
  const text = l10n.t('A link is trying to open a session from {0}.', new URL(input).host);
  return (await ask.choose(text, undefined, [yes])) === yes;
}

async function agreesToLoad(ask: Questions, { history }: SessionDescriptor): Promise<boolean> {
  const yes = l10n.t('Open');
  const hosts = originsOf(history).map(({ host }) => host);
  const named = hosts.slice(0, 5).join(', ');
  const shown = hosts.length > 5 ? l10n.t('{0} and {1} more', named, hosts.length - 5) : named;
  const text = l10n.t('A link is trying to open a session with {0} messages.', history.length);
  const detail = l10n.t('They will be loaded from {0}. Nothing has been loaded yet.', shown || l10n.t('nowhere'));
  return (await ask.choose(text, detail, [yes])) === yes;
}
