// What `@` in the composer offers: the selection, open editors, files and folders. What is chosen
// becomes an attachment.
import { l10n, TabInputText, type TextEditor, window, workspace } from 'vscode';
import type { Disposable } from '../../base/disposable';
import type { MentionView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import { fileAttachment, selectionAttachment } from './attachments';
import { WorkspaceFiles } from './workspaceFiles';

/** Rows of the list. */
const MOST = 20;
/** Open editors that are offered before anything is typed. */
const MOST_OPEN = 10;
const SELECTION = 'selection';
const PATH = 'path:';

export class Mentions implements Disposable {
  readonly #files = new WorkspaceFiles();

  /**
   * What is offered for the letters after `@`, best first.
   * @throws the reason of `signal`
   */
  async offers(query: string, signal: AbortSignal): Promise<readonly MentionView[]> {
    const fits = ({ label }: MentionView): boolean => label.toLowerCase().includes(query.toLowerCase());
    const selected = selectionOffer();
    const open = openFiles().filter(fits).slice(0, MOST_OPEN);
    const here = [...(selected && fits(selected) ? [selected] : []), ...open];
    const known = new Set(here.map(({ id }) => id));
    this.#files.warm();
    const list = query === '' ? undefined : await this.#files.list();
    signal.throwIfAborted();
    const found = list ? await list.search(query, MOST, signal) : [];
    const files = found
      .map(({ path, isFolder }): MentionView => ({ id: PATH + path, kind: isFolder ? 'folder' : 'file', label: path }))
      .filter(({ id }) => !known.has(id));
    return [...here, ...files].slice(0, MOST);
  }

  /** The attachments that an offer stands for; empty where it is gone. */
  async attachments(id: string): Promise<readonly QueuedAttachment[]> {
    if (id === SELECTION) {
      const editor = selectedEditor();
      const attachment = editor && selectionAttachment(editor);
      return attachment ? [attachment] : [];
    }
    const path = id.slice(PATH.length);
    // The page may name only what it was offered.
    const isOffered = openFiles().some((offer) => offer.id === id) || (await this.#files.list()).has(path);
    const uri = id.startsWith(PATH) && isOffered ? this.#files.uriOf(path) : undefined;
    return uri ? [await fileAttachment(uri)] : [];
  }

  dispose(): void {
    this.#files.dispose();
  }
}

/** The editor with a selection: the active one, or one in sight while the chat has the focus. */
function selectedEditor(): TextEditor | undefined {
  const editors = window.activeTextEditor ? [window.activeTextEditor] : window.visibleTextEditors;
  return editors.find(({ selection, document }) => !selection.isEmpty && document.uri.scheme === 'file');
}

function selectionOffer(): MentionView | undefined {
  const editor = selectedEditor();
  const attachment = editor && selectionAttachment(editor);
  if (!attachment) return undefined;
  return { id: SELECTION, kind: 'selection', label: attachment.label, description: l10n.t('Selection') };
}

/** Files of the workspace that are open in editors, each once. */
function openFiles(): readonly MentionView[] {
  const offers = new Map<string, MentionView>();
  for (const { tabs } of window.tabGroups.all)
    for (const { input } of tabs) {
      if (!(input instanceof TabInputText) || !workspace.getWorkspaceFolder(input.uri)) continue;
      const label = workspace.asRelativePath(input.uri);
      offers.set(label, { id: PATH + label, kind: 'file', label, description: l10n.t('Open editor') });
    }
  return [...offers.values()];
}
