// The timeline of 10,000 calls, in a browser: how long from the host's answer to the first picture, and how long frames take while it is moved.

import { timelineParts } from '../../src/client/view/timelineParts';
import { SessionModel } from '../../src/session/model/model';
import { Harness, type Panel } from '../webview/harness/browser';
import { longTimeline } from '../webview/harness/timelineSamples';
import { median, percentile, type Row, rounded } from './figures';

const CALLS = 10_000;
const RUNS = 5;
const FRAMES = 120;

/** Times are in milliseconds, of the middle of five. */
export async function measureTimeline(say: (line: string) => void): Promise<readonly Row[]> {
  const harness = await Harness.start();
  const drawn: number[] = [];
  const frames: number[] = [];
  const still: number[] = [];
  try {
    for (let run = 0; run < RUNS; run++) {
      const panel = await harness.open();
      drawn.push(await draw(panel));
      still.push(...(await move(panel, 0)));
      frames.push(...(await move(panel, 40)));
      await panel.page.close();
    }
  } finally {
    await harness.stop();
  }
  const projected = project();
  say(`drawn ${drawn.map(rounded).join(', ')}; projected ${rounded(projected)}`);
  const row = (name: string, value: number, target?: number): Row => ({
    name: `timeline of ${CALLS} calls: ${name}`,
    value: rounded(value),
    unit: 'ms',
    better: 'lower',
    ...(target !== undefined && { target }),
  });
  return [
    row('made by the extension', projected),
    row('answer to picture', median(drawn), 300),
    row('frame p95 while it is moved', percentile(frames, 95), 17),
    row('frame p95 while it stands still', percentile(still, 95)),
  ];
}

async function draw(panel: Panel): Promise<number> {
  await panel.send({ type: 'focus', on: 'timeline' });
  const { id } = await panel.next('timeline');
  const answer = { type: 'timeline', id, ...longTimeline(CALLS) } as const;
  return panel.page.evaluate(async (message) => {
    const began = performance.now();
    host.send(message);
    while (!document.querySelector('.timeline-row')) await new Promise(requestAnimationFrame);
    // The picture is drawn in the frame after the list.
    await new Promise(requestAnimationFrame);
    await new Promise((done) => setTimeout(done));
    return performance.now() - began;
  }, answer);
}

/** Zooms in, and moves with each frame. @returns how long each frame took, ms */
function move(panel: Panel, by: number): Promise<readonly number[]> {
  return panel.page.evaluate(
    async ([count, px]) => {
      const canvas = document.querySelector('.timeline-picture')!;
      const wheel = (deltaX: number, deltaY: number) =>
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaX, deltaY, cancelable: true, bubbles: true }));
      for (let step = 0; px > 0 && step < 3; step++) wheel(0, -100);
      const times: number[] = [];
      let last = await new Promise<number>(requestAnimationFrame);
      for (let frame = 0; frame < count; frame++) {
        if (px > 0) wheel(px, 0);
        const now = await new Promise<number>(requestAnimationFrame);
        times.push(now - last);
        last = now;
      }
      return times;
    },
    [FRAMES, by] as const,
  );
}

/** How long the extension takes to make the parts, ms. */
function project(): number {
  const model = new SessionModel();
  for (const { at, title, kind, turn, index } of longTimeline(CALLS).calls) {
    if (index % 20 === 0) model.apply({ type: 'turn_started', turnId: `t${turn}`, origin: 'user', at }, at);
    const patch = { title, kind, status: 'completed' } as const;
    model.apply({ type: 'tool_call', toolCallId: `c${index}`, announced: true, patch }, at);
  }
  const times = Array.from({ length: RUNS }, () => {
    const began = performance.now();
    timelineParts(model.state, 0, Date.now());
    return performance.now() - began;
  });
  return median(times);
}
