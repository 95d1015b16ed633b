// Checks the programs that install and start packages: Node.js with npm, and uv.
import { basename } from 'node:path';
import * as l10n from '@vscode/l10n';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { type Check, type CheckAction, check, type Finding } from './check';
import { notTrusted } from './trust';

export interface PackageToolsOptions {
  readonly agent: AgentDefinition;
  readonly isTrusted: boolean;
  /** Returns the version. @throws ParleyError if Node.js is missing */
  readonly node: (signal: AbortSignal) => Promise<string>;
  /** Returns the path. @throws ParleyError if uv is missing */
  readonly uv: () => Promise<string>;
}

export function packageToolsCheck({ agent, isTrusted, node, uv }: PackageToolsOptions): Check {
  return check('package-tools', l10n.t('Node.js and uv'), 30_000, async (signal) => {
    if (!isTrusted) return notTrusted();
    const [nodeVersion, uvPath] = await Promise.all([node(signal).catch(() => undefined), uv().catch(() => undefined)]);
    const facts: Finding['facts'] = [
      ['Node.js', nodeVersion ?? l10n.t('not found')],
      ['uv', uvPath ?? l10n.t('not found')],
    ];
    const needed = neededBy(agent);
    if (needed === 'node' && nodeVersion === undefined)
      return missing(l10n.t("The agent needs Node.js, which wasn't found."), 'getNode', facts);
    if (needed === 'uv' && uvPath === undefined)
      return missing(l10n.t("The agent needs uv, which wasn't found."), 'getUv', facts);
    if (nodeVersion === undefined && needed === undefined)
      return {
        outcome: 'ok',
        found: l10n.t("Node.js wasn't found. Agents that are npm packages can't be installed without it."),
        action: 'getNode',
        facts,
      };
    return { outcome: 'ok', found: l10n.t('The programs that the agent needs are installed.'), facts };
  });
}

function missing(found: string, action: CheckAction, facts: Finding['facts']): Finding {
  const advice = l10n.t('Install it, then reload the window.');
  return { outcome: 'problem', found, advice, action, facts };
}

function neededBy(agent: AgentDefinition): 'node' | 'uv' | undefined {
  if (agent.type !== 'process') return undefined;
  const name = basename(agent.command.replaceAll('\\', '/')).replace(/\.(?:exe|cmd|bat)$/i, '');
  if (['npx', 'npm', 'node'].includes(name)) return 'node';
  return ['uvx', 'uv'].includes(name) ? 'uv' : undefined;
}
