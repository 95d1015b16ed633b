// Tests an agent without a session: its description, and signing in and out.
import { commands, l10n, workspace } from 'vscode';
import type { AgentDescription, AgentFeatures, AuthMethod } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { messageOf, ParleyError } from '../../base/errors';
import { localize } from '../../base/localizable';
import { type AgentCheck, checkAgent, signInBare, signOutBare } from '../../client/connection/bareAgent';
import { canStart, guidanceOf, nameOf } from '../../client/connection/signIn';
import { accountsText } from '../../client/view/accounts';
import { versionLabel } from '../../client/view/sessionInfo';
import { proposalSupport } from '../../troubleshoot/checks/protocol';
import { startSession } from '../registry/installFlow';
import { confirm, type ReportProgress, showError, showInfo, showProgress } from '../ui/messages';
import { after, type EditorServices, type Page, type PageRow, section, showPage, withIcon } from './pages';
import { COMMUNICATION_PROTOCOL } from './protocolNames';

export function requireTrust(isTrusted: boolean): void {
  if (!isTrusted)
    throw new ParleyError('untrusted-workspace', l10n.t("Parley doesn't start programs in an untrusted workspace."));
}

export function checkPage(agent: AgentDefinition, services: EditorServices, back: Page): Page {
  const again: Page = async () => {
    const found = await check(agent, services);
    if (found === undefined) return back;
    const rows = found instanceof ParleyError ? failureRows(found, again) : checkRows(agent, found, services, again);
    return showPage({
      title: agent.name,
      placeholder:
        found instanceof ParleyError ? l10n.t('The test failed') : l10n.t('Works: answered in {0} ms', found.ms),
      rows: () => rows,
      back,
    });
  };
  return again;
}

export function signInPage(agent: AgentDefinition, services: EditorServices, back: Page): Page {
  return async () => {
    const found = await check(agent, services);
    if (found === undefined) return back;
    if (found instanceof ParleyError)
      return showPage({
        title: agent.name,
        placeholder: l10n.t("The agent couldn't be started"),
        rows: () => failureRows(found, signInPage(agent, services, back)),
        back,
      });
    const { authMethods } = found.description;
    if (authMethods.length === 0) {
      void showInfo(l10n.t("{0} doesn't offer a sign-in. It may have a command of its own for that.", agent.name));
      return back;
    }
    return showPage({
      title: agent.name,
      placeholder: l10n.t('Sign in with'),
      rows: () => authMethods.map((method) => methodRow(agent, method, services, back)),
      back,
    });
  };
}

export async function signOut(agent: AgentDefinition, services: EditorServices): Promise<void> {
  requireTrust(workspace.isTrusted);
  const question = l10n.t('Sign out of {0} and delete its saved keys?', agent.name);
  if (!(await confirm(question, l10n.t('Its sessions are restarted.'), l10n.t('Sign Out')))) return;
  let isOut = false;
  try {
    if (agent.type !== 'communication')
      isOut = await working(l10n.t('Signing out of {0}…', agent.name), async (signal) =>
        signOutBare(await services.bare(agent), signal),
      );
  } catch (error) {
    if (isCancelled(error)) return;
    void showError(l10n.t("Couldn't sign out of {0}: {1}", agent.name, messageOf(error)));
  }
  await services.keys.forget(agent);
  services.signInChanged(agent.id);
  void showInfo(
    isOut
      ? l10n.t('Signed out of {0}.', agent.name)
      : l10n.t(
          'Deleted the saved keys of {0}. To end a sign-in that the agent stores itself, use its own command.',
          agent.name,
        ),
  );
}

async function check(agent: AgentDefinition, services: EditorServices): Promise<AgentCheck | ParleyError | undefined> {
  requireTrust(workspace.isTrusted);
  try {
    return await working(l10n.t('Starting {0}…', agent.name), async (signal) =>
      checkAgent(await services.bare(agent), signal),
    );
  } catch (error) {
    if (isCancelled(error)) return undefined;
    return error instanceof ParleyError ? error : new ParleyError('agent-error', messageOf(error), { cause: error });
  }
}

