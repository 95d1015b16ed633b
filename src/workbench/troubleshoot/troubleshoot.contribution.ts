// The command Troubleshoot.
import { AgentCatalog } from '../config/agentCatalog';
import type { Contribution } from '../core/workbench';
import { Reports } from '../editor/reports';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { type TroubleshootArgument, Troubleshooter } from './troubleshooter';

export const troubleshoot: Contribution = {
  parts(workbench) {
    const { context, log, environment } = workbench;
    const conversations = workbench.get(Conversations);
    workbench.add(
      new Troubleshooter({
        context,
        log,
        environment,
        catalog: workbench.get(AgentCatalog),
        conversations,
        archive: workbench.get(Archive),
        bare: conversations.bare,
        reports: workbench.get(Reports),
      }),
    );
  },

  commands(workbench) {
    const troubleshooter = workbench.get(Troubleshooter);
    workbench.register('troubleshoot', (argument: TroubleshootArgument = {}) => troubleshooter.run(argument));
  },
};
