// The page of one agent: its details, actions and properties.
import { ConfigurationTarget, commands, env, l10n, Uri, workspace } from 'vscode';
import type { AgentDefinition, ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { lineOf } from '../../agents/agentInput';
import { formatTime } from '../../base/localFormat';
import { BARE_TRAFFIC, startBare } from '../../client/connection/bareAgent';
import { describeStart } from '../../client/transport/describeStart';
import { type ConformanceReport, checkAgent, type VersionReport } from '../../conformance/checkAgent';
import { countOf, markdownReport, partVerdict } from '../../conformance/report';
import { GROUPS, type Group, type Verdict } from '../../conformance/rules/rule';
import { type CheckStep, MAX_PROMPTS } from '../../conformance/run/checkOptions';
import type { RegistryAgent } from '../../registry/list/registryAgent';
import type { AgentOrigin } from '../config/agentCatalog';
import type { SignInFacts } from '../config/savedKeys';
import { groupInstalled, type InstalledGroup } from '../registry/installedEntries';
import { actionsOf, removeAgent, sizeText, startSession, versionText } from '../registry/installFlow';
import { confirm, showInfo } from '../ui/messages';
import { fieldRows } from './agentFields';
import { checkPage, isCancelled, requireTrust, signInPage, signOut, working } from './checkPage';
import { addEntry, after, type EditorServices, type Page, type PageRow, section, showPage, withIcon } from './pages';

interface Shown {
  readonly agent: AgentDefinition;
  readonly origin: AgentOrigin;
  readonly facts: SignInFacts;
  readonly group: InstalledGroup | undefined;
}

export function agentPage(id: string, services: EditorServices, back: Page): Page {
  const again: Page = async () => {
    const { catalog, keys, registry } = services;
    const agent = catalog.find(id);
    const origin = agent && catalog.originOf(agent.id);
    if (!agent || !origin) return back();
    const installed = groupInstalled(await registry.installer.installed.list(), registry.entries);
    const group = origin.kind === 'user' ? installed.find(({ entry }) => entry === id) : undefined;
    const shown: Shown = { agent, origin, facts: await keys.facts(agent), group };
    let newest: readonly RegistryAgent[] = [];
    return showPage({
      title: agent.name,
      placeholder: sourceText(origin),
      back,
      rows: () => rowsOf(shown, newest, services, { again, back }),
      load: group
        ? async (signal) => {
            newest = (await registry.load(signal)).agents;
          }
        : undefined,
    });
  };
  return again;
}

export function sourceText(origin: AgentOrigin): string {
  if (origin.kind === 'shipped') return l10n.t('Comes with Parley');
  if (origin.kind === 'folder') return l10n.t('From this workspace: {0}', origin.file);
  return env.remoteName === undefined ? l10n.t('From your user settings') : l10n.t('From your remote settings');
}

export function startText(agent: AgentDefinition): string {
  return agent.type === 'process' ? lineOf([agent.command, ...agent.args]) : agent.url;
}

interface Ways {
  readonly again: Page;
  readonly back: Page;
}

function rowsOf(
  shown: Shown,
  newest: readonly RegistryAgent[],
  services: EditorServices,
  ways: Ways,
): readonly PageRow[] {
  const { agent, origin } = shown;
  const own = origin.kind === 'user';
  return [
    {
      id: 'start',
      label: withIcon('play', l10n.t('Start a session')),
      go: after(() => startSession(agent.id)),
    },
    {
      id: 'test',
      label: withIcon('beaker', l10n.t('Test')),
      description: l10n.t('starts the agent once, without a session'),
      go: checkPage(agent, services, ways.again),
    },
    ...(agent.type === 'communication'
      ? []
      : [
          {
            id: 'conformance',
            label: withIcon('checklist', l10n.t('Check Conformance…')),
            description: l10n.t('sends a few prompts, and judges the messages'),
            go: conformancePage(agent, services, ways.again),
          },
        ]),
    ...(origin.kind === 'shipped' ? [] : section(l10n.t('Sign-in'), signInRows(shown, services, ways))),
    ...(own ? section(l10n.t('Settings'), settingRows(agent, services, ways)) : []),
    ...section(l10n.t('Installed from the registry'), installedRows(shown, newest, services, ways)),
    ...section(l10n.t('More'), moreRows(shown, services, ways)),
  ];
}

function signInRows({ agent, facts }: Shown, services: EditorServices, { again }: Ways): readonly PageRow[] {
  const { keys, signedIn } = facts;
  const isKnown = keys.length > 0 || signedIn !== undefined;
  const account = services.accountOf(agent.id);
  return [
    ...(account !== undefined
      ? [{ label: withIcon('account', account), description: l10n.t('as the agent says') }]
      : []),
    ...(signedIn
      ? [
          {
            label: withIcon('account', l10n.t('Signed in with “{0}”', signedIn.method)),
            description: l10n.t('since {0}', formatTime(signedIn.at)),
          },
        ]
      : []),
    ...keys.map(
      (key): PageRow => ({
        label: withIcon('key', key.kind === 'variable' ? key.name : l10n.t('Key for “{0}”', key.name)),
        description: l10n.t('saved in the secret storage'),
        detail: l10n.t('Select to delete the key'),
        go: async () => {
          if (!(await confirm(l10n.t('Delete the saved key {0}?', key.name), undefined, l10n.t('Delete'))))
            return again;
          await services.keys.remove(agent, key);
          services.signInChanged(agent.id);
          return again;
        },
      }),
    ),
    {
      id: 'sign-in',
      label: withIcon('sign-in', l10n.t('Sign in…')),
      description: !isKnown ? l10n.t('shows what the agent offers') : undefined,
      go: signInPage(agent, services, again),
    },
    ...(isKnown
      ? [
          {
            id: 'sign-out',
            label: withIcon('sign-out', l10n.t('Sign out and delete saved keys')),
            go: after(() => signOut(agent, services), again),
          },
        ]
      : []),
  ];
}

function settingRows(agent: AgentDefinition, services: EditorServices, { again }: Ways): readonly PageRow[] {
  const isPreferred = services.catalog.preferred().id === agent.id;
  return [
    ...fieldRows(agent, services, again),
    ...(isPreferred
      ? []
      : [
          {
            id: 'default',
            label: withIcon('star', l10n.t('Use for new sessions')),
            go: after(
              () => workspace.getConfiguration('parley').update('defaultAgent', agent.id, ConfigurationTarget.Global),
              again,
            ),
          },
        ]),
  ];
}

function installedRows(
  { group }: Shown,
  newest: readonly RegistryAgent[],
  { registry }: EditorServices,
  { again }: Ways,
): readonly PageRow[] {
  if (!group) return [];
  const version = withIcon('package', l10n.t('Version {0}', versionText(group.current)));
  return [
    { label: version, description: l10n.t('{0} on disk', sizeText(group.size)) },
    ...actionsOf(group, newest, registry)
      .filter(({ icon }) => icon !== 'trash') // another row removes the entry
      .map(
        ({ icon, tooltip, run }): PageRow => ({
          id: icon,
          label: withIcon(icon, tooltip),
          go: after(() => run(), again),
        }),
      ),
  ];
}

function moreRows(shown: Shown, services: EditorServices, { again, back }: Ways): readonly PageRow[] {
  const { agent, origin } = shown;
  if (origin.kind === 'shipped') return [];
  if (origin.kind === 'user')
    return [
      {
        id: 'remove',
        label: withIcon('trash', l10n.t('Remove…')),
        go: async () => ((await removed(shown, services)) ? back : again),
      },
    ];
  return [
    {
      id: 'copy',
      label: withIcon('copy', l10n.t('Copy to your settings')),
      go: async () => {
        if (!(await agreesTo(agent))) return again;
        const id = services.registry.entries.freeId(origin.ownId);
        await addEntry(id, entryOf(agent, origin.ownId), services);
        return agentPage(id, services, back);
      },
    },
    {
      id: 'file',
      label: withIcon('go-to-file', l10n.t('Open the settings of the workspace')),
      go: after(() => commands.executeCommand('vscode.open', Uri.file(origin.file))),
    },
  ];
}

async function removed({ agent, group }: Shown, { keys, registry }: EditorServices): Promise<boolean> {
  if (group) await removeAgent(group, registry);
  else {
    const detail = l10n.t(
      'The agent is removed from your settings, and its saved keys are deleted. Sessions are kept.',
    );
    if (!(await confirm(l10n.t('Remove {0}?', agent.name), detail, l10n.t('Remove')))) return false;
    await registry.entries.set(agent.id, undefined);
  }
  if (Object.hasOwn(registry.entries.all(), agent.id)) return false;
  await keys.forget(agent);
  void showInfo(l10n.t('{0} was removed.', agent.name));
  return true;
}

/** Confirms copying a workspace agent: in the user's settings, it starts without consent. */
async function agreesTo(agent: AgentDefinition): Promise<boolean> {
  requireTrust(workspace.isTrusted);
  const detail = [l10n.t('Parley will start the agent without asking:'), describeStart(agent)].join('\n\n');
  return confirm(l10n.t('Copy “{0}” to your settings?', agent.name), detail, l10n.t('Copy'));
}

function entryOf(agent: AgentDefinition, ownId: string): Readonly<Record<string, unknown>> {
  const { id: _id, type, name: _name, protocol, ...rest } = agent;
  const filled = Object.entries(rest).filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0);
  return {
    type: type === 'communication' ? type : undefined,
    name: ownId,
    ...Object.fromEntries(filled),
    ...(protocol !== 'auto' && { protocol }),
  };
}

