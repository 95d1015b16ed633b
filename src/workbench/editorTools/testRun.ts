// Condenses the result of VS Code's test tool, including only locations in the session's folders.

import type { ToolAnswer } from '../../editorTools/answer';
import type { SessionPaths } from './sessionPaths';

const PLACE = /^<(?:stackFrame|location) path="(.*?)" line="(\d+)" col="(\d+)" \/>$/;
const FAILURE = /^<testFailure name="(.*)" path="(.*)">$/;
const LABELS: Readonly<Record<string, string>> = { expectedOutput: 'expected:', actualOutput: 'actual:' };

/** @param text returned unchanged if its format is unknown */
export function readTestRun(text: string, paths: Pick<SessionPaths, 'holds' | 'show'>): ToolAnswer {
  const counts = /<summary passed=(\d+) failed=(\d+) \/>/.exec(text);
  const output = counts ? text.replace(counts[0], '') : text;
  const lines = output
    .replaceAll('/><', '/>\n<')
    .split(/\r\n?|\n/)
    .flatMap((line) => readLine(line, paths));
  if (!counts) {
    const [summary = 'No test was run', ...more] = lines;
    return { summary, lines: more };
  }
  const [, passed, failed] = counts;
  return { summary: `${passed} passed, ${failed} failed`, lines };
}

function readLine(line: string, paths: Pick<SessionPaths, 'holds' | 'show'>): string[] {
  const place = PLACE.exec(line);
  if (place) {
    const [, path = '', row, column] = place;
    return paths.holds(path) ? [`  at ${paths.show(path)}:${row}:${column}`] : [];
  }
  const failure = FAILURE.exec(line);
  if (failure) return [`Failed: ${failure[2] === '' ? '' : `${failure[2]} > `}${failure[1]}`];
  const tag = /^<\/?(\w+)(?:>$|[ >].*<\/\1>$)/.exec(line)?.[1];
  if (tag === undefined) return line.trim() === '' ? [] : [line];
  const label = line.startsWith('</') ? undefined : LABELS[tag];
  return label === undefined ? [] : [label];
}
