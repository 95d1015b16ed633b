// Sessions across servers: copying, opening, message stores, the local server.
import { env, l10n } from 'vscode';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import { originsOf } from '../../client/sharing/historyEvents';
import { ResourceCache } from '../../distributed/fetch/resourceCache';
import type { SessionDescriptor } from '../../distributed/model/model';
import { ChatHome } from '../chat/chatHome';
import { onlyOf, sessionOf } from '../commands/commandSession';
import { continueWith } from '../commands/continueWith';
import { copyDescriptor } from '../commands/copyDescriptor';
import { showBranch } from '../commands/showBranch';
import { AgentCatalog } from '../config/agentCatalog';
import { type Questions, vscodeQuestions } from '../config/questions';
import { openSettings, resourcesSetting, serverSettings } from '../config/settings';
import type { Contribution, Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { showInfo, showProgress, showStatus } from '../ui/messages';
import { AllowedOrigins } from './allowedOrigins';
import { Descriptors } from './descriptors';
import { ResourceAccess } from './resourceAccess';
import { ResourceStores } from './resourceStores';
import { notServing, Serve } from './serve';

export const sharing: Contribution = {
  parts(workbench) {
    const { context, log } = workbench;
    const conversations = workbench.get(Conversations);
    const catalog = workbench.get(AgentCatalog);
    const cache = new ResourceCache({ folder: workbench.folder('resource-cache'), log });
    const serve: Serve = workbench.add(
      new Serve({
        context,
        catalog,
        services: conversations.services,
        scratch: workbench.folder('no-folder'),
        cache,
        reading: { policy: () => access, stores: () => stores.all() },
        log,
      }),
    );
    const stores = workbench.add(new ResourceStores({ context, serve, log }));
    const served = (): readonly string[] => (serve.origin === undefined ? [] : [serve.origin]);
    const origins = workbench.add(new AllowedOrigins({ context, catalog, served, log }));
    const access = workbench.add(new ResourceAccess({ context, origins, log }));
    const descriptors = workbench.add(
      new Descriptors({
        context,
        catalog,
        conversations,
        serve,
        stores,
        access,
        cache,
        httpSessions: workbench.store('http-sessions'),
        log,
      }),
    );
    workbench.own(workbench.get(Archive).onDidDelete((keys) => void descriptors.leftovers.forget(keys)));
    workbench.onEnd(() => serve.stop());
  },

  commands: (workbench) => sharingCommands(workbench),
};

interface OpenArgument {
  readonly descriptor?: unknown;
  readonly agent?: string;
  /** Asks before fetching anything, since the user did not choose this. */
  readonly asks?: boolean;
}

export function sharingCommands(workbench: Workbench, ask = vscodeQuestions): void {
  const descriptors = workbench.get(Descriptors);
  const stores = workbench.get(ResourceStores);
  const serve = workbench.get(Serve);

  const open = async ({ descriptor: given, agent, asks }: OpenArgument): Promise<string | undefined> => {
    if (given === undefined) {
      const items = [
        { id: 'link', label: l10n.t('From a Link…') },
        { id: 'file', label: l10n.t('From a File…'), description: l10n.t('a session that was exported as JSON') },
      ];
      const from = await ask.pick(items, l10n.t('Open a session'));
      if (from === 'file') return (await workbench.run('import')) as string | undefined;
      if (from === undefined) return undefined;
      descriptors.prepare();
    }
    const input =
      given ?? (await ask.line({ prompt: l10n.t('Session link, descriptor, or address of a session on a server') }));
    if (!input) return undefined;
    if (asks && !(await agreesToOpen(ask, input))) return undefined;
    // A program cannot answer.
    const descriptor = await descriptors.read(input, asks === true || given === undefined);
    if (asks && !(await agreesToLoad(ask, descriptor))) return undefined;
    const onDidShow = (conversation: Conversation): Promise<void> =>
      workbench.get(ChatHome).present(conversation).painted();
    const conversation = await descriptors.open(descriptor, { agent, onDidShow });
    return conversation.key;
  };

  workbench.register('copyDescriptor', async (argument?: { session?: string; form?: 'json' | 'link' }) => {
    const copied = await copyDescriptor(workbench, await sessionOf(workbench, argument), argument?.form, ask);
    if (copied !== undefined) showStatus(l10n.t('Parley: Session copied.'));
    return copied;
  });
  workbench.register('openDescriptor', (argument?: unknown) => open(readOpenArgument(argument)));
  workbench.register('continueWith', async (argument?: { session?: string; agent?: string; descriptor?: unknown }) => {
    const { agent, descriptor } = argument ?? {};
    const from = descriptor === undefined ? await sessionOf(workbench, argument) : { descriptor };
    return (await continueWith(workbench, from, agent))?.key;
  });
  workbench.register('sharing', async () => {
    const { enabled } = serverSettings();
    const usesBucket = at(resourcesSetting(), 'type') === 's3';
    const shown = onlyOf(workbench.get(ChatHome).current);
    const items = [
      { id: 'server.copyAddress', label: l10n.t('Copy Server Address'), isOffered: enabled },
      { id: 'server.copyToken', label: l10n.t('Copy Server Token'), isOffered: enabled },
      { id: 'resources.setKeys', label: l10n.t('Set Storage Credentials…'), isOffered: usesBucket },
      { id: 'resources.moveSession', label: l10n.t('Upload Session Messages'), isOffered: usesBucket && shown },
      { id: 'resources.retry', label: l10n.t('Upload Waiting Messages'), isOffered: usesBucket },
      { id: 'showBranch', label: l10n.t('Show Other Fork…'), isOffered: shown?.agent.type === 'communication' },
    ];
    const offered = items.filter(({ isOffered }) => isOffered);
    // From a link, while nothing is shared.
    if (offered.length === 0) return openSettings('parley.server');
    const chosen = await ask.pick(offered, l10n.t('Select what to do'));
    return chosen === undefined ? undefined : workbench.run(chosen);
  });
  workbench.register('showBranch', async (argument?: { session?: string; branch?: string }) => {
    const origin = await sessionOf(workbench, argument);
    return (await showBranch(workbench, origin, argument?.branch))?.key;
  });
  workbench.register('resources.setKeys', async () => {
    if (await stores.setKeys()) showStatus(l10n.t('Parley: Credentials saved.'));
  });
  workbench.register('resources.retry', async () => {
    const isDone = await showProgress(l10n.t('Uploading messages…'), (signal) => stores.retry(signal));
    if (isDone) showStatus(l10n.t('Parley: All messages are uploaded.'));
    return isDone;
  });
  workbench.register('resources.moveSession', async (argument?: { session?: string }) => {
    const { key } = await sessionOf(workbench, argument);
    const { moved, unreadable } = await descriptors.move(key);
    const left = unreadable.length === 0 ? [] : [l10n.t("{0} couldn't be read and remain.", unreadable.length)];
    void showInfo(['Parley:', l10n.t('Uploaded {0} messages.', moved), ...left].join(' '));
    return { moved, unreadable };
  });
  workbench.register('server.copyAddress', async () => {
    await serve.settled();
    // Shared sessions may run it without agents, when callers can't use its address.
    if (!serverSettings().enabled) throw notServing();
    const address = serve.address();
    await env.clipboard.writeText(address);
    showStatus(l10n.t('Parley: Copied {0}.', address));
    return address;
  });
  workbench.register('server.copyToken', async () => {
    // Not returned: extensions can read the results of commands.
    await env.clipboard.writeText(await serve.token());
    showStatus(l10n.t('Parley: Token copied. Anyone with it can use the agents you serve.'));
  });
}

function readOpenArgument(argument: unknown): OpenArgument {
  if (typeof argument !== 'object' || argument === null) return argument === undefined ? {} : { descriptor: argument };
  return 'descriptor' in argument ? (argument as OpenArgument) : { descriptor: argument };
}

/** Asks before a link causes any request to a server. */
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
