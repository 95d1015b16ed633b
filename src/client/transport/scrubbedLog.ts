// A log that takes something out of each line: what a server repeats of the secrets that it was sent must not stay on disk.
import type { Log } from '../../base/log';

export function scrubbedLog(log: Log, scrub: (text: string) => string): Log {
  return {
    trace: (message) => log.trace(scrub(message)),
    debug: (message) => log.debug(scrub(message)),
    info: (message) => log.info(scrub(message)),
    warn: (message) => log.warn(scrub(message)),
    error: (message) => log.error(scrub(message)),
  };
}
