// Keeps which agents open no session while MCP servers are handed over.
import type { ExtensionContext } from 'vscode';
import { ServerRefusals } from '../../client/mcp/serverRefusals';

export function serverRefusals({ globalState }: Pick<ExtensionContext, 'globalState'>): ServerRefusals {
  return new ServerRefusals({
    get: (key) => globalState.get(key),
    set: (key, value) => void globalState.update(key, value),
  });
}
