// VS Code's notifications, lists, boxes, status bar and terminals are reached through
// src/workbench/ui alone, where all text becomes inert.
import { strict as assert } from 'node:assert';
import { sources } from './sources';

/** The room; paths are relative to `src`. */
const ROOM = 'workbench/ui/';

/** Everything of VS Code's API that shows a text of its caller in VS Code's own interface. */
const CALLS =
  'showInformationMessage showWarningMessage showErrorMessage showQuickPick createQuickPick showWorkspaceFolderPick showInputBox createInputBox createStatusBarItem setStatusBarMessage withProgress withScmProgress createTerminal showOpenDialog showSaveDialog createTreeView registerTreeDataProvider createTextEditorDecorationType createCommentController createSourceControl createDiagnosticCollection createTestController createChatParticipant registerHoverProvider registerCodeLensProvider registerInlayHintsProvider registerDocumentLinkProvider registerFileDecorationProvider registerTerminalLinkProvider MarkdownString vscode.diff vscode.changes'.split(
    ' ',
  );

const FORBIDDEN = new RegExp(
  `\\b(?:${CALLS.map((call) => call.replace('.', '\\.')).join('|')})\\b|\\bwindow\\s*(?:\\?\\.)?\\[`,
);

/**
 * The lines of a file that would show text past the room.
 * @param path relative to `src`, with forward slashes
 */
function uiCalls(path: string, text: string): readonly string[] {
  if (path.startsWith(ROOM) || path.startsWith('webview/')) return [];
  return text
    .split('\n')
    .filter((line) => FORBIDDEN.test(line))
    .map((line) => `${path}: ${line.trim()}`);
}

describe("VS Code's own interface", () => {
  it('is used only by the room that makes text inert', () => {
    assert.deepEqual(
      sources().flatMap(({ path, text }) => uiCalls(path, text)),
      [],
    );
  });

  it('is used by that room', () => {
    const room = sources().filter(({ path }) => path.startsWith('workbench/ui/'));
    assert.ok(room.flatMap(({ text }) => uiCalls('workbench/x.ts', text)).length > 10);
  });
});

describe('the search for uses of it', () => {
  const found = [
    'void window.showErrorMessage(text);',
    'await vscode.window.showWarningMessage(text, { modal: true });',
    "import { window as w } from 'vscode'; const { showInputBox } = w;",
    'const quick = window.createQuickPick<Item>();',
    "window['show' + kind](text);",
    'window?.[name](text);',
    'new vscode.MarkdownString(text, true);',
    "await commands.executeCommand('vscode.diff', a, b, title);",
    ['const t = `$', '{await window.showQuickPick(items)}`;'].join(''),
  ];
  for (const text of found)
    it(`finds ${text}`, () => assert.equal(uiCalls('workbench/a.ts', `// first\n${text}\n`).length, 1));

  it('leaves the room itself and the panel alone', () => {
    assert.deepEqual(uiCalls('workbench/ui/messages.ts', 'window.showErrorMessage(inert(text))'), []);
    assert.deepEqual(uiCalls('webview/main.tsx', 'window[name]'), []);
  });

  it('does not take a function of the room for a call of VS Code', () => {
    assert.deepEqual(uiCalls('workbench/a.ts', 'void showError(text); await showInfo(text); showStatus(text);'), []);
  });
});
