// Commands that package.json does not list: for keyboard shortcuts, buttons, links and other extensions.

/** Each is registered by its feature. */
export const UNLISTED_COMMANDS: readonly string[] = [
  'parley.send',
  // The chat
  'parley.timeline',
  'parley.previousPrompt',
  'parley.nextPrompt',
  'parley.toggleAway',
  'parley.explainProblem',
  'parley.queue.pause',
  'parley.queue.resume',
  'parley.queue.steer',
  'parley.queue.clear',
  // Sessions
  'parley.newSessionInWorktree',
  'parley.selectFolder',
  'parley.continueWithSummary',
  'parley.import',
  'parley.openAsMarkdown',
  'parley.openSessionInNewWindow',
  'parley.pinSession',
  'parley.unpinSession',
  'parley.archiveSession',
  'parley.unarchiveSession',
  'parley.filterSessionsByState',
  'parley.clearSessionFilter',
  'parley.groupSessions',
  'parley.sessionList.open',
  'parley.sessionList.more',
  // Changes
  'parley.undoTurn',
  'parley.changes.redo',
  'parley.reviewWith',
  'parley.restoreCheckpoint',
  'parley.undoRestore',
  'parley.editAndResend',
  'parley.stageTurn',
  'parley.commentOnPlan',
  'parley.comments.addAndSend',
  'parley.applyWorktree',
  'parley.commitWorktree',
  'parley.compareSessions',
  // Agents
  'parley.checkStatus',
  'parley.setMode',
  'parley.setModel',
  'parley.signIn',
  'parley.signOut',
  'parley.mcp.reset',
  // Sharing, the server, recordings
  'parley.showBranch',
  'parley.resources.setKeys',
  'parley.resources.moveSession',
  'parley.resources.retry',
  'parley.server.copyAddress',
  'parley.server.copyToken',
  'parley.exportRecording',
  'parley.openRecording',
];

/** Earlier ids of commands, with the argument that they stand for. */
export const COMMAND_ALIASES: Readonly<Record<string, readonly [command: string, argument?: object]>> = {
  'parley.addFolder': ['parley.addFile'],
  'parley.comments.discard': ['parley.comments.remove'],
  'parley.inspectTraffic': ['parley.showTraffic'],
  'parley.manageApprovals': ['parley.managePermissions'],
  'parley.moveChatToEditor': ['parley.moveChat', { to: 'editor' }],
  'parley.moveChatToNewWindow': ['parley.moveChat', { to: 'window' }],
  'parley.moveChatToSideBar': ['parley.moveChat', { to: 'sideBar' }],
  'parley.sessionList.rename': ['parley.renameSession'],
};
