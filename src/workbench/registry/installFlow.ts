// Installs, updates, rolls back and removes agents of the registry, with the user's consent.
import { commands, l10n } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { formatNumber } from '../../base/localFormat';
import { oneLine } from '../../base/text';
import { own } from '../../base/untrusted';
import { describeStart } from '../../client/transport/describeStart';
import type { InstalledAgent } from '../../registry/install/installedAgents';
import type { InstallPlan, InstallStep } from '../../registry/install/installer';
import { NODE_SITE, UV_SITE } from '../../registry/install/installTools';
import { isNewer, type RegistryAgent } from '../../registry/list/registryAgent';
import { openAddress } from '../editor/linkOpener';
import { isTooLong } from '../ui/inertText';
import type { ListButton } from '../ui/input';
import { confirm, type ReportProgress, showError, showInfo, showProgress } from '../ui/messages';
import type { AgentRegistry } from './agentRegistry';
import { dropEntries, type InstalledGroup, useVersion } from './installedEntries';

const KEPT_VERSIONS = 2;

/** Maximum characters of a registry text in a dialog. */
const MAX_SHOWN = 2_000;

export type Ask = (question: string, detail: string, yes: string) => Promise<boolean>;

export async function installAgent(agent: RegistryAgent, registry: AgentRegistry, ask: Ask = confirm): Promise<void> {
  const { installer } = registry;
  const { installed } = installer;
  const plan = await planned(agent, registry);
  if (plan === undefined) return;
  const [last] = await installed.versions(agent.id);
  const detail = describePlan(plan);
  if (isTooLong(detail)) {
    throw new ParleyError(
      'too-long',
      l10n.t('The registry gives {0} more arguments or variables than a question can show.', agent.name),
    );
  }
  if (!(await ask(...questionOf(agent, last, detail)))) return;
  const now = await showProgress(l10n.t('Installing {0}…', agent.name), (signal, report) =>
    installer.install(plan, (step) => reportStep(step, report), signal),
  ).catch((error: unknown) => {
    throw notInstalled(agent, error);
  });
  const versions = await installed.versions(agent.id);
  const entry = await useVersion(now, versions, registry.entries);
  for (const old of versions.slice(KEPT_VERSIONS)) await installed.remove(old);
  await startSession(entry);
}

function questionOf(agent: RegistryAgent, last: InstalledAgent | undefined, detail: string): Parameters<Ask> {
  const { name } = agent;
  const version = versionText(agent);
  if (!last) return [l10n.t('Install {0} {1}?', name, version), detail, l10n.t('Install')];
  return last.isPreview === agent.isPreview
    ? [l10n.t('Update {0} to version {1}?', name, version), detail, l10n.t('Update')]
    : [l10n.t('Switch {0} to version {1}?', name, version), detail, l10n.t('Switch')];
}

export function versionText({ version, isPreview }: Pick<RegistryAgent, 'version' | 'isPreview'>): string {
  return isPreview ? l10n.t('{0} (preview)', version) : version;
}

async function rollBack({ current, previous }: InstalledGroup, registry: AgentRegistry): Promise<void> {
  if (!previous) return;
  await useVersion(previous, await registry.installer.installed.versions(current.id), registry.entries);
  void showInfo(l10n.t('{0} uses version {1} from its next start.', current.name, versionText(previous)));
}

export async function removeAgent(
  { id, current, size }: InstalledGroup,
  registry: AgentRegistry,
  ask: Ask = confirm,
): Promise<void> {
  const detail = l10n.t('This frees {0} and removes the agent from your settings. Sessions are kept.', sizeText(size));
  if (!(await ask(l10n.t('Remove {0}?', current.name), detail, l10n.t('Remove')))) return;
  const { installed } = registry.installer;
  const versions: readonly InstalledAgent[] = await installed.versions(id);
  await dropEntries(versions, registry.entries);
  for (const version of versions) await installed.remove(version);
}

/** Within the channel of the installed version. */
export function newerOf({ id, current }: InstalledGroup, agents: readonly RegistryAgent[]): RegistryAgent | undefined {
  const stable = agents.find((one) => one.id === id);
  const listed = current.isPreview ? stable?.preview : stable;
  return listed && isNewer(listed.version, current.version) ? listed : undefined;
}

export function actionsOf(
  group: InstalledGroup,
  agents: readonly RegistryAgent[],
  registry: AgentRegistry,
  ask?: Ask,
): readonly ListButton[] {
  const { current, previous } = group;
  const newer = newerOf(group, agents);
  const stable = agents.find(({ id }) => id === group.id);
  // Stable and preview of the same version share a folder, which a session may use.
  const other = [current.isPreview ? stable : stable?.preview].find((one) => one?.version !== current.version);
  const actions: readonly (ListButton | undefined)[] = [
    newer && {
      icon: 'cloud-download',
      tooltip: l10n.t('Update to {0}', versionText(newer)),
      run: () => installAgent(newer, registry, ask),
    },
    other && {
      icon: 'arrow-swap',
      tooltip: other.isPreview
        ? l10n.t('Switch to preview {0}', other.version)
        : l10n.t('Switch to stable version {0}', other.version),
      run: () => installAgent(other, registry, ask),
    },
    previous && {
      icon: 'discard',
      tooltip: l10n.t('Go back to {0}', versionText(previous)),
      run: () => rollBack(group, registry),
    },
    { icon: 'trash', tooltip: l10n.t('Remove'), run: () => removeAgent(group, registry, ask) },
  ];
  return actions.filter((action) => action !== undefined);
}

