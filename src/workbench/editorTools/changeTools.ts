// The tools that change files: the user approves the whole diff, which is one Undo step.

import { dirname } from 'node:path';
import {
  CodeAction,
  CodeActionKind,
  type Command,
  l10n,
  Range,
  type TextDocument,
  type TextEdit,
  type Uri,
  type WorkspaceEdit,
  window,
  workspace,
} from 'vscode';
import type { FileEdit as WorkingEdit, WorkingFiles } from '../../changes/model/fileChange';
import type { ToolSession } from '../../client/mcp/editorTools';
import { keepLineEnds } from '../../client/requests/lineEnds';
import { isBelow, realTarget, realTargets } from '../../client/requests/roots';
import type { ToolAnswer } from '../../editorTools/answer';
import type { ToolCall } from '../../editorTools/toolCaller';
import { decodeFile, encodeLike } from '../editor/fileEncoding';
import { openDocument } from '../editor/openDocuments';
import { askEditor, listFrom } from './askEditor';
import { askFirst, requireWork } from './askFirst';
import type { Diagnoser } from './diagnose';
import { openFile } from './documents';
import type { SessionPaths } from './sessionPaths';
import { findSymbol } from './symbolPosition';

/** Characters of all files of a change, before and after: more than a person reviews. */
const MAX_CHARS = 4_000_000;
const MAX_FILES = 500;
const MAX_ACTIONS = 50;
const SURROUND = 'refactor.surround';

export interface ChangeToolsOptions {
  readonly paths: SessionPaths;
  readonly session: ToolSession;
  readonly diagnoser: Diagnoser;
  readonly files: WorkingFiles;
  readonly asAgent: <T>(paths: readonly string[], change: () => Promise<T>) => Promise<T>;
}

interface FileEdit {
  readonly document: TextDocument;
  readonly version: number;
  readonly edits: readonly TextEdit[];
  readonly newText: string;
}

export class ChangeTools {
  readonly #options: ChangeToolsOptions;
  readonly #paths: SessionPaths;

  constructor(options: ChangeToolsOptions) {
    this.#options = options;
    this.#paths = options.paths;
  }

