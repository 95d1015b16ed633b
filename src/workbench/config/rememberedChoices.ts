// Keeps the model and the effort that the user chose last with each agent.
import type { ExtensionContext } from 'vscode';
import type { RememberedChoices } from '../../client/conversation/sessionChoices';

const PREFIX = 'choices:';
const MAX_CHARS = 1000;

export function rememberedChoices({ globalState }: Pick<ExtensionContext, 'globalState'>): RememberedChoices {
  const of: RememberedChoices['of'] = (agentId) => globalState.get(PREFIX + agentId);
  return {
    of,
    remember: (agentId, id, value) => {
      if (id.length > MAX_CHARS || String(value).length > MAX_CHARS) return;
      void globalState.update(PREFIX + agentId, { ...of(agentId), [id]: value });
    },
  };
}