const ICONS: Readonly<Record<Verdict, string>> = {
  conforms: 'pass',
  breaks: 'error',
  'not-offered': 'dash',
  'not-shown': 'circle-slash',
};

function conformancePage(agent: ProcessAgent | RemoteAgent, services: EditorServices, back: Page): Page {
  const again: Page = async () => {
    requireTrust(workspace.isTrusted);
    if (!(await agrees(agent))) return back;
    let report: ConformanceReport;
    try {
      report = await check(agent, services);
    } catch (error) {
      if (isCancelled(error)) return back;
      throw error;
    }
    return resultPage(agent, report, services, { again, back });
  };
  return again;
}

function resultPage(
  agent: AgentDefinition,
  report: ConformanceReport,
  services: EditorServices,
  { again, back }: { readonly again: Page; readonly back: Page },
): Promise<Page | undefined> {
  const view: Page = async () => {
    void services.reports.show(l10n.t('Conformance Report'), markdownReport(report, [[l10n.t('Agent'), agent.name]]));
    return undefined;
  };
  return showPage({
    title: agent.name,
    placeholder: summaryOf(report),
    rows: () => [
      {
        id: 'report',
        label: withIcon('file', l10n.t('View report')),
        description: l10n.t('each rule, with the messages that show it'),
        go: view,
      },
      ...report.versions.flatMap((version) =>
        section(l10n.t('Protocol version {0}', version.version), [...stoppedRows(version), ...partRows(version, view)]),
      ),
      ...section(l10n.t('Next'), [{ id: 'again', label: withIcon('refresh', l10n.t('Check again')), go: again }]),
    ],
    back,
  });
}

