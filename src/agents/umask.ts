// Starts a process with a umask of its own: `spawn` has no option for it, and a child inherits ours.

/**
 * @param umask absent: that of this process
 * @param start starts the process before it returns
 */
export function withUmask<T>(umask: number | undefined, start: () => T): T {
  if (umask === undefined) return start();
  const own = process.umask(umask);
  try {
    return start();
  } finally {
    process.umask(own);
  }
}
