// Colours complete code when the browser is idle. The highlighter is a file of its own, loaded with the first block that needs it.
import { fileUrl } from '../pageStyles';
import type { highlight } from './highlighter';

interface Job {
  readonly code: HTMLElement;
  readonly text: string;
  readonly lang: string;
}

/** Longer code stays plain: its colours would cost more elements than they help. */
const LONGEST = 20_000;

let jobs: Job[] = [];
let scheduled = false;
let failed = false;
let loading: Promise<typeof highlight> | undefined;

/** Colours the text of `code` some time soon; leaves it plain for a language that is not known. */
export function highlightLater(code: HTMLElement, text: string, lang: string): void {
  if (failed || !lang || !text || text.length > LONGEST) return;
  jobs.push({ code, text, lang });
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
  requestIdleCallback(run, { timeout: 1000 });
}

async function run(deadline: IdleDeadline): Promise<void> {
  const highlight = await loading!;
  do {
    const job = jobs.shift();
    if (!job) {
      scheduled = false;
      return;
    }
    // Taken out of the page meanwhile: it is coloured when it comes back.
    if (!job.code.isConnected) continue;
    const nodes = highlight(job.text, job.lang);
    if (nodes) job.code.replaceChildren(nodes);
  } while (deadline.timeRemaining() > 4);
  schedule();
}
