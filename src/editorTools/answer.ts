// Formats a tool's answer: a summary line, then lines, in pages that fit a model's context.

/** In characters: about 4,000 tokens. */
export const MAX_PAGE = 15_000;
export const MAX_LINES = 200;
const MAX_LINE = 400;
const MAX_SUMMARY = 300;

/** An array, or a view that makes only the lines of a page. */
export interface Lines {
  readonly length: number;
  slice(from: number, to: number): readonly string[];
}

export interface ToolAnswer {
  /** One line without a full stop, such as "3 errors in src/a.ts". */
  readonly summary: string;
  readonly lines?: Lines;
  readonly failed?: true;
}

/** @param offset lines on earlier pages; undefined if the tool has no pages */
export function pageOf({ summary, lines = [] }: ToolAnswer, offset?: number): string {
  const first = cut(oneLine(summary), MAX_SUMMARY);
  const from = Math.min(offset ?? 0, lines.length);
  const page: string[] = [];
  let left = MAX_PAGE - first.length;
  for (const whole of lines.slice(from, from + MAX_LINES)) {
    const line = cut(oneLine(whole), MAX_LINE);
    left -= line.length + 1;
    if (left < 0) break;
    page.push(line);
  }
  const next = from + page.length;
  const rest = lines.length - next;
  const more = offset === undefined ? `… ${rest} more are left out` : `… ${rest} more: call again with offset ${next}`;
  return [first, ...page, ...(rest > 0 ? [more] : [])].join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\r\n?|\n/g, ' ');
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
