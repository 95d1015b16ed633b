// Runs the checks of the command Troubleshoot, lists their results, and offers a report.
import { realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { commands, env, l10n, Uri } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { NODE_SITE, UV_SITE } from '../../registry/install/installTools';
import type { Check, CheckAction, CheckResult, Outcome } from '../../troubleshoot/checks/check';
import { outcomeLabel, type ReportUser, writeReport } from '../../troubleshoot/report';
import { runChecks } from '../../troubleshoot/runChecks';
import { AgentCatalog } from '../config/agentCatalog';
import { openSettings } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { Reports } from '../editor/readOnlyTexts';
import { Conversations } from '../sessions/conversations';
import { List, type ListRow } from '../ui/input';
import { gatherChecks } from './gatherChecks';

const MAX_FOUND = 70;

export interface TroubleshootArgument {
  /** Id of an agent; default: the one of the session in the chat. */
  readonly agent?: string;
  /** False: returns the results without showing them. */
  readonly show?: boolean;
}

export interface TroubleshootAnswer {
  readonly results: readonly CheckResult[];
  readonly report: string;
}

interface Row extends ListRow {
  readonly choose?: () => Promise<unknown>;
}

const ICONS: Readonly<Record<Outcome, string>> = {
  ok: 'pass',
  warning: 'warning',
  problem: 'error',
  unchecked: 'circle-slash',
};

export class Troubleshooter implements Disposable {
  readonly #workbench: Workbench;
  /** Aborted when the window closes, since no check may leave an agent running. */
  readonly #end = new AbortController();

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
  }

  /** Runs the checks until the list is closed. @throws ParleyError `no-such-agent` */
  async run({ agent: id, show = true }: TroubleshootArgument = {}): Promise<TroubleshootAnswer> {
    const catalog = this.#workbench.get(AgentCatalog);
    const current = this.#workbench.get(Conversations).peek();
    const wanted = id ?? current?.agent.id;
    const agent = (wanted === undefined ? undefined : catalog.find(wanted)) ?? catalog.preferred();
    if (id !== undefined && !catalog.find(id))
      throw new ParleyError('no-such-agent', l10n.t('There is no agent “{0}”.', id));
    const checks = gatherChecks(agent, current?.agent.id === agent.id ? current : undefined, this.#workbench);
    const report = (results: readonly CheckResult[]): string =>
      writeReport(this.#facts(agent.name), results, userOf(this.#workbench.log));
    const results = show ? await this.#show(agent, checks, report) : await runChecks(checks, this.#end.signal);
    return { results, report: report(results) };
  }

  dispose(): void {
    this.#end.abort();
  }

  async #show(
    agent: AgentDefinition,
    checks: readonly Check[],
    report: (results: readonly CheckResult[]) => string,
  ): Promise<readonly CheckResult[]> {
    const { log } = this.#workbench;
    const list = new List<Row>(l10n.t('Checking {0}…', agent.name));
    const stop = new AbortController();
    const found = new Map<string, CheckResult>();
    let isDone = false;
    const draw = (): void => {
      const results = checks.flatMap(({ id }) => found.get(id) ?? []);
      const view = (): Promise<void> => this.#workbench.get(Reports).show('Parley Report', report(results));
      const head: Row[] = isDone
        ? [
            {
              id: 'report',
              label: [{ icon: 'file' }, ` ${l10n.t('View report')}`],
              description: l10n.t('to copy it for a bug report'),
              alwaysShow: true,
              choose: view,
            },
          ]
        : [];
      list.draw(
        [...head, ...checks.map((check) => rowOf(check, found.get(check.id), agent.id, isDone ? view : undefined))],
        [],
      );
    };
    list.ignoreFocusOut = true;
    list.busy = true;
    list.onDidHide(() => {
      stop.abort();
      list.dispose();
    });
    const act = (run: () => Promise<unknown>): void => {
      list.hide();
      run().catch((error: unknown) => log.error(`troubleshoot: ${messageOf(error)}`));
    };
    list.onDidAccept(({ choose }) => choose && act(choose));
    list.onDidPress(act);
    draw();
    list.show();
    const results = await runChecks(checks, AbortSignal.any([stop.signal, this.#end.signal]), (result) => {
      found.set(result.id, result);
      if (!stop.signal.aborted) draw();
    });
    isDone = true;
    if (!stop.signal.aborted) {
      list.busy = false;
      list.placeholder = summaryOf(results);
      draw();
    }
    return results;
  }

  #facts(agent: string): readonly (readonly [string, string])[] {
    return [
      ['Parley', this.#workbench.version],
      [l10n.t('Agent'), agent],
      [l10n.t('System'), `${process.platform} ${process.arch}`],
      [l10n.t('Date'), new Date().toISOString()],
    ];
  }
}

/** @param view action of a row whose finding has none */
function rowOf(
  { id, title }: Check,
  result: CheckResult | undefined,
  agent: string,
  view: Row['choose'] | undefined,
): Row {
  if (!result) return { id, label: [{ icon: 'loading~spin' }, ` ${title}`], description: l10n.t('Checking…') };
  const { outcome, found, advice, action } = result;
  const act = action && actOn(action, agent);
  return {
    id,
    label: [{ icon: ICONS[outcome] }, ` ${title}`],
    description: act ? `${outcomeLabel(outcome)} · ${act.label}` : outcomeLabel(outcome),
    detail: advice ? `${short(found)} ${advice}` : found,
    choose: view,
    ...(act && { choose: act.run, buttons: [{ icon: act.icon, tooltip: act.label, run: act.run }] }),
  };
}

/** Truncates the finding, since the list would truncate the advice at the end. */
function short(found: string): string {
  return found.length > MAX_FOUND ? `${found.slice(0, MAX_FOUND).toWellFormed()}…` : found;
}

function summaryOf(results: readonly CheckResult[]): string {
  const problems = results.filter(({ outcome }) => outcome === 'problem').length;
  const warnings = results.filter(({ outcome }) => outcome === 'warning').length;
  if (problems === 0 && warnings === 0) return l10n.t('No problems found');
  return l10n.t('Problems: {0}, warnings: {1}', problems, warnings);
}

function userOf(log: Log): ReportUser {
  try {
    const home = homedir();
    return { homes: [...new Set([home, realpathSync(home)])], name: userInfo().username };
  } catch (error) {
    log.debug(`troubleshoot: ${messageOf(error)}`);
    return { homes: [homedir()], name: '' };
  }
}

const GIT_SITE = 'https://git-scm.com/downloads';

interface ActionButton {
  readonly icon: string;
  readonly label: string;
  readonly run: () => Promise<unknown>;
}

function actOn(action: CheckAction, agent: string): ActionButton {
  const settings = (id: string): ActionButton => {
    return { icon: 'gear', label: l10n.t('Open settings'), run: () => openSettings(id) };
  };
  const command = (icon: string, label: string, id: string, argument?: object): ActionButton => {
    return { icon, label, run: async () => commands.executeCommand(id, argument) };
  };
  const site = (label: string, address: string): ActionButton => ({
    icon: 'link-external',
    label,
    run: async () => env.openExternal(Uri.parse(address)),
  });
  switch (action) {
    case 'editAgent':
      return command('edit', l10n.t('Edit agent…'), 'parley.manageAgents', { agent });
    case 'openProxySettings':
      return settings('http.proxy');
    case 'openHistorySettings':
      return settings('parley.history');
    case 'addAgent':
      return command('add', l10n.t('Add agent…'), 'parley.installAgent');
    case 'signIn':
      return command('key', l10n.t('Sign in'), 'parley.signIn');
    case 'showLog':
      return command('output', l10n.t('Show log'), 'parley.showLog');
    case 'manageTrust':
      return command('workspace-trusted', l10n.t('Manage workspace trust'), 'workbench.trust.manage');
    case 'getNode':
      return site(l10n.t('Get Node.js'), NODE_SITE);
    case 'getUv':
      return site(l10n.t('Get uv'), UV_SITE);
    case 'getGit':
      return site(l10n.t('Get Git'), GIT_SITE);
  }
}