function checkRows(
  agent: AgentDefinition,
  { description, authStatus }: AgentCheck,
  services: EditorServices,
  again: Page,
): readonly PageRow[] {
  const { name, title, version, protocol, authMethods } = description;
  const called = title ?? name;
  const facts: readonly (readonly [label: string, value: string | undefined])[] = [
    [l10n.t('Agent'), [called, version].filter((part) => part !== undefined).join(' ') || undefined],
    [l10n.t('Protocol'), protocol === 'communication' ? COMMUNICATION_PROTOCOL : versionLabel(protocol)],
    [l10n.t('Capabilities'), abilitiesOf(description).join(', ') || undefined],
    [l10n.t('Account'), accountsText(authStatus)],
    [l10n.t('Sign-in'), authMethods.length === 0 ? l10n.t('none offered') : undefined],
  ];
  return [
    ...facts.flatMap(([label, value]): PageRow[] =>
      value === undefined ? [] : [{ label: withIcon('pass', label), description: value }],
    ),
    ...section(
      l10n.t('Proposals of the protocol'),
      proposalSupport(description).map(
        ({ name, isSupported, found }): PageRow => ({
          label: withIcon(isSupported ? 'pass' : 'circle-slash', name),
          description: found,
        }),
      ),
    ),
    ...section(
      l10n.t('Ways to sign in'),
      authMethods.map((method) => methodRow(agent, method, services, again)),
    ),
    ...section(l10n.t('Next'), [
      {
        id: 'start',
        label: withIcon('play', l10n.t('Start a session')),
        go: after(() => startSession(agent.id)),
      },
    ]),
  ];
}

function failureRows({ message, hint, stderr }: ParleyError, again: Page): readonly PageRow[] {
  const lines = (stderr ?? '').split('\n').filter((line) => line.trim() !== '');
  return [
    { label: withIcon('error', message), detail: hint || undefined },
    ...lines.slice(-3).map((line): PageRow => ({ label: withIcon('output', line) })),
    ...section(l10n.t('Next'), [
      { id: 'again', label: withIcon('refresh', l10n.t('Test again')), go: again },
      {
        id: 'log',
        label: withIcon('output', l10n.t('Show log')),
        go: after(() => commands.executeCommand('parley.showLog')),
      },
    ]),
  ];
}

function methodRow(agent: AgentDefinition, method: AuthMethod, services: EditorServices, after: Page): PageRow {
  const starts = canStart(method, agent);
  const row: PageRow = {
    id: `method ${method.id}`,
    label: withIcon(starts ? 'sign-in' : 'info', nameOf(method)),
    detail: starts && method.type !== 'terminal' ? (method.description ?? '') : localize(guidanceOf(method, agent)),
  };
  if (!starts) return row;
  return {
    ...row,
    go: async () => {
      try {
        await working(l10n.t('Signing in to {0}…', agent.name), async (signal) =>
          signInBare(await services.bare(agent), method.id, signal),
        );
        services.signInChanged(agent.id);
        void showInfo(l10n.t('Signed in to {0}.', agent.name));
      } catch (error) {
        if (!isCancelled(error)) void showError(l10n.t("Couldn't sign in to {0}: {1}", agent.name, messageOf(error)));
      }
      return after;
    },
  };
}

function abilitiesOf({ features }: AgentDescription): readonly string[] {
  const has = (feature: keyof AgentFeatures, word: string): readonly string[] =>
    features[feature] === undefined ? [] : [word];
  return [
    ...(features.prompt.image ? [l10n.t('images')] : []),
    ...(features.prompt.audio ? [l10n.t('audio')] : []),
    ...(features.load || features.resume ? [l10n.t('reopen sessions')] : []),
    ...has('list', l10n.t('list sessions')),
    ...has('fork', l10n.t('fork sessions')),
    ...has('delete', l10n.t('delete sessions')),
    ...(features.mcpHttp || features.mcpSse ? [l10n.t('MCP servers over HTTP')] : []),
    ...has('logout', l10n.t('sign out')),
  ];
}

export async function working<T>(
  text: string,
  work: (signal: AbortSignal, report: ReportProgress) => Promise<T>,
): Promise<T> {
  return showProgress(text, async (signal, report) => {
    try {
      return await work(signal, report);
    } catch (error) {
      signal.throwIfAborted(); // errors caused by cancelling are not failures
      throw error;
    }
  });
}

export function isCancelled(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
