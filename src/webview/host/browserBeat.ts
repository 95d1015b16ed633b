// The animation frames of the browser.
import type { Beat } from './frames';

export function browserBeat(): Beat {
  let waiting: (() => void)[] = [];
  const channel = new MessageChannel();
  // A message posted within a frame arrives after the frame was painted.
  channel.port1.onmessage = () => {
    const now = waiting;
    waiting = [];
    for (const then of now) then();
  };
  return {
    next: (frame) => requestAnimationFrame(frame),
    painted(then) {
      waiting.push(then);
      channel.port2.postMessage(0);
    },
  };
}
