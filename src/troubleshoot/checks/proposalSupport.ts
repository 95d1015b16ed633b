// Which proposals of the protocol an agent supports, by what it says of itself in `initialize`.
import * as l10n from '@vscode/l10n';
import type { AgentDescription } from '../../acp/protocol/dialect';

export interface ProposalSupport {
  readonly name: string;
  readonly isSupported: boolean;
  readonly found: string;
}

export function proposalSupport({
  protocol,
  features,
}: Pick<AgentDescription, 'protocol' | 'features'>): readonly ProposalSupport[] {
  const announced = (name: string, isSupported: boolean): ProposalSupport => ({
    name,
    isSupported,
    found: isSupported ? l10n.t('supported') : l10n.t('not announced'),
  });
  return [
    announced('session/ready', features.ready !== undefined),
    announced('session/status', features.status !== undefined),
    announced('turn_complete', features.turnComplete !== undefined),
    {
      name: l10n.t('Prompt lifecycle'),
      isSupported: features.states !== undefined,
      found:
        features.states !== undefined
          ? l10n.t('supported')
          : protocol === 1
            ? l10n.t('part of version 2; in version 1, used when the agent sends it')
            : l10n.t('not announced'),
    },
    {
      name: l10n.t('Distributed sessions'),
      isSupported: protocol === 'communication',
      found: protocol === 'communication' ? l10n.t('supported') : l10n.t('Parley does this for the agent'),
    },
  ];
}
