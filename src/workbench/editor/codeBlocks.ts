// Inserts a code block at the cursor or into a file, editor or terminal, and saves its diagram.

import { homedir } from 'node:os';
import { relative, sep } from 'node:path';
import { l10n, languages, Range, RelativePattern, type TextEditor, Uri, window, workspace } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { revealControls } from '../../base/revealControls';
import { isPlainPath } from '../../changes/review/reviewFile';
import type { Conversation } from '../../client/conversation/conversation';
import { type CodeChange, codeChange } from '../../client/requests/codeChange';
import { isBelow } from '../../client/requests/roots';
import { candidatesOf, parseLink } from '../../client/view/linkTarget';
import type { SessionMessage } from '../../panel/contract';
import { isTooLong } from '../ui/inertText';
import { pick } from '../ui/input';
import { confirm, showStatus } from '../ui/messages';
import { newTerminal, pickTarget } from '../ui/places';
import { columnBesideChat, firstExisting } from './openLocation';
import { fileOutside, type Proposals } from './proposals';
import { saveFile } from './saveFile';

/** A dialog with more lines may not fit on the screen. */
const MAX_LINES = 20;
const LANGUAGES: Readonly<Record<string, string>> = {
  bash: 'shellscript',
  cc: 'cpp',
  cs: 'csharp',
  h: 'c',
  hpp: 'cpp',
  js: 'javascript',
  jsx: 'javascriptreact',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  patch: 'diff',
  ps1: 'powershell',
  pwsh: 'powershell',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'shellscript',
  shell: 'shellscript',
  ts: 'typescript',
  tsx: 'typescriptreact',
  yml: 'yaml',
  zsh: 'shellscript',
};

export type CodeUse = Pick<Extract<SessionMessage, { type: 'useCode' }>, 'action' | 'text' | 'lang' | 'path'>;

export class CodeBlocks implements Disposable {
  #lastEditor = window.activeTextEditor;
  readonly #subscription = window.onDidChangeActiveTextEditor((editor) => {
    if (editor) this.#lastEditor = editor;
  });

  readonly #propose: Proposals['propose'];

  constructor(propose: Proposals['propose']) {
    this.#propose = propose;
  }

  /**
   * @throws ParleyError `no-editor`, `read-only`, `not-runnable`, `workspace-untrusted`, and those
   * of finding a file and proposing a change; file system errors
   */
  async use(use: CodeUse, conversation: Conversation): Promise<void> {
    const { action, text, lang } = use;
    if (action === 'insert') await this.#insert(text);
    else if (action === 'apply') await this.#apply(use, conversation);
    else if (action === 'open') await open(text, lang);
    else if (action === 'savePicture') await savePicture(text, conversation.roots[0]);
    else await run(text, conversation.roots[0]);
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  get #editor(): TextEditor | undefined {
    return [window.activeTextEditor, this.#lastEditor].find(isUsable);
  }

  async #apply({ text, lang, path: title }: CodeUse, conversation: Conversation): Promise<void> {
    if (!workspace.isTrusted)
      throw new ParleyError('workspace-untrusted', l10n.t("Code can't be applied in an untrusted workspace."));
    const change = codeChange(text, lang);
    const { paths, isPatch } = change;
    const named = [
      ...(title === undefined ? [] : [{ paths: [title], isGuess: false }]),
      ...(paths.length === 0 ? [] : [{ paths, isGuess: !isPatch }]),
    ];
    const editor = this.#editor;
    const target = await codeTarget(named, conversation.roots, editor, fileOutside);
    if (!target) return;
    const { path, isNamed } = target;
    const visibleEditor = editor !== undefined && editor.document.uri.fsPath === path ? editor : undefined;
    await this.#propose(conversation, path, (before) => {
      if (isPatch) return change.in(before);
      if (visibleEditor && !visibleEditor.selection.isEmpty) return inSelection(visibleEditor, before, change);
      // Only a block that names its file can replace all of it.
      return isNamed ? change.in(before) : inLineOf(visibleEditor, before, change);
    });
  }

  async #insert(text: string): Promise<void> {
    const editor = this.#editor;
    if (!editor) throw new ParleyError('no-editor', l10n.t('Open a file and place the cursor where the code belongs.'));
    const isDone = await editor.edit((edit) => {
      for (const selection of editor.selections) edit.replace(selection, text);
    });
    if (!isDone) throw new ParleyError('read-only', l10n.t("This editor can't be changed."));
    await window.showTextDocument(editor.document, editor.viewColumn);
  }
}

async function savePicture(svg: string, folder = homedir()): Promise<void> {
  const target = await pickTarget(l10n.t('Save'), Uri.joinPath(Uri.file(folder), 'diagram.svg'));
  if (!target) return;
  await saveFile(target, Buffer.from(svg));
  showStatus(l10n.t('Saved: {0}', target.fsPath));
}

/** Replaces the selection with code; undefined if the editor has another text. */
function inSelection({ document, selection }: TextEditor, before = '', change: CodeChange): string | undefined {
  const textOf = (range?: Range): string => document.getText(range).replaceAll('\r\n', '\n');
  if (textOf() !== before) return undefined;
  const start = textOf(new Range(0, 0, selection.start.line, selection.start.character)).length;
  return change.in(before, { start, end: start + textOf(selection).length });
}