async function agrees(agent: AgentDefinition): Promise<boolean> {
  const detail = l10n.t(
    'Parley opens sessions with the agent in a temporary folder and sends up to {0} short prompts. They may cost tokens. Permissions that the agent asks for are rejected.',
    MAX_PROMPTS,
  );
  return confirm(l10n.t('Check the conformance of {0}?', agent.name), detail, l10n.t('Check'));
}

async function check(agent: ProcessAgent | RemoteAgent, services: EditorServices): Promise<ConformanceReport> {
  const context = { ...(await services.bare(agent)), agent };
  const { onTraffic } = context.services;
  return working(l10n.t('Checking {0}…', agent.name), (signal, progress) =>
    checkAgent(
      {
        client: context.services.client,
        versions: agent.protocol === 'auto' ? [1, 2] : [agent.protocol],
        start: (folder, stop) => startBare(context, folder, stop),
        limits: { initialize: context.stages.limitOf('initialize') },
        onTraffic: onTraffic && ((kind, line) => onTraffic(BARE_TRAFFIC, kind, line)),
        onStep: (step) => progress(0, 0, stepLabel(step)),
      },
      signal,
    ),
  );
}

function stoppedRows({ stopped }: VersionReport): readonly PageRow[] {
  return stopped === undefined
    ? []
    : [{ label: withIcon('warning', l10n.t('Not everything was tried')), detail: stopped }];
}

function partRows(version: VersionReport, view: Page): readonly PageRow[] {
  return GROUPS.map((group): PageRow => {
    const verdict = partVerdict(version, group);
    const broken = version.verdicts.find((one) => one.group === group && one.verdict === 'breaks');
    return {
      id: `${version.version} ${group}`,
      label: withIcon(ICONS[verdict], partLabel(group)),
      description: verdictLabel(verdict),
      detail: broken ? `${broken.id}: ${broken.found}` : undefined,
      go: view,
    };
  });
}

function summaryOf({ versions }: ConformanceReport): string {
  const broken = versions.reduce((sum, version) => sum + countOf(version, 'breaks'), 0);
  const conforming = versions.reduce((sum, version) => sum + countOf(version, 'conforms'), 0);
  return l10n.t('Rules kept: {0}, broken: {1}', conforming, broken);
}

function partLabel(group: Group): string {
  return group === 'wire' ? l10n.t('Messages') : group;
}

function verdictLabel(verdict: Verdict): string {
  return {
    conforms: l10n.t('conforms'),
    breaks: l10n.t('breaks rules'),
    'not-offered': l10n.t('not offered'),
    'not-shown': l10n.t('not shown'),
  }[verdict];
}

function stepLabel(step: CheckStep): string {
  switch (step) {
    case 'start':
      return l10n.t('Starting the agent');
    case 'new':
    case 'status':
      return l10n.t('Opening a session');
    case 'answer':
    case 'refusal':
    case 'error':
      return l10n.t('Running a turn');
    case 'cancel':
      return l10n.t('Canceling a turn');
    case 'permission':
      return l10n.t('Waiting for a permission request');
    case 'close':
      return l10n.t('Closing a session');
    case 'resume':
    case 'load':
      return l10n.t('Reopening the session');
  }
}