export function sizeText(bytes: number): string {
  const number = (value: number): string => formatNumber(value, 1);
  if (bytes < 1e6) return l10n.t('{0} KB', number(Math.max(1, Math.round(bytes / 1e3))));
  return bytes < 1e9 ? l10n.t('{0} MB', number(Math.round(bytes / 1e6))) : l10n.t('{0} GB', number(bytes / 1e9));
}

/** Returns undefined if a tool is missing, after telling the user to install it. */
async function planned(agent: RegistryAgent, { installer }: AgentRegistry): Promise<InstallPlan | undefined> {
  try {
    return await showProgress(l10n.t('Looking up {0}…', agent.name), (signal) => installer.plan(agent, signal));
  } catch (error) {
    const site = error instanceof ParleyError && own(SITES, error.code);
    if (!site || !(error instanceof ParleyError)) throw notInstalled(agent, error);
    const get = l10n.t('Open {0}', new URL(site).host);
    const message = `${agent.name}: ${error.message} ${error.hint ?? ''}`;
    if ((await showError(message.trim(), get)) === get) await openAddress(site);
    return undefined;
  }
}

function notInstalled({ name, version }: RegistryAgent, error: unknown): unknown {
  if (error instanceof Error && error.name === 'AbortError') return error;
  const message = l10n.t("{0} {1} wasn't installed. {2}", name, version, messageOf(error));
  if (!(error instanceof ParleyError)) return new ParleyError('install-failed', message, { cause: error });
  const { code, hint, stderr } = error;
  const more = { hint, stderr };
  return new ParleyError(code, message, { ...more, cause: error });
}

const SITES: Readonly<Record<string, string>> = {
  'node-missing': NODE_SITE,
  'node-too-old': NODE_SITE,
  'uv-missing': UV_SITE,
};

export function describePlan({ agent, source, size, license }: InstallPlan): string {
  const from =
    source.kind === 'binary'
      ? [l10n.t('Download: {0}', singleLine(source.archive))]
      : source.kind === 'npx'
        ? [
            l10n.t(
              'Package: {0}, with its dependencies, from the registry that npm uses',
              singleLine(`${source.name}@${source.version}`),
            ),
            l10n.t("Install scripts of the package run; those of its dependencies don't."),
          ]
        : [
            l10n.t(
              'Package: {0}, with its dependencies, from the index that uv uses',
              singleLine(`${source.name}==${source.version}`),
            ),
          ];
  const program = source.kind === 'binary' ? source.cmd : (source.cmd ?? source.name);
  const run = describeStart({ name: l10n.t('Runs'), command: program, args: source.args, env: source.env });
  return [
    ...(agent.isPreview ? [l10n.t('A preview may be less stable. Its updates are previews until you switch.')] : []),
    ...from,
    ...(size === undefined ? [] : [sizeLine(source.kind, sizeText(size))]),
    ...(source.kind === 'binary' && source.sha256 === undefined
      ? [l10n.t('The registry states no checksum for this file.')]
      : []),
    l10n.t('License: {0}', license === undefined ? l10n.t('not stated') : singleLine(license)),
    ...(agent.repository === undefined ? [] : [l10n.t('Source: {0}', singleLine(agent.repository))]),
    run,
    '',
    l10n.t('An agent runs with your permissions.'),
  ].join('\n');
}

/** A line break in registry text could imitate a line of ours. */
function singleLine(text: string): string {
  return oneLine(text, MAX_SHOWN);
}

/** npm's size is the unpacked package without its dependencies. */
function sizeLine(kind: InstallPlan['source']['kind'], size: string): string {
  return kind === 'binary' ? l10n.t('Size: {0}', size) : l10n.t('Size: {0}, without its dependencies', size);
}

function reportStep(step: InstallStep, report: ReportProgress): void {
  if (step.kind === 'downloading')
    report(step.received, step.total ?? 0, l10n.t('downloaded {0}', sizeText(step.received)));
  else report(0, 0, STEP_TEXTS[step.kind]());
}

const STEP_TEXTS = {
  unpacking: () => l10n.t('unpacking'),
  installing: () => l10n.t('downloading and installing packages'),
  checking: () => l10n.t('starting the agent once'),
} as const;

export async function startSession(agent: string): Promise<void> {
  await commands.executeCommand('parley.selectAgent', { agent });
}
