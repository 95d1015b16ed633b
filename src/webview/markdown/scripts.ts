// Large stateless scripts, loaded on first use. If loading fails, the text stays plain.
import type { DiagramContext } from '../diagram/diagramContext';
import { fileUrl } from '../dom/fileUrl';
import type { strings } from '../text/strings';

interface MathPart {
  /** Draws a formula later if it is still in the page. */
  drawFormula(element: HTMLElement, problems: typeof strings.formulas): void;
}

interface Diagrams {
  /** Draws a complete block later if it is still in the page. */
  drawDiagram(block: Element, source: string, context: DiagramContext): void;
}

let diagrams: Promise<Diagrams | undefined> | undefined;
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

export function loadDiagrams(): NonNullable<typeof diagrams> {
  diagrams ??= import(fileUrl('diagrams.js')).catch(report);
  return diagrams;
}

function report(error: unknown): undefined {
  reportError(error);
}
