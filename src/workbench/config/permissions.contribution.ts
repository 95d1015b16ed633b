// Permission rules, approvals, and MCP servers.

import { managePermissions } from '../commands/managePermissions';
import { showMcpServers } from '../commands/showMcpServers';
import type { Contribution } from '../core/workbench';
import { FolderConsent } from './folderConsent';
import { McpServers } from './mcpServers';

export const permissions: Contribution = {
  parts(workbench) {
    const { context, environment, log } = workbench;
    const consent = workbench.add(new FolderConsent({ context, log }));
    workbench.add(new McpServers({ context, environment, consent }));
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
