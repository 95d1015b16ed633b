// Protocol traffic: the message log, its tab and recordings.

import { l10n } from 'vscode';
import { BARE_TRAFFIC } from '../../client/connection/bareAgent';
import { TrafficLog } from '../../traffic/trafficLog';
import type { Contribution } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { type RecordingArgument, Recordings } from './recordings';
import { TrafficInspector } from './trafficInspector';

export const traffic: Contribution = {
  parts(workbench) {
    const { context, log } = workbench;
    const conversations = workbench.get(Conversations);
    const messages = workbench.get(TrafficLog);
    const labelOf = (key: string): string => {
      if (key === BARE_TRAFFIC) return l10n.t('Agent check');
      const conversation = conversations.find(key);
      return conversation ? `${conversation.agent.name}: ${titleOf(conversation)}` : l10n.t('Closed session');
    };
    const recordings = workbench.add(new Recordings(workbench, labelOf));
    const save = (key: string | undefined): Promise<void> => recordings.save(key);
    workbench.add(new TrafficInspector({ context, traffic: messages, log, labelOf, save }));
  },

  commands(workbench) {
    const inspector = workbench.get(TrafficInspector);
    const recordings = workbench.get(Recordings);
    workbench.register('showTraffic', () => inspector.show());
    workbench.register('exportRecording', () => recordings.save());
    workbench.register('openRecording', (argument: RecordingArgument = {}) => recordings.open(argument));
  },
};
