// The scripts that are large and have no state. Each is loaded when it is first needed. If that fails,
// which is reported, the text stays plain.
import type { strings } from '../text/strings';

interface MathPart {
  /** Draws a formula soon, unless it has left the page by then. */
  drawFormula(element: HTMLElement, problems: typeof strings.formulas): void;
}

let highlighter: Promise<typeof import('./highlighter') | undefined> | undefined;
let math: Promise<MathPart | undefined> | undefined;

export function loadHighlighter(): NonNullable<typeof highlighter> {
  highlighter ??= import(fileUrl('highlighter.js')).catch(report);
  return highlighter;
}

export function loadMath(): NonNullable<typeof math> {
  math ??= import(fileUrl('math.js')).catch(report);
  return math;
}

function report(error: unknown): undefined {
  reportError(error);
}

/** Scripts can be inline, so the page names the folder. */
function fileUrl(name: string): string {
  return new URL(name, new URL(document.documentElement.dataset.root ?? '.', document.baseURI)).href;
}
