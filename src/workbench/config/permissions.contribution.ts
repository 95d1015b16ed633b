// What agents may do, and what they get, without asking again: permission rules, approvals and MCP
// servers.

import { Part } from '../../base/disposable';
import { managePermissions } from '../commands/managePermissions';
import { showMcpServers } from '../commands/showMcpServers';
import type { Contribution, Workbench } from '../core/workbench';
import { FolderConsent } from './folderConsent';
import { McpServers } from './mcpServers';
import { PREFIX as REMOTE } from './remoteHeaders';
import { PREFIX as KEYS } from './savedKeys';

export const permissions: Contribution = {
  parts(workbench) {
    const { context, environment, log } = workbench;
    const consent = workbench.add(new FolderConsent({ context, log }));
    workbench.add(new McpServers({ context, environment, consent }));
    workbench.own(new AnswerKeys(workbench));
  },

  commands(workbench) {
    const mcp = workbench.get(McpServers);
    workbench.register('managePermissions', (argument?: { rule?: string }) =>
      managePermissions(workbench, argument?.rule),
    );
    workbench.register('mcp.show', (argument?: unknown) => showMcpServers(workbench, argument));
    workbench.register('mcp.reset', () => mcp.reset());
  },
};

/** VS Code's window answers, and is busy while it starts; in ms. */
const PATIENCE_MS = 5000;

class AnswerKeys extends Part {
  readonly #workbench: Workbench;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(workbench: Workbench) {
    super();
    this.#workbench = workbench;
    this.own(workbench.context.secrets.onDidChange(() => void this.#lookAtSecrets()));
    this.#timer = setTimeout(() => void this.#lookAtSecrets(), PATIENCE_MS);
    this.#timer.unref();
  }

  override dispose(): void {
    clearTimeout(this.#timer);
    super.dispose();
  }

  async #lookAtSecrets(): Promise<void> {
    // If the names can't be read, the command says why.
    const names = await Promise.resolve(this.#workbench.context.secrets.keys()).catch(() => [KEYS]);
    const isSaved = (name: string): boolean => name.startsWith(KEYS) || name.startsWith(REMOTE);
    this.#workbench.setContext('hasSecrets', names.some(isSaved));
  }
}
