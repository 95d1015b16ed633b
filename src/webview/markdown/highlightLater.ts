// Highlights complete code blocks and diffs when the browser is idle.
import { isTouched } from '../dom/selection';
import { loadHighlighter } from './scripts';

type Highlighter = typeof import('./highlighter');

interface Job {
  readonly element: HTMLElement;
  due: number;
  begin(highlighter: Highlighter): Iterator<void>;
  steps?: Iterator<void>;
}

/** Longer code would create too many elements, characters. */
const MAX_CHARS = 20_000;

/** Delay before code is highlighted, ms. Code removed sooner was part of a flood. */
export const HIGHLIGHT_DELAY_MS = 1500;
/** Shorter for changed words, which help to read a diff. */
const WORDS_DELAY_MS = 500;

let jobs: Job[] = [];
let scheduled = false;
let failed = false;

export function highlightLater(code: HTMLElement, text: string, lang: string): void {
  if (!lang || !text || text.length > MAX_CHARS) return;
  add(code, ({ highlightCode }) => highlightCode(code, text, lang));
}

/**
 * Marks changed words, and highlights by file extension. Patches stay plain: their colours are
 * those of added and removed lines.
 */
export function highlightDiffLater(lines: HTMLElement, path: string): void {
  markWordsLater(lines);
  const lang = /\.(?!diff$|patch$)(\w+)$/.exec(path)?.[1];
  if (lang) add(lines, ({ highlightDiff }) => highlightDiff(lines, lang));
}

function add(element: HTMLElement, begin: Job['begin']): void {
  if (failed) return;
  jobs.push({ element, due: performance.now() + HIGHLIGHT_DELAY_MS, begin });
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
  setTimeout(() => requestIdleCallback(mark), WORDS_DELAY_MS);
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
      job.due = performance.now() + HIGHLIGHT_DELAY_MS;
      jobs.push(jobs.shift()!);
      continue;
    }
    // Code that was removed from the page is highlighted when it returns.
    job.steps ??= job.begin(highlighter);
    if (job.element.isConnected && !job.steps.next().done) continue;
    jobs.shift();
  } while (deadline.timeRemaining() > 4);
  schedule();
}

/** Changing selected code would move the ends of the selection. */
function isSelected(element: HTMLElement): boolean {
  return document.getSelection()?.isCollapsed === false && isTouched(element);
}
