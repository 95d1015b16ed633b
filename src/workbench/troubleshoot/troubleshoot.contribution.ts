// Checks of an agent, and the report for support.

import type { Contribution } from '../core/workbench';
import { type TroubleshootArgument, Troubleshooter } from './troubleshooter';

export const troubleshoot: Contribution = {
  parts(workbench) {
    workbench.add(new Troubleshooter(workbench));
  },

  commands(workbench) {
    const troubleshooter = workbench.get(Troubleshooter);
    workbench.register('troubleshoot', (argument: TroubleshootArgument = {}) => troubleshooter.run(argument));
  },
};
