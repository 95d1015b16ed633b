// Highlights complete code blocks and diffs when the browser is idle.
import { isTouched } from '../dom/selection';
import { loadHighlighter } from './scripts';

type Highlighter = typeof import('./highlighter');

interface Job {
  readonly element: HTMLElement;
  /** When the highlighting is due. */
  due: number;
  begin(highlighter: Highlighter): Iterator<void>;
  /** Each highlights a part. */
  steps?: Iterator<void>;
}

/** Longer code stays plain: highlighting would create too many elements. */
const LONGEST = 20_000;

/**
 * Code that leaves the page within this time, ms, came in a flood: highlighting it would only waste
 * memory.
 */
export const REST = 1500;
/** The same for the changed words of a diff: shorter, as they help to read it. */
const WORDS_REST = 500;

let jobs: Job[] = [];
let scheduled = false;
let failed = false;

/** Highlights the text of `code` soon; leaves it plain for an unknown language. */
export function highlightLater(code: HTMLElement, text: string, lang: string): void {
  if (!lang || !text || text.length > LONGEST) return;
  add(code, ({ highlightCode }) => highlightCode(code, text, lang));
}

/**
 * Marks the changed words of a drawn diff when the browser is idle, and highlights its lines soon, as
 * the extension of the file says. The highlighting of a patch has the background colours of added and
 * removed lines: patches stay plain.
 */
export function highlightDiffLater(lines: HTMLElement, path: string): void {
  markWordsLater(lines);
  const lang = /\.(?!diff$|patch$)(\w+)$/.exec(path)?.[1];
  if (lang) add(lines, ({ highlightDiff }) => highlightDiff(lines, lang));
}

function add(element: HTMLElement, begin: Job['begin']): void {
  if (failed) return;
  jobs.push({ element, due: performance.now() + REST, begin });
  if (scheduled) return;
  scheduled = true;
  schedule();
}

function markWordsLater(lines: HTMLElement): void {
  const mark = async (): Promise<void> => {
    if (!lines.isConnected) return;
    const highlighter = await loadHighlighter();
    if (isSelected(lines)) markWordsLater(lines);
    else highlighter?.markWords(lines);
  };
  setTimeout(() => requestIdleCallback(mark), WORDS_REST);
}

function schedule(): void {
  const wait = (jobs[0]?.due ?? 0) - performance.now();
  setTimeout(() => requestIdleCallback(run, { timeout: 1000 }), Math.max(0, wait));
}

async function run(deadline: IdleDeadline): Promise<void> {
  const highlighter = await loadHighlighter();
  if (!highlighter) {
    failed = true;
    jobs = [];
    return;
  }
  do {
    const job = jobs[0];
    if (!job) {
      scheduled = false;
      return;
    }
    if (job.due > performance.now()) break;
    if (isSelected(job.element)) {
      job.due = performance.now() + REST;
      jobs.push(jobs.shift()!);
      continue;
    }
    // Removed from the page meanwhile: it is highlighted when it returns.
    job.steps ??= job.begin(highlighter);
    if (job.element.isConnected && !job.steps.next().done) continue;
    jobs.shift();
  } while (deadline.timeRemaining() > 4);
  schedule();
}

/** Drawing in it would move the ends of the selection. */
function isSelected(element: HTMLElement): boolean {
  return document.getSelection()?.isCollapsed === false && isTouched(element);
}
