// While an agent's output arrives, nothing else moves: an animation restyles and redraws in each
// frame, which slows the output, and the output itself shows that the agent is working.

/** How long after the last arrival animations stay paused, ms. */
const QUIET_MS = 1000;

let quiet: ReturnType<typeof setTimeout> | undefined;

export function noteArrival(): void {
  if (quiet === undefined) document.body.classList.add('arrives');
  else clearTimeout(quiet);
  quiet = setTimeout(() => {
    quiet = undefined;
    document.body.classList.remove('arrives');
  }, QUIET_MS);
}
