// Copying all of a session of 10,000 entries: how long the host takes for the Markdown and the rich text, whether nothing is missing, and how long the event loop stands still.
import { Slices } from '../../src/changes/lines/slices';
import { sessionHtml } from '../../src/client/export/exportSession';
import { markdownOfSession } from '../../src/session/model/sessionMarkdown';
import { median, type Row, rounded } from './figures';
import { ENTRIES, makeSession, NEEDLES } from './findBench';
import { LoopGaps } from './loopGaps';

const RUNS = 5;
const LABELS = {
  title: 'Bench',
  user: 'You',
  agent: 'Agent',
  thought: 'Thought',
  plan: 'Plan',
  missing: '',
  end: () => undefined,
};

/** Times are in milliseconds, of the middle of five. @throws Error where the copy is not complete */
export async function measureCopy(say: (line: string) => void): Promise<readonly Row[]> {
  const { state } = makeSession();
  const gaps = new LoopGaps();
  const times: { readonly markdown: number; readonly both: number }[] = [];
  let size = '';
  for (let run = 0; run < RUNS; run++) {
    const began = performance.now();
    const text = await new Slices().run(markdownOfSession(state, LABELS));
    const markdown = performance.now() - began;
    const html = await sessionHtml(state, LABELS.agent);
    times.push({ markdown, both: performance.now() - began });
    for (const copy of [text, html]) {
      const found = copy.split('A needle.').length - 1;
      if (found !== NEEDLES) throw new Error(`${found} of ${NEEDLES} places are in the copy`);
    }
    size = `${rounded(text.length / 1e6)} MB of Markdown, ${rounded(html.length / 1e6)} MB of rich text`;
  }
  say(size);
  const row = (name: string, value: number, target: number): Row => ({
    name: `copy all of ${ENTRIES} entries: ${name}`,
    value: rounded(value),
    unit: 'ms',
    target,
    better: 'lower',
  });
  return [
    row('as Markdown', median(times.map(({ markdown }) => markdown)), 1000),
    row('with rich text', median(times.map(({ both }) => both)), 1000),
    row('longest block of the event loop', gaps.end(), 50),
  ];
}
