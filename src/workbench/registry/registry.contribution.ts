// Agents to add: those found on this machine, and those of the agent registry.
import { l10n, workspace } from 'vscode';
import { ParleyError } from '../../base/errors';
import { AgentCatalog } from '../config/agentCatalog';
import type { Contribution, Workbench } from '../core/workbench';
import { installById, pickNewAgent, useFoundAgent } from './agentPicker';
import { AgentRegistry } from './agentRegistry';
import { FirstUse, FoundAgents } from './foundAgents';

export const registry: Contribution = {
  parts(workbench) {
    const { context, environment, log } = workbench;
    const catalog = workbench.get(AgentCatalog);
    const found = workbench.add(new FoundAgents({ environment, log }));
    const agents = workbench.add(new AgentRegistry({ context, log, environment }));
    workbench.add(new FirstUse({ catalog, found, use: (agent) => useFoundAgent(agent, agents), log }));
  },

  commands(workbench) {
    workbench.register('installAgent', (argument?: InstallArgument) => installAgent(workbench, argument));
  },
};

interface InstallArgument {
  readonly id?: string;
  readonly wanted?: string;
}

async function installAgent(workbench: Workbench, { id, wanted }: InstallArgument = {}): Promise<void> {
  if (!workspace.isTrusted)
    throw new ParleyError('untrusted-workspace', l10n.t("Agents can't be added in an untrusted workspace."));
  const services = { found: workbench.get(FoundAgents), registry: workbench.get(AgentRegistry) };
  try {
    if (id === undefined) await pickNewAgent(services, wanted);
    else await installById(id, services);
  } catch (error) {
    // The user pressed Cancel.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
}
