// The stored sessions, and the states of their folders.
import { KeptStates } from '../changes/keptStates';
import { historyLimits } from '../config/settings';
import type { Contribution } from '../core/workbench';
import { Archive } from './archive';

export const history: Contribution = {
  parts(workbench) {
    const { context, log, environment } = workbench;
    // Created first, so that leases are released after everything in their sessions has ended.
    const archive = workbench.add(new Archive(context, log));
    const states = workbench.add(
      new KeptStates({
        storage: workbench.folder('changes'),
        environment,
        texts: ['reviews', 'restores', 'restores-running'].map((name) => workbench.store(name)),
        sessions: () => archive.all(),
        maxBytes: () => historyLimits().maxBytes,
        log,
      }),
    );
    workbench.own(archive.onDidDelete((keys) => void states.forget(keys)));
    workbench.own(archive.onDidPrune(() => void states.collect()));
  },
};
