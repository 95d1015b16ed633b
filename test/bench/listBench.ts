// The list of sessions while 20 sessions of 4 agents stream: frames of the workbench's own page, how often rows are drawn, and what the extension host needs.
import type { Page } from 'playwright-core';
import { command } from '../support/vscode/workbench';
import { percentile, type Row, rounded } from './figures';
import { Probed } from './scale';
import type { Subject } from './subjects';

const SESSIONS = 20;
const AGENTS = ['load', 'second', 'third', 'fourth'];
/** Updates of each session, and their rate per second. */
const UPDATES = 750;
const RATE = 50;
/** The begin of all turns is over, in ms; and how long frames are counted. */
const SETTLED_MS = 3000;
const COUNTED_MS = 8000;

interface HostFigures {
  readonly p99: number;
  readonly rss: number;
  readonly cpu: number;
}

interface Frames {
  /** Milliseconds from each frame to the next. */
  readonly frames: readonly number[];
  /** Changes of the rows in the page. */
  readonly mutations: number;
  readonly rows: number;
}

/** @param subject its settings name one agent, which is used four times */
export async function measureList(subject: Subject, say: (line: string) => void): Promise<readonly Row[]> {
  const several: Subject = {
    ...subject,
    settings: (agent) => ({
      ...subject.settings(agent),
      'parley.agents': Object.fromEntries(AGENTS.map((id) => [id, agent])),
    }),
  };
  const probed = await Probed.open(several, say);
  try {
    const { page } = probed.chat;
    await command(page, 'Parley: Focus on Sessions View');
    const keys = (await probed.ask('open', { count: SESSIONS - 1, agents: AGENTS })) as string[];
    await probed.ask('send', { keys, text: `flood ${UPDATES} ${RATE}` });
    let measured: Frames | undefined;
    let host: HostFigures | undefined;
    await probed.chat.turn(`flood ${UPDATES} ${RATE}`, 'A', {
      meanwhile: async () => {
        await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
        await probed.ask('reset');
        measured = await framesOf(page);
        host = (await probed.ask('read')) as HostFigures;
      },
    });
    await probed.ask('settled');
    if (!measured || !host) throw new Error('Nothing was measured');
    if (measured.rows < SESSIONS) throw new Error(`The list has ${measured.rows} rows`);
    say(`list: ${measured.frames.length} frames, ${measured.mutations} mutations, ${JSON.stringify(host)}`);
    const row = (name: string, value: number, unit: string, target?: number): Row => ({
      name: `list of ${SESSIONS} streaming sessions of ${AGENTS.length} agents: ${name}`,
      value: rounded(value),
      unit,
      ...(target !== undefined && { target }),
      better: 'lower',
    });
    return [
      row('frame p95', percentile(measured.frames, 95), 'ms', 17),
      row('changes of rows in the page', measured.mutations, 'changes', 10),
      row('extension host delay p99', host.p99, 'ms', 20),
      row('extension host processor', (100 * host.cpu) / COUNTED_MS, '%'),
      row('extension host memory', host.rss / 2 ** 20, 'MB'),
    ];
  } finally {
    await probed.close();
  }
}

/** Watches the page of the workbench, which has the list. */
function framesOf(page: Page): Promise<Frames> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('.pane-body .monaco-list[aria-label^="Sessions"]');
    let mutations = 0;
    const observer = new MutationObserver((records) => { mutations += records.length; });
    if (list) observer.observe(list, { subtree: true, childList: true, characterData: true });
    const frames = [];
    const end = performance.now() + ${COUNTED_MS};
    let last = performance.now();
    const tick = (now) => {
      frames.push(now - last);
      last = now;
      if (now < end) { requestAnimationFrame(tick); return; }
      observer.disconnect();
      resolve({ frames: frames.slice(1), mutations, rows: list?.querySelectorAll('.monaco-list-row').length ?? 0 });
    };
    requestAnimationFrame(tick);
  })`);
}
