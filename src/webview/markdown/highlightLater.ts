// Colours complete code when the browser is idle. The highlighter is a file of its own, loaded with the first block that needs it.
import { fileUrl } from '../pageStyles';
import type { highlight } from './highlighter';

interface Job {
  readonly code: HTMLElement;
  readonly text: string;
  readonly lang: string;
  /** When its colours are due. */
  readonly due: number;
}

/** Longer code stays plain: its colours would cost more elements than they help. */
const LONGEST = 20_000;

/** Code that leaves the page again sooner than this, ms, came in a flood: nobody could see its colours, and their elements would cost memory. */
const REST = 1500;

let jobs: Job[] = [];
let scheduled = false;
let failed = false;
let loading: Promise<typeof highlight> | undefined;

/** Colours the text of `code` some time soon; leaves it plain for a language that is not known. */
export function highlightLater(code: HTMLElement, text: string, lang: string): void {
  if (failed || !lang || !text || text.length > LONGEST) return;
  jobs.push({ code, text, lang, due: performance.now() + REST });
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
    jobs.shift();
    // Taken out of the page meanwhile: it is coloured when it comes back.
    if (!job.code.isConnected) continue;
    const nodes = highlight(job.text, job.lang);
    if (nodes) job.code.replaceChildren(nodes);
  } while (deadline.timeRemaining() > 4);
  schedule();
}
