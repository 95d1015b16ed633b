// VS Code's notifications, lists, boxes, status bar and terminals are reached through src/workbench/ui alone, where all text becomes inert.
import { strict as assert } from 'node:assert';
import { sources } from './sources';
import { uiCalls } from './uiCalls';

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
