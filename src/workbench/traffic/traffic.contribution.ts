// The messages on the wire: the inspector, and recordings.
import { homedir } from 'node:os';
import { l10n, workspace } from 'vscode';
import { BARE_TRAFFIC } from '../../client/connection/bareAgent';
import { TrafficLog } from '../../traffic/trafficLog';
import { ChatHome } from '../chat/chatHome';
import type { Contribution } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { type RecordingArgument, Recordings } from './recordings';
import { TrafficInspector } from './trafficInspector';

export const traffic: Contribution = {
  parts(workbench) {
    const { context, log, version } = workbench;
    const conversations = workbench.get(Conversations);
    const messages = workbench.get(TrafficLog);
    const labelOf = (key: string): string => {
      if (key === BARE_TRAFFIC) return l10n.t('Agent check');
      const conversation = conversations.find(key);
      return conversation ? `${conversation.agent.name}: ${titleOf(conversation)}` : l10n.t('Closed session');
    };
    const recordings = workbench.add(
      new Recordings({
        traffic: messages,
        conversations,
        log,
        version,
        labelOf,
        agentOf: (key) => conversations.find(key)?.agent.name ?? labelOf(key),
        folder: () => workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir(),
        present: (key) => void workbench.get(ChatHome).present(conversations.get(key)),
      }),
    );
    const save = (key: string | undefined): Promise<void> => recordings.save(key);
    workbench.add(new TrafficInspector({ context, traffic: messages, log, labelOf, save }));
  },

  commands(workbench) {
    const inspector = workbench.get(TrafficInspector);
    const recordings = workbench.get(Recordings);
    workbench.register('showTraffic', () => inspector.show());
    workbench.register('inspectTraffic', () => inspector.show());
    workbench.register('exportRecording', () => recordings.save());
    workbench.register('openRecording', (argument: RecordingArgument = {}) => recordings.open(argument));
  },
};