/**
 * Inserts code as lines: at the cursor, after a non-empty line, or at the end of a closed file.
 * Undefined if the editor has another text.
 */
function inLineOf(editor: TextEditor | undefined, before = '', change: CodeChange): string | undefined {
  const textTo = (line: number, character: number): string =>
    editor?.document.getText(new Range(0, 0, line, character)).replaceAll('\r\n', '\n') ?? before;
  if (editor && textTo(editor.document.lineCount, 0) !== before) return undefined;
  const { line, character } = editor?.selection.active ?? { line: 0, character: 0 };
  const at = textTo(line, character).length;
  const begin = before.slice(0, at).lastIndexOf('\n') + 1;
  if (before.slice(begin, at).trim() === '') return change.in(before, { start: begin, end: begin });
  const end = before.indexOf('\n', at);
  const [text, start] = end === -1 ? [`${before}\n`, before.length + 1] : [before, end + 1];
  return change.in(text, { start, end: start });
}

/** Output channels and input boxes have no column. */
function isUsable(editor: TextEditor | undefined): boolean {
  return editor?.viewColumn !== undefined && window.visibleTextEditors.includes(editor);
}

async function open(content: string, lang: string): Promise<void> {
  const name = lang.toLowerCase();
  const language = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name]! : name;
  const isKnown = (await languages.getLanguages()).includes(language);
  const document = await workspace.openTextDocument({ content, language: isKnown ? language : undefined });
  await window.showTextDocument(document, { preview: false, viewColumn: columnBesideChat() });
}

async function run(text: string, cwd: string | undefined): Promise<void> {
  if (!workspace.isTrusted)
    throw new ParleyError('workspace-untrusted', l10n.t("Parley doesn't start programs in an untrusted workspace."));
  const commands = commandsIn(text);
  // A tab completes a command, and other control characters are keys too.
  if (commands === '' || commands.includes('\t') || revealControls(commands) !== commands)
    throw new ParleyError('not-runnable', l10n.t("The code has characters that can't be sent to a terminal."));
  if (isTooLong(commands) || commands.split('\n').length > MAX_LINES)
    throw new ParleyError('not-runnable', l10n.t('The code is too long to be run from here. Open it in an editor.'));
  if (!(await confirm(l10n.t('Run this in a terminal?'), commands, l10n.t('Run')))) return;
  const terminal = newTerminal(commands, cwd === undefined ? {} : { cwd });
  terminal.show();
  terminal.sendText(commands);
}

/** If some lines start with a prompt, the others are output. */
function commandsIn(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const prompted = lines.flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []));
  return (prompted.length > 0 ? prompted : lines).join('\n').trim();
}

const MAX_OFFERED = 5_000;

interface NamedFile {
  readonly paths: readonly string[];
  /** The name comes from a comment, which may be about anything. */
  readonly isGuess: boolean;
}

interface CodeTarget {
  readonly path: string;
  /** Named by the block, rather than open or picked. */
  readonly isNamed: boolean;
}

/** @param outside creates the error for a file outside `roots` */
async function codeTarget(
  named: readonly NamedFile[],
  roots: readonly string[],
  editor: TextEditor | undefined,
  outside: (path: string) => Error,
): Promise<CodeTarget | undefined> {
  for (const { paths, isGuess } of named) {
    const [name = ''] = paths;
    const links = paths.filter((path) => revealControls(path) === path).map(parseLink);
    const candidates = links.flatMap((link) => (link.kind === 'file' ? candidatesOf(link.paths, roots) : []));
    const found = await firstExisting(candidates.filter((place) => isPlainlyIn(place, roots)));
    if (found) return { path: found.uri.fsPath, isNamed: true };
    // Without a slash or extension, it could be any word.
    if (!/[\\/]/.test(name) && (isGuess || !/\.[a-z]\w*$/i.test(name))) continue;
    const [newFile] = candidates;
    if (newFile !== undefined && isPlainlyIn(newFile, roots)) return { path: newFile, isNamed: true };
    if (!isGuess) throw outside(revealControls(name));
  }
  const uri = editor?.document.uri;
  if (uri?.scheme === 'file' && isPlainlyIn(uri.fsPath, roots)) return { path: uri.fsPath, isNamed: false };
  const lists = roots.map((root) => workspace.findFiles(new RelativePattern(root, '**/*'), undefined, MAX_OFFERED));
  const paths = (await Promise.all(lists)).flat().map(({ fsPath }) => fsPath);
  const items = paths.sort().map((id) => ({ id, label: workspace.asRelativePath(id) }));
  const path = await pick(items, l10n.t('Apply to file…'));
  return path === undefined ? undefined : { path, isNamed: false };
}

/** By spelling: resolving a path on another machine would send the user's name there. */
function isPlainlyIn(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => {
    const relativePath = relative(root, path).split(sep).join('/');
    return isBelow(root, path) && isPlainPath(relativePath) && !/[\\:]/.test(relativePath);
  });
}
