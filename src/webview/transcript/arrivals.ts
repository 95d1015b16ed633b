// Pauses animations while output arrives: an animation restyles and redraws each frame, which slows
// the output, and the output itself shows that the agent is working.

/** How long animations stay paused after the last output, ms. */
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
