// The last used file or selection, offered as context for the next message.
import { TabInputText, type TextEditor, window, workspace } from 'vscode';
import { Part } from '../../base/disposable';
import { Emitter } from '../../base/event';
import type { MentionView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import { fileAttachment, selectionAttachment, selectionLabel } from './attachments';

export const ACTIVE_EDITOR = 'active';
const DEBOUNCE_MS = 100;

export class ActiveEditor extends Part {
  readonly #didChange = this.own(new Emitter<void>());
  readonly onDidChange = this.#didChange.event;
  #lastEditor: TextEditor | undefined = window.activeTextEditor;
  #reportedView: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    const later = (): void => {
      this.#timer ??= setTimeout(() => this.#refresh(), DEBOUNCE_MS);
    };
    const subscriptions = [
      window.onDidChangeActiveTextEditor((editor) => {
        if (editor) this.#lastEditor = editor; // the chat is no text editor
        later();
      }),
      window.onDidChangeTextEditorSelection(later),
      window.tabGroups.onDidChangeTabs(later),
    ];
    for (const subscription of subscriptions) this.own(subscription);
  }

  get view(): MentionView | undefined {
    const editor = this.#editor;
    if (!editor) return undefined;
    const { document, selection } = editor;
    return hasSelection(editor)
      ? { id: ACTIVE_EDITOR, kind: 'selection', label: selectionLabel(document, selection) }
      : { id: ACTIVE_EDITOR, kind: 'file', label: workspace.asRelativePath(document.uri) };
  }

  async attachments(): Promise<readonly QueuedAttachment[]> {
    const editor = this.#editor;
    if (!editor) return [];
    const selected = hasSelection(editor) ? selectionAttachment(editor) : undefined;
    return [selected ?? (await fileAttachment(editor.document.uri))];
  }

  override dispose(): void {
    clearTimeout(this.#timer);
    super.dispose();
  }

  get #editor(): TextEditor | undefined {
    const editor = this.#lastEditor;
    const uri = editor?.document.uri;
    if (!editor || uri?.scheme !== 'file' || !workspace.getWorkspaceFolder(uri)) return undefined;
    const isOpen = window.tabGroups.all.some(({ tabs }) =>
      tabs.some(({ input }) => input instanceof TabInputText && input.uri.toString() === uri.toString()),
    );
    return isOpen ? editor : undefined;
  }

  #refresh(): void {
    this.#timer = undefined;
    const now = JSON.stringify(this.view);
    if (now === this.#reportedView) return;
    this.#reportedView = now;
    this.#didChange.fire();
  }
}

function hasSelection(editor: TextEditor): boolean {
  return !editor.selection.isEmpty && window.visibleTextEditors.includes(editor);
}
