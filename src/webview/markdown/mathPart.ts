// The lazily loaded script that draws formulas as MathML, some per frame. Their invisible source
// stays in the page for selecting, copying and searching.
import { revealControls } from '../../base/revealControls';
import { type Formula, type MathElement, readFormula } from '../../markdown/formula';
import { isDisplayed } from '../../markdown/mathMarks';
import { el } from '../dom/dom';
import innerStyles from '../styles/mathml.css';
import type { strings } from '../text/strings';

const MATHML = 'http://www.w3.org/1998/Math/MathML';
/** Time per frame, ms. The browser needs more for the layout. */
const SLICE_MS = 5;
const MAX_CACHED = 500;

let words: typeof strings.formulas;
const queue: HTMLElement[] = [];
const cache = new Map<string, Formula>();
let sheet: CSSStyleSheet | undefined;

export function drawFormula(element: HTMLElement, problems: typeof strings.formulas): void {
  words = problems;
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(innerStyles);
    document.addEventListener('copy', copySource);
  }
  if (queue.push(element) === 1) requestAnimationFrame(run);
}

/** Copies only the source: the browser would start a line for each drawn formula. */
function copySource(event: ClipboardEvent): void {
  const selection = document.getSelection();
  const isField = event.target instanceof Element && event.target.matches('input, textarea');
  if (event.defaultPrevented || isField || !selection || selection.isCollapsed) return;
  const copy = el('div', '', selection.getRangeAt(0).cloneContents());
  if (!copy.querySelector('.formula-source')) return;
  for (const own of copy.querySelectorAll('button, .code-head')) own.remove();
  event.clipboardData?.setData('text/plain', selection.toString());
  event.clipboardData?.setData('text/html', new XMLSerializer().serializeToString(copy));
  event.preventDefault();
}

function run(): void {
  const end = performance.now() + SLICE_MS;
  let done = 0;
  do {
    const element = queue[done++]!;
    if (element.isConnected) show(element);
  } while (done < queue.length && performance.now() < end);
  queue.splice(0, done);
  if (queue.length > 0) requestAnimationFrame(run);
}

function show(element: HTMLElement): void {
  const source = element.dataset.formula!;
  const formula = read(source);
  if ('problem' in formula) {
    const { problem } = formula;
    element.title = problem.code === 'notRead' ? words.notRead(problem.reason) : words[problem.code];
    element.classList.add('problem');
    return;
  }
  // The source overlays the drawn formula, so that it is what gets selected.
  const text = el('span', 'formula-source', revealControls(source));
  text.ariaHidden = 'true';
  element.replaceChildren(text);
  const inside = element.attachShadow({ mode: 'open' });
  inside.adoptedStyleSheets = [sheet!];
  inside.append(create(formula.math), el('slot'));
  element.classList.add(isDisplayed(source) ? 'displayed' : 'inline');
}

function read(source: string): Formula {
  const cached = cache.get(source);
  if (cached) cache.delete(source);
  else if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
  const formula = cached ?? readFormula(source);
  cache.set(source, formula);
  return formula;
}

function create({ tag, attributes, style, children }: MathElement): Element {
  const element = document.createElementNS(MATHML, tag) as MathMLElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  Object.assign(element.style, style);
  for (const child of children) element.append(typeof child === 'string' ? child : create(child));
  return element;
}
