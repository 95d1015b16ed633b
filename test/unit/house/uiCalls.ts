// Finds uses of VS Code's own interface outside of the one room that makes foreign text inert before it is shown.

/** The room; paths are relative to `src`. */
const ROOM = 'workbench/ui/';

/** Everything of VS Code's API that shows a text of its caller in VS Code's own interface. */
const CALLS = [
  'showInformationMessage',
  'showWarningMessage',
  'showErrorMessage',
  'showQuickPick',
  'createQuickPick',
  'showWorkspaceFolderPick',
  'showInputBox',
  'createInputBox',
  'createStatusBarItem',
  'setStatusBarMessage',
  'withProgress',
  'withScmProgress',
  'createTerminal',
  'showOpenDialog',
  'showSaveDialog',
  'createTreeView',
  'registerTreeDataProvider',
  'createTextEditorDecorationType',
  'createCommentController',
  'createSourceControl',
  'createDiagnosticCollection',
  'createTestController',
  'createChatParticipant',
  'registerHoverProvider',
  'registerCodeLensProvider',
  'registerInlayHintsProvider',
  'registerDocumentLinkProvider',
  'registerFileDecorationProvider',
  'registerTerminalLinkProvider',
  'MarkdownString',
  'vscode.diff',
  'vscode.changes',
];

const FORBIDDEN = new RegExp(
  `\\b(?:${CALLS.map((call) => call.replace('.', '\\.')).join('|')})\\b|\\bwindow\\s*(?:\\?\\.)?\\[`,
);

/** The lines of a file that would show text past the room. @param path relative to `src`, with forward slashes */
export function uiCalls(path: string, text: string): readonly string[] {
  if (path.startsWith(ROOM) || path.startsWith('webview/')) return [];
  return text
    .split('\n')
    .filter((line) => FORBIDDEN.test(line))
    .map((line) => `${path}: ${line.trim()}`);
}
