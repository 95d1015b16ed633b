// Checks whether an agent keeps the protocol: asks, shows the verdicts by part, and opens the report.
import { l10n, workspace } from 'vscode';
import type { AgentDefinition, ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { BARE_TRAFFIC, startBare } from '../../client/connection/bareAgent';
import { type ConformanceReport, checkAgent, type VersionReport } from '../../conformance/checkAgent';
import { countOf, markdownReport, partVerdict } from '../../conformance/report';
import { GROUPS, type Group, type Verdict } from '../../conformance/rules/rule';
import { type CheckStep, MAX_PROMPTS } from '../../conformance/run/checkOptions';
import { confirm } from '../ui/messages';
import { isCancelled, requireTrust, working } from './checkPage';
import { type EditorServices, type Page, type PageRow, section, showPage, withIcon } from './pages';

const ICONS: Readonly<Record<Verdict, string>> = {
  conforms: 'pass',
  breaks: 'error',
  'not-offered': 'dash',
  'not-shown': 'circle-slash',
};

export function conformancePage(agent: ProcessAgent | RemoteAgent, services: EditorServices, back: Page): Page {
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
        limits: { initialize: context.services.startTimeoutMs() },
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
  const kept = versions.reduce((sum, version) => sum + countOf(version, 'conforms'), 0);
  return l10n.t('Rules kept: {0}, broken: {1}', kept, broken);
}

function partLabel(group: Group): string {
  return group === 'wire' ? l10n.t('Messages') : group;
}

function verdictLabel(verdict: Verdict): string {
  switch (verdict) {
    case 'conforms':
      return l10n.t('conforms');
    case 'breaks':
      return l10n.t('breaks rules');
    case 'not-offered':
      return l10n.t('not offered');
    case 'not-shown':
      return l10n.t('not shown');
  }
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
