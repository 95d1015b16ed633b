// Colours complete code when the browser is idle. The highlighter is a file of its own, loaded with the first block that needs it.
import { fileUrl } from '../dom/pageStyles';
import { type ColorChunk, colorChunks } from './colorChunks';
import type { highlight } from './highlighter';

interface Job {
  readonly code: HTMLElement;
  readonly lang: string;
  /** When its colours are due. */
  readonly due: number;
  /** What is still to be coloured, and what is. */
  readonly chunks: ColorChunk[];
  readonly colored: DocumentFragment;
}

/** Longer code stays plain: its colours would cost more elements than they help. */
const LONGEST = 20_000;

/** Coloured pieces of one block; what comes after them stays plain. */
const MOST_SPANS = 2_500;

/** Code that leaves the page again sooner than this, ms, came in a flood: nobody could see its colours, and their elements would cost memory. */
const REST = 1500;

let jobs: Job[] = [];
let scheduled = false;
let failed = false;
let loading: Promise<typeof highlight> | undefined;

/** Colours the text of `code` some time soon; leaves it plain for a language that is not known. */
export function highlightLater(code: HTMLElement, text: string, lang: string): void {
  if (failed || !lang || !text || text.length > LONGEST) return;
  const due = performance.now() + REST;
  jobs.push({ code, lang, due, chunks: colorChunks(text), colored: document.createDocumentFragment() });
  if (scheduled) return;
  scheduled = true;
  loading ??= import(fileUrl('highlighter.js')).then((module: typeof import('./highlighter')) => module.highlight);
  loading.then(schedule, () => {
    // Without the chunk, code stays plain; the failed load was reported as a problem of the window.
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
    // Taken out of the page meanwhile: it is coloured when it comes back.
    const isWanted = job.code.isConnected && (job.chunks.length === 0 || colorNext(job, highlight));
    if (isWanted && job.chunks.length > 0) continue;
    jobs.shift();
    // Its last line goes on with what came later: then it stays plain.
    if (isWanted && job.code.childNodes.length === 1) job.code.replaceChildren(job.colored);
  } while (deadline.timeRemaining() > 4);
  schedule();
}

/** Colours the next stretch of a block. @returns false for a language that is not known */
function colorNext({ chunks, colored, lang }: Job, color: typeof highlight): boolean {
  const { text, plain } = chunks.shift()!;
  const nodes = plain || colored.querySelectorAll('span').length > MOST_SPANS ? text : color(text, lang);
  if (nodes !== undefined) colored.append(nodes);
  return nodes !== undefined;
}
