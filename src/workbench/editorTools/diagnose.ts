// Problems of files on disk, once the language servers are up to date.

import { stat } from 'node:fs/promises';
import {
  Diagnostic,
  DiagnosticSeverity,
  languages,
  Position,
  Range,
  TabInputText,
  type TextDocument,
  window,
} from 'vscode';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';
import { untilQuiet } from '../../editorTools/untilQuiet';
import { columnBesideChat } from '../editor/openLocation';
import { askEditor } from './askEditor';
import { whileOpen } from './documents';
import { diagnosticsIn, ProblemList } from './readers/problems';

/** Timing after which diagnostics count as settled, ms. */
const SETTLED = { first: 1200, quiet: 250, last: 4000 };
const SETTLED_IF_ANY = { first: 10_000, quiet: 250, last: 10_000 };
const MAX_FILES = 50;
/** Languages whose server checks only files in tabs, and responds to requests for a file. */
const TYPESCRIPT = new Set(['typescript', 'typescriptreact', 'javascript', 'javascriptreact']);
const CATEGORIES: Readonly<Record<string, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  suggestion: DiagnosticSeverity.Hint,
};

export interface FileProblems {
  readonly path: string;
  readonly problems: ProblemList;
  readonly modifiedAt: number;
}

export class Diagnoser {
  readonly #log: Log;
  readonly #didLook = new Emitter<FileProblems>();
  readonly #checkedVersions = new WeakMap<TextDocument, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  readonly onDidLook: Event<FileProblems> = this.#didLook.event;

  /** @param files absolute paths to check again @param roots folders with other problems */
  async problems(files: readonly string[], roots: readonly string[], signal: AbortSignal): Promise<ProblemList> {
    const diagnosticsByFile = new Map<string, readonly Diagnostic[]>();
    const diagnoseFile = async (path: string, document: TextDocument): Promise<void> => {
      const asked = await this.#askTypeScript(document, signal);
      if (asked) {
        const modifiedAt = await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => Number.POSITIVE_INFINITY,
        );
        this.#didLook.fire({ path, problems: new ProblemList([[path, asked]]), modifiedAt });
      } else await this.#settled(document, signal);
      // Servers withdraw problems of closed documents.
      const reported = languages.getDiagnostics(document.uri);
      const others = reported.filter(({ source }) => !/^[tj]s$/.test(source ?? ''));
      diagnosticsByFile.set(path, asked ? [...others, ...asked] : reported);
    };
    await Promise.all(
      files
        .slice(0, MAX_FILES)
        .map((path) => whileOpen(path, (document) => diagnoseFile(path, document)).catch(() => undefined)),
    );
    signal.throwIfAborted();
    return new ProblemList([
      ...diagnosticsIn(roots).filter(([path]) => !diagnosticsByFile.has(path)),
      ...diagnosticsByFile,
    ]);
  }

  /** Shows a file until its problems are known: servers offer fixes only for reported ones. */
  async shown(document: TextDocument, signal: AbortSignal): Promise<void> {
    const uri = document.uri.toString();
    const isOpen = window.tabGroups.all.some(({ tabs }) =>
      tabs.some(({ input }) => input instanceof TabInputText && input.uri.toString() === uri),
    );
    if (isOpen) return;
    this.#checkedVersions.delete(document);
    const showing = window.showTextDocument(document, {
      viewColumn: columnBesideChat(),
      preview: true,
      preserveFocus: true,
    });
    await Promise.all([this.#settled(document, signal), showing]);
    const asked = await this.#askTypeScript(document, signal);
    // On a busy machine, the server knows them long before the editor.
    if (asked && asked.length > 0 && languages.getDiagnostics(document.uri).length === 0)
      await untilQuiet((changed) => watchProblems(document, changed), SETTLED_IF_ANY, signal);
  }

  async #settled(document: TextDocument, signal: AbortSignal): Promise<void> {
    const { version } = document;
    if (this.#checkedVersions.get(document) === version) return;
    await untilQuiet((changed) => watchProblems(document, changed), SETTLED, signal);
    this.#checkedVersions.set(document, version);
  }

  /** @returns undefined if VS Code's TypeScript extension is not available */
  async #askTypeScript({ languageId, uri }: TextDocument, signal: AbortSignal): Promise<Diagnostic[] | undefined> {
    if (!TYPESCRIPT.has(languageId)) return undefined;
    try {
      const answers = await Promise.all(
        ['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'].map((command) =>
          askEditor<unknown>(signal, 'typescript.tsserverRequest', command, { file: uri }),
        ),
      );
      const bodies = answers.map((answer) => at(answer, 'body'));
      if (!bodies.every(Array.isArray)) return undefined;
      return bodies.flat().flatMap(readTypeScript);
    } catch (error) {
      signal.throwIfAborted();
      this.#log.debug(`editor tools: TypeScript: ${messageOf(error)}`);
      return undefined;
    }
  }
}

function watchProblems({ uri }: TextDocument, changed: () => void): { dispose(): unknown } {
  const file = uri.toString();
  return languages.onDidChangeDiagnostics(({ uris }) => {
    if (uris.some((one) => one.toString() === file)) changed();
  });
}

function readTypeScript(raw: unknown): Diagnostic[] {
  const [line, column, message] = [at(raw, 'start', 'line'), at(raw, 'start', 'offset'), at(raw, 'text')];
  const code = at(raw, 'code');
  if (typeof line !== 'number' || typeof column !== 'number' || typeof message !== 'string') return [];
  const start = new Position(Math.max(0, line - 1), Math.max(0, column - 1));
  const severity = CATEGORIES[String(at(raw, 'category'))] ?? DiagnosticSeverity.Information;
  const found = new Diagnostic(new Range(start, start), message, severity);
  found.source = 'ts';
  if (typeof code === 'number') found.code = code;
  return [found];
}
