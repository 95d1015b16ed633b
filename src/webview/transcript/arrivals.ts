// While what an agent says and does arrives, nothing else moves: what is animated would be styled and
// drawn anew in each frame, at the cost of what arrives, which shows by itself that the agent works.

/** Without arrivals for so long, in milliseconds, animations go on. */
const QUIET_MS = 1000;

let quiet: ReturnType<typeof setTimeout> | undefined;

/** Something of the conversation has arrived. */
export function noteArrival(): void {
  if (quiet === undefined) document.body.classList.add('arrives');
  else clearTimeout(quiet);
  quiet = setTimeout(() => {
    quiet = undefined;
    document.body.classList.remove('arrives');
  }, QUIET_MS);
}
