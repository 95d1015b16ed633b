// How long hostile texts stop the page: a sample of the patterns on every surface of the panel, in
// a real Chromium with the panel's own harness. The figure is the processor time of one
// task, so that a busy machine says the same as a quiet one. That the work grows no faster than the
// text, for every pattern, is asserted in test/unit/webview/markdown/hostile.slow.test.ts.
import type { CDPSession } from 'playwright-core';
import type { ItemView, Op, SessionView } from '../../src/panel/contract';
import { PATTERNS } from '../support/hostile/patterns';
import { Harness, type Panel } from '../webview/harness/browser';
import { type Row, rounded } from './figures';

/** What a text is shown as: what the host sends of it, and what is clicked then. */
interface Surface {
  readonly name: string;
  /** Characters; what the host lets through there. */
  readonly sizes: readonly number[];
  item?(text: string): ItemView;
  session?(text: string): Partial<SessionView>;
  /** The text comes as an answer in chunks, as an agent streams it. */
  readonly streams?: boolean;
  /** Opened with a click, as a reader does. */
  readonly opens?: string;
}

const BASE = { id: 'x', turnId: 't1', at: 0 } as const;
const TOOL = { ...BASE, kind: 'tool', toolKind: 'other', status: 'completed', locations: [], hasRaw: false } as const;
const EXECUTE = { ...TOOL, toolKind: 'execute', title: 'make', content: [] } as const;
const opensTool = { opens: '.tool .row' };
const said = (text: string) => [{ type: 'text', text }] as const;
const message = (kind: 'agent' | 'thought' | 'user', text: string): ItemView => ({
  ...BASE,
  kind,
  content: said(text),
  duration: 0,
});
const returns = (text: string) => [{ type: 'content', block: { type: 'text', text } }] as const;
const question = (text: string) => ({
  id: 'p',
  index: 0,
  title: text.slice(0, 2_000),
  description: text,
  options: [{ optionId: 'a', name: text.slice(0, 200), kind: 'allow_once' }],
});
const form = (text: string) => {
  const title = text.slice(0, 500);
  const field = { key: 'a', type: 'text', title, description: text, required: false };
  return { id: 'q', mode: 'form', message: text, form: { title, description: text, fields: [field] } };
};
const running = (output: string) => ({ id: 'm', output, truncated: false, running: true, openable: false });
const change = (text: string) => {
  const lines = text.split('\n', 400).map((line) => `+${line.slice(0, 2000)}`);
  const hunks = [{ oldStart: 1, newStart: 1, lines }];
  return { path: '/a.ts', label: 'a.ts', isNew: false, added: 400, removed: 0, hunks };
};

const SURFACES: readonly Surface[] = [
  { name: 'answer', sizes: [10_000, 100_000], item: (text) => message('agent', text) },
  { name: 'answer in chunks', sizes: [100_000], streams: true },
  { name: 'thought', sizes: [100_000], item: (text) => message('thought', text), opens: '.thought > .row' },
  {
    name: 'message of the user',
    sizes: [20_000, 100_000],
    item: (text) => message('user', text),
    opens: '.show-all',
  },
  { name: 'plan', sizes: [50_000], item: (markdown) => ({ ...BASE, kind: 'plan', entries: [], markdown }) },
  {
    name: 'text of a tool',
    sizes: [19_000, 50_000],
    item: (text) => ({ ...TOOL, title: 'Tool', content: returns(text) }),
    ...opensTool,
  },
  {
    name: 'output of a command',
    sizes: [50_000],
    item: (text) => ({ ...EXECUTE, content: returns(text) }),
    ...opensTool,
  },
  {
    name: 'terminal',
    sizes: [100_000],
    item: (text) => ({ ...EXECUTE, content: [{ type: 'terminal', terminal: running(text) }] }),
    ...opensTool,
  },
  {
    name: 'change',
    sizes: [100_000],
    item: (text) => ({ ...EXECUTE, toolKind: 'edit', content: [{ type: 'diff', diff: change(text) }] }),
    ...opensTool,
  },
  { name: 'title of a tool', sizes: [2_000], item: (title) => ({ ...EXECUTE, title }), ...opensTool },
  {
    name: 'notice',
    sizes: [20_000, 50_000],
    item: (text) => ({ ...BASE, kind: 'notice', severity: 'info', title: text.slice(0, 2_000), text, detail: text }),
    opens: '.notice summary',
  },
  {
    name: 'error',
    sizes: [50_000],
    item: (text) => ({ ...BASE, kind: 'error', code: 'x', text, stderr: text }),
    opens: '.error summary',
  },
  {
    name: 'question',
    sizes: [20_000],
    item: () => ({ ...EXECUTE, status: 'pending' }),
    session: (text) => ({ permissions: [question(text) as SessionView['permissions'][number]] }),
  },
  {
    name: 'form',
    sizes: [20_000],
    item: () => message('agent', 'a'),
    session: (text) => ({ elicitations: [form(text) as SessionView['elicitations'][number]] }),
  },
];

