// Sorting of the editor's problems, in any number.
import { strict as assert } from 'node:assert';
import { Diagnostic, type DiagnosticSeverity, Range } from 'vscode';
import { ProblemList } from '../../../src/workbench/editorTools/readers/problems';

const SEVERITIES = ['error', 'warning', 'info', 'hint'] as const;

const diagnostic = (line: number, column: number, severity: DiagnosticSeverity): Diagnostic =>
  new Diagnostic(new Range(line, column, line, column), `${line}:${column}`, severity);

describe("the editor's problems", () => {
  const files = Array.from({ length: 40 }, (_, file) => {
    const found = Array.from({ length: 25 }, (_, index) =>
      diagnostic((file * 31 + index * 17) % 23, (index * 7) % 5, (file + index) % 4),
    );
    return [`/work/file${(file * 13) % 40}.ts`, found] as const;
  });

  it('are sorted by severity, file and line, in pages as in one list', () => {
    const list = new ProblemList(files);
    const all = list.slice(0, list.length);
    assert.equal(all.length, 1000);
    const place = ({ severity, path, line, column }: (typeof all)[number]) =>
      [SEVERITIES.indexOf(severity), path, String(line).padStart(5), column].join(' ');
    assert.deepEqual(all.map(place), all.map(place).sort());
    const parts = Array.from({ length: 77 }, (_, part) => new ProblemList(files).slice(part * 13, part * 13 + 13));
    assert.deepEqual(parts.flat().map(place), all.map(place));
    assert.deepEqual(list.errors(), all.slice(0, 250));
    assert.deepEqual(
      SEVERITIES.map((severity) => list.count(severity)),
      [250, 250, 250, 250],
    );
  });
});
