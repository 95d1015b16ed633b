// Highlights complete code blocks when the browser is idle. The highlighter is a separate file,
// loaded for the first block that needs it.
import { fileUrl } from '../dom/pageStyles';
import { type ColorChunk, colorChunks } from './colorChunks';
import type { highlight } from './highlighter';

interface Job {
  readonly code: HTMLElement;
  readonly lang: string;
  /** When the highlighting is due. */
  readonly due: number;
  /** The part not highlighted yet, and the part that is. */
  readonly chunks: ColorChunk[];
  readonly colored: DocumentFragment;
}

/** Longer code stays plain: highlighting would create too many elements. */
const LONGEST = 20_000;

/** Maximum number of highlighted tokens per block; the rest stays plain. */
const MOST_SPANS = 2_500;

/**
 * Code that leaves the page within this time, ms, came in a flood: highlighting it would only waste
 * memory.
 */
const REST = 1500;

let jobs: Job[] = [];
let scheduled = false;
let failed = false;
let loading: Promise<typeof highlight> | undefined;

/** Highlights the text of `code` soon; leaves it plain for an unknown language. */
export function highlightLater(code: HTMLElement, text: string, lang: string): void {
  if (failed || !lang || !text || text.length > LONGEST) return;
  const due = performance.now() + REST;
  jobs.push({ code, lang, due, chunks: colorChunks(text), colored: document.createDocumentFragment() });
  if (scheduled) return;
  scheduled = true;
  loading ??= import(fileUrl('highlighter.js')).then((module: typeof import('./highlighter')) => module.highlight);
  loading.then(schedule, () => {
    // Code stays plain if the chunk cannot be loaded; the failure was reported.
    failed = true;
    jobs = [];
  });
}

function schedule(): void {
  const wait = (jobs[0]?.due ?? 0) - performance.now();
  setTimeout(() => requestIdleCallback(run, { timeout: 1000 }), Math.max(0, wait));
}

async function run(deadline: IdleDeadline): Promise<void> {
  const highlight = await loading!;
  do {
    const job = jobs[0];
    if (!job) {
      scheduled = false;
      return;
    }
    if (job.due > performance.now()) break;
    // Removed from the page meanwhile: it is highlighted when it returns.
    const isWanted = job.code.isConnected && (job.chunks.length === 0 || colorNext(job, highlight));
    if (isWanted && job.chunks.length > 0) continue;
    jobs.shift();
    // A later part continues its last line: it stays plain.
    if (isWanted && job.code.childNodes.length === 1) job.code.replaceChildren(job.colored);
  } while (deadline.timeRemaining() > 4);
  schedule();
}

/**
 * Highlights the next chunk of a block.
 * @returns false for an unknown language
 */
function colorNext({ chunks, colored, lang }: Job, color: typeof highlight): boolean {
  const { text, plain } = chunks.shift()!;
  const nodes = plain || colored.querySelectorAll('span').length > MOST_SPANS ? text : color(text, lang);
  if (nodes !== undefined) colored.append(nodes);
  return nodes !== undefined;
}
