// The current problems of the editor.

import { type Diagnostic, DiagnosticSeverity, languages } from 'vscode';
import { isBelow } from '../../../client/requests/roots';

export type Severity = 'error' | 'warning' | 'info' | 'hint';

export interface Problem {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly message: string;
  readonly source?: string;
  readonly code?: string;
}

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info', 'hint'];

const NAMES: Readonly<Record<DiagnosticSeverity, Severity>> = {
  [DiagnosticSeverity.Error]: 'error',
  [DiagnosticSeverity.Warning]: 'warning',
  [DiagnosticSeverity.Information]: 'info',
  [DiagnosticSeverity.Hint]: 'hint',
};

export function problemsIn(roots: readonly string[], only: { readonly severity?: Severity } = {}): ProblemList {
  return new ProblemList(diagnosticsIn(roots), only.severity);
}

export function diagnosticsIn(roots: readonly string[]): (readonly [path: string, found: readonly Diagnostic[]])[] {
  return languages.getDiagnostics().flatMap(([{ scheme, fsPath }, found]) => {
    const isWanted = scheme === 'file' && roots.some((root) => isBelow(root, fsPath));
    return isWanted ? [[fsPath, found] as const] : [];
  });
}

interface Group {
  readonly path: string;
  readonly severity: Severity;
  readonly found: Diagnostic[];
  isSorted: boolean;
}

/** Problems by severity, file and line, sorted and formatted lazily as there can be 100,000. */
export class ProblemList {
  readonly length: number;
  readonly #groups: readonly Group[];

  constructor(files: Iterable<readonly [path: string, found: readonly Diagnostic[]]>, least: Severity = 'hint') {
    const wanted = new Set(SEVERITIES.slice(0, SEVERITIES.indexOf(least) + 1));
    const groups = new Map<string, Group>();
    for (const [path, found] of files)
      for (const one of found) {
        const severity = NAMES[one.severity] ?? 'info';
        if (!wanted.has(severity)) continue;
        const key = `${SEVERITIES.indexOf(severity)}${path}`;
        const group = groups.get(key);
        if (group) group.found.push(one);
        else groups.set(key, { path, severity, found: [one], isSorted: false });
      }
    this.#groups = [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
    this.length = lengthOf(this.#groups);
  }

  count(severity: Severity): number {
    return lengthOf(this.#groups.filter((group) => group.severity === severity));
  }

  get paths(): ReadonlySet<string> {
    return new Set(this.#groups.map(({ path }) => path));
  }

  only(paths: ReadonlySet<string>, least: Severity): ProblemList {
    const files = this.#groups.filter(({ path }) => paths.has(path));
    return new ProblemList(
      files.map(({ path, found }) => [path, found]),
      least,
    );
  }

  slice(from: number, to: number): Problem[] {
    const problems: Problem[] = [];
    let first = 0;
    for (const group of this.#groups) {
      const { path, found } = group;
      if (first < to && first + found.length > from) {
        if (!group.isSorted) found.sort(byPlace);
        group.isSorted = true;
        for (const one of found.slice(Math.max(0, from - first), to - first)) problems.push(toProblem(path, one));
      }
      first += found.length;
    }
    return problems;
  }

  errors(): Problem[] {
    return this.slice(0, this.count('error'));
  }
}

function lengthOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { found }) => sum + found.length, 0);
}

function byPlace({ range: one }: Diagnostic, { range: other }: Diagnostic): number {
  return one.start.line - other.start.line || one.start.character - other.start.character;
}

function toProblem(path: string, { range, severity, message, source, code }: Diagnostic): Problem {
  const named = typeof code === 'object' ? code.value : code;
  return {
    path,
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: NAMES[severity] ?? 'info',
    message,
    source: source || undefined,
    code: named !== undefined ? String(named) : undefined,
  };
}