/** Each so-many-th case is measured: a prime, so that the surfaces get different patterns. */
const SAMPLE = 37;
/** Longest stop that is allowed, ms. */
const MOST_MS = 100;
const CHUNK = 700;
/** A page that does not come back within this time has stopped for as long, ms. */
const PATIENCE = 60_000;

interface Case {
  readonly surface: Surface;
  readonly pattern: string;
  readonly text: string;
}

function* cases(): Iterable<Case> {
  for (const surface of SURFACES) {
    for (const size of surface.sizes) {
      for (const { name, make } of PATTERNS)
        yield { surface, pattern: `${size / 1000} KB of ${name}`, text: make(size).slice(0, size) };
    }
  }
}

/**
 * Shows a text, opens it, scrolls over it, and tells the longest task of the page: the processor's
 * time in it, ms.
 */
async function measure({ panel, trace }: Opened, one: Case): Promise<number> {
  await trace.send('Tracing.start', { categories: 'toplevel,-*', transferMode: 'ReportEvents' });
  let longest = 0;
  const take = ({ value }: { value: readonly object[] }): void => {
    for (const event of value as readonly TraceEvent[])
      if (event.name === 'ThreadControllerImpl::RunTask') longest = Math.max(longest, (event.tdur ?? 0) / 1000);
  };
  trace.on('Tracing.dataCollected', take);
  try {
    await show(panel, one);
  } finally {
    const ended = new Promise<void>((resolve) => trace.once('Tracing.tracingComplete', () => resolve()));
    await trace.send('Tracing.end');
    await ended;
    trace.off('Tracing.dataCollected', take);
  }
  return longest;
}

async function show(panel: Panel, { surface, text }: Case): Promise<void> {
  const { streams, opens } = surface;
  await panel.snapshot({
    items: streams ? [{ ...BASE, kind: 'agent', content: [], duration: 0 }] : [surface.item!(text)],
    session: { ...(streams && { phase: 'running' }), ...surface.session?.(text) },
  });
  if (streams) {
    const ops: Op[] = [];
    for (let at = 0; at < text.length; at += CHUNK)
      ops.push({ op: 'append', index: 0, text: text.slice(at, at + CHUNK), until: 0 });
    await panel.stream(ops);
  }
  await panel.page.evaluate(
    async ([selector]) => {
      const frames = async (count: number): Promise<void> => {
        for (let frame = 0; frame < count; frame++) await new Promise(requestAnimationFrame);
      };
      await frames(2);
      if (selector) {
        document.querySelector<HTMLElement>(selector)?.click();
        await frames(3);
      }
      const box = document.querySelector('.transcript')!;
      for (const part of [0, 0.3, 0.7, 1]) {
        box.scrollTop = box.scrollHeight * part;
        await frames(2);
      }
      // Done when there is time: the colours of code.
      if (document.querySelector('.code-block')) await new Promise((resolve) => setTimeout(resolve, 2_600));
      await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 2_000 }));
      await frames(1);
    },
    [opens] as const,
  );
}

/** A task as the browser's own trace tells of it; `tdur` is in microseconds of its thread. */
interface TraceEvent {
  readonly name: string;
  readonly tdur?: number;
}

interface Opened {
  readonly panel: Panel;
  readonly trace: CDPSession;
}

async function openPanel(harness: Harness): Promise<Opened> {
  const panel = await harness.open({ items: [] });
  return { panel, trace: await panel.page.context().newCDPSession(panel.page) };
}

/** The longest stop, or the time that was waited for a page that hangs or breaks, ms. */
async function patiently(work: Promise<number>): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(() => resolve(PATIENCE), PATIENCE);
  });
  try {
    return await Promise.race([work.catch(() => PATIENCE), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Shows the sample of the corpus. */
export async function measureHostile(say: (line: string) => void): Promise<readonly Row[]> {
  const sample = [...cases()].filter((_, index) => index % SAMPLE === 0);
  const harness = await Harness.start();
  const stops: number[] = [];
  try {
    let opened = await openPanel(harness);
    for (const one of sample) {
      let longest = await patiently(measure(opened, one));
      // The first of its kind pays for what is compiled and for what was left to collect.
      if (longest > MOST_MS && longest < PATIENCE) longest = Math.min(longest, await patiently(measure(opened, one)));
      if (longest > MOST_MS) say(`  ${rounded(longest)} ms: ${one.surface.name}: ${one.pattern}`);
      stops.push(longest);
      if (longest < PATIENCE) continue;
      await opened.panel.page.close().catch(() => undefined);
      opened = await openPanel(harness);
    }
  } finally {
    await harness.stop();
  }
  return [
    {
      name: `${sample.length} hostile texts: longest stop of the page`,
      value: rounded(Math.max(...stops)),
      unit: 'ms',
      target: MOST_MS,
      better: 'lower',
    },
  ];
}
