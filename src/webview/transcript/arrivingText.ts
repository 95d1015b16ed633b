// While text arrives, nothing else moves: what is animated would be styled anew in each frame that
// draws text, and the text shows that the agent works.

/** Without text for so long, in milliseconds, animations go on. */
const QUIET_MS = 1000;

let quiet: ReturnType<typeof setTimeout> | undefined;

/** Text has arrived. */
export function noteText(): void {
  if (quiet === undefined) document.body.classList.add('text-arrives');
  else clearTimeout(quiet);
  quiet = setTimeout(() => {
    quiet = undefined;
    document.body.classList.remove('text-arrives');
  }, QUIET_MS);
}
