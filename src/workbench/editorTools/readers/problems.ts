// The problems that the editor knows now.

import { type Diagnostic, DiagnosticSeverity, languages, type Uri } from 'vscode';
import { isBelow } from '../../../client/requests/roots';

export type Severity = 'error' | 'warning' | 'info' | 'hint';

export interface Problem {
  /** Absolute. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  /** As the language server says it. */
  readonly message: string;
  readonly source?: string;
  readonly code?: string;
}

/** The worst first. */
const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info', 'hint'];

const NAMES: Readonly<Record<DiagnosticSeverity, Severity>> = {
  [DiagnosticSeverity.Error]: 'error',
  [DiagnosticSeverity.Warning]: 'warning',
  [DiagnosticSeverity.Information]: 'info',
  [DiagnosticSeverity.Hint]: 'hint',
};

/**
 * Returns the problems in files below the folders, in {@link inOrder}. Takes what the editor knows now.
 * @param only of this file or folder (absolute), and of this severity and worse
 */
export function problemsIn(
  roots: readonly string[],
  only: { readonly path?: string; readonly severity?: Severity } = {},
): Problem[] {
  const { path } = only;
  const wanted = (uri: Uri): boolean =>
    uri.scheme === 'file' &&
    roots.some((root) => isBelow(root, uri.fsPath)) &&
    (path === undefined || isBelow(path, uri.fsPath));
  const found = languages
    .getDiagnostics()
    .flatMap(([uri, problems]) => (wanted(uri) ? problems.map((one) => toProblem(uri.fsPath, one)) : []));
  return inOrder(found, only.severity);
}

/** Returns problems of this severity and worse: errors first, then by file and line. */
export function inOrder(problems: readonly Problem[], least: Severity = 'hint'): Problem[] {
  const rank = ({ severity }: Problem): number => SEVERITIES.indexOf(severity);
  return problems
    .filter((problem) => rank(problem) <= SEVERITIES.indexOf(least))
    .sort(
      (one, other) =>
        rank(one) - rank(other) ||
        (one.path < other.path ? -1 : one.path > other.path ? 1 : 0) ||
        one.line - other.line ||
        one.column - other.column,
    );
}

function toProblem(path: string, { range, severity, message, source, code }: Diagnostic): Problem {
  const named = typeof code === 'object' ? code.value : code;
  return {
    path,
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: NAMES[severity] ?? 'info',
    message,
    ...(source && { source }),
    ...(named !== undefined && { code: String(named) }),
  };
}