  readonly rename_symbol: ToolCall<'rename_symbol'> = async ({ new_name: newName, ...query }, signal) => {
    requireWork(this.#options.session);
    const { document, position, name } = await findSymbol(query, this.#paths, signal);
    const edit = await askEditor<WorkspaceEdit | undefined>(
      signal,
      'vscode.executeDocumentRenameProvider',
      document.uri,
      position,
      newName,
    );
    return this.#propose(editsOf(edit), l10n.t('Rename {0} to {1}', name, newName), signal);
  };

  readonly format: ToolCall<'format'> = async ({ path }, signal) => {
    requireWork(this.#options.session);
    const document = await openFile(await this.#paths.resolve(path));
    const { insertSpaces, tabSize } =
      window.visibleTextEditors.find((editor) => editor.document === document)?.options ?? {};
    const editor = workspace.getConfiguration('editor', document);
    const edits = await listFrom<TextEdit>(signal, 'vscode.executeFormatDocumentProvider', document.uri, {
      insertSpaces: insertSpaces ?? editor.get('insertSpaces'),
      tabSize: tabSize ?? editor.get('tabSize'),
    });
    const title = l10n.t('Format {0}', this.#paths.show(document.uri.fsPath));
    return this.#propose([[document.uri, edits]], title, signal);
  };

  readonly organize_imports: ToolCall<'organize_imports'> = async ({ path }, signal) => {
    requireWork(this.#options.session);
    const document = await openFile(await this.#paths.resolve(path));
    const kind = CodeActionKind.SourceOrganizeImports;
    const [action] = await actionsOf(document, wholeOf(document), signal, kind);
    const title = l10n.t('Organize imports of {0}', this.#paths.show(document.uri.fsPath));
    return this.#propose(editsOf(action?.edit), title, signal);
  };

  readonly apply_code_action: ToolCall<'apply_code_action'> = async ({ path, line, title }, signal) => {
    const document = await openFile(await this.#paths.resolve(path));
    if (line > document.lineCount) throw new Error(`The file has ${document.lineCount} lines.`);
    await this.#options.diagnoser.shown(document, signal);
    const actions = (await actionsOf(document, document.lineAt(line - 1).range, signal)).filter(
      ({ edit, kind }) => edit && !kind?.value.startsWith(SURROUND),
    );
    if (title === undefined) {
      const where = `${this.#paths.show(document.uri.fsPath)}:${line}`;
      const titles = actions.filter(({ edit }) => edit && isTextOnly(edit)).map((one) => one.title);
      return { summary: `${titles.length} code actions for ${where}`, lines: titles };
    }
    requireWork(this.#options.session);
    const wanted = actions.find((action) => action.title === title);
    if (!wanted) return { summary: 'There is no such code action: list them without a title', failed: true };
    return this.#propose(editsOf(wanted.edit), wanted.title, signal);
  };

  async #propose(
    edits: readonly (readonly [Uri, readonly TextEdit[]])[],
    title: string,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const files = await this.#read(edits, signal);
    if (files.length === 0) return { summary: 'Nothing to change' };
    const details = {
      locations: files.map(({ document }) => ({ path: document.uri.fsPath })),
      content: files.map(({ document, newText }) => ({
        type: 'diff' as const,
        path: document.uri.fsPath,
        oldText: document.getText(),
        newText,
      })),
    };
    return askFirst(this.#options.session, { title, kind: 'edit', details }, signal, async () => {
      const unsaved = await this.#apply(files, title);
      const lines = files.map(({ document, edits: made }) => {
        const path = this.#paths.show(document.uri.fsPath);
        return `${path}  ${made.length} ${made.length === 1 ? 'edit' : 'edits'}`;
      });
      const rest = unsaved === 0 ? '' : `; ${unsaved} with unsaved changes of the user were not saved`;
      return { summary: `Changed ${files.length} ${files.length === 1 ? 'file' : 'files'}${rest}`, lines };
    });
  }

  async #read(edits: readonly (readonly [Uri, readonly TextEdit[]])[], signal: AbortSignal): Promise<FileEdit[]> {
    const changes = edits.filter(([, made]) => made.length > 0);
    if (changes.length > MAX_FILES) throw new Error(`The change is too large: ${changes.length} files.`);
    const inside = await this.#paths.inside(
      changes.map(([{ fsPath }]) => fsPath),
      signal,
    );
    const outside = changes.filter(([{ scheme, fsPath }]) => scheme !== 'file' || !inside.has(fsPath));
    if (outside.length > 0)
      throw new Error(`The change would also reach ${outside.length} files outside of the session's folders.`);
    const files: FileEdit[] = [];
    let chars = 0;
    for (const [uri, made] of changes) {
      const document = await openFile(uri.fsPath);
      const oldText = document.getText();
      const newText = changed(document, made);
      chars += oldText.length + newText.length;
      if (chars > MAX_CHARS) throw new Error('The change is too large to be reviewed.');
      if (newText !== oldText) files.push({ document, version: document.version, edits: made, newText });
    }
    return files;
  }

  /** @returns the number of files not saved because of the user's unsaved changes */
  async #apply(files: readonly FileEdit[], label: string): Promise<number> {
    const paths = files.map(({ document }) => document.uri.fsPath);
    for (const path of paths) await this.#options.session.beforeWrite(path);
    return this.#options.asAgent(paths, async () => {
      const edits: WorkingEdit[] = [];
      let unsaved = 0;
      for (const { document, version, newText } of files) {
        // It may have been closed and reopened with another version number.
        const now = (await openDocument(document.uri.fsPath)) ?? (await openFile(document.uri.fsPath));
        if (now.getText() !== document.getText() || (now === document && now.version !== version))
          throw new Error('A file has changed meanwhile: try again.');
        if (now.isDirty) unsaved++;
        edits.push(await this.#editOf(now, newText));
      }
      const refused = await this.#options.files.apply(edits, label);
      if (refused.length > 0) throw new Error(`The editor did not change ${refused.length} files: try again.`);
      return unsaved;
    });
  }

  async #editOf(document: TextDocument, newText: string): Promise<WorkingEdit> {
    const { uri, encoding } = document;
    const path = await realTarget(uri.fsPath);
    const found = await this.#options.files.read(path);
    if (!found) throw new Error('A file is gone meanwhile: try again.');
    const before = { bytes: found.content, text: await decodeFile(uri, found.content, encoding) };
    const content = Buffer.from(await encodeLike(uri, before, keepLineEnds(before.text, newText), encoding));
    const root = (await realTargets(this.#paths.roots)).find((one) => isBelow(one, path)) ?? dirname(path);
    return { path, root, expected: found.content, content };
  }
}

/** @throws Error if the edit contains more than text, since it must not be applied partially */
function editsOf(edit: WorkspaceEdit | undefined): (readonly [Uri, readonly TextEdit[]])[] {
  if (edit && !isTextOnly(edit))
    throw new Error(
      'Nothing was changed: this would also create, move or delete files, or needs the user to fill something in. The user can do it in the editor.',
    );
  return edit?.entries() ?? [];
}

/** The API lists only text edits; the editor reads `_allEntries`. False if missing. */
function isTextOnly(edit: WorkspaceEdit): boolean {
  const { length } = edit.entries().flatMap(([, edits]) => edits);
  return (edit as { _allEntries?(): readonly unknown[] })._allEntries?.().length === length;
}

async function actionsOf(
  document: TextDocument,
  range: Range,
  signal: AbortSignal,
  kind?: CodeActionKind,
): Promise<CodeAction[]> {
  const found = await listFrom<CodeAction | Command>(
    signal,
    'vscode.executeCodeActionProvider',
    document.uri,
    range,
    kind?.value,
    MAX_ACTIONS,
  );
  return found.filter((one): one is CodeAction => one instanceof CodeAction && one.disabled === undefined);
}

function wholeOf(document: TextDocument): Range {
  return document.validateRange(new Range(0, 0, document.lineCount, 0));
}

function changed(document: TextDocument, edits: readonly TextEdit[]): string {
  const text = document.getText();
  const parts: string[] = [];
  let from = 0;
  const sorted = edits
    .map(({ range, newText }) => ({
      start: document.offsetAt(range.start),
      end: document.offsetAt(range.end),
      newText,
    }))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  for (const { start, end, newText } of sorted) {
    if (start < from) throw new Error('The language server gave edits that overlap.');
    parts.push(text.slice(from, start), newText);
    from = end;
  }
  return parts.join('') + text.slice(from);
}
