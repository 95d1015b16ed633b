// Explains why a process did not start. The names of system errors are of little use to people, and
// ENOENT is misleading.
import { open } from 'node:fs/promises';
import { messageOf, ParleyError } from '../base/errors';
import { type Localizable, localizable } from '../base/localizable';

const notExecutable = (): Localizable => localizable("the system doesn't allow running it");
const tooLong = (): Localizable => localizable('its arguments and environment are too long');
const tooManyFiles = (): Localizable => localizable('too many files are open');

const REASONS: Readonly<Record<string, () => Localizable>> = {
  EACCES: notExecutable,
  EPERM: notExecutable,
  ENOEXEC: () => localizable("it isn't a program for this system"),
  EBADARCH: () => localizable("it isn't a program for this processor"),
  ELOOP: () => localizable('its path contains a link loop'),
  E2BIG: tooLong,
  ENAMETOOLONG: tooLong,
  EAGAIN: () => localizable("this machine can't run more processes"),
  ENOMEM: () => localizable('this machine is out of memory'),
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  ETXTBSY: () => localizable('its file is being written'),
  ERR_INVALID_ARG_VALUE: () => localizable('an argument or a variable contains an invalid character'),
};

/**
 * The error to show for what `spawn` threw or emitted, or `planStart` said already.
 * @param command the absolute path that was started
 */
export async function spawnError(error: unknown, command: string): Promise<ParleyError> {
  if (error instanceof ParleyError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = code === 'ENOENT' ? await whyMissing(command) : (REASONS[code]?.() ?? messageOf(error));
  return new ParleyError('agent-spawn-failed', localizable("Couldn't start {0}: {1}.", command, reason), {
    hint: localizable('Check the agent in the setting parley.agents, and try the command in a terminal.'),
    cause: error,
  });
}

/** The file was there a moment ago: mostly it is a script whose interpreter is missing. */
async function whyMissing(command: string): Promise<Localizable> {
  const file = await open(command).catch(() => undefined);
  if (!file) return localizable("it doesn't exist");
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(256), position: 0 });
    const interpreter = /^#!\s*(.+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]?.trim();
    return interpreter
      ? localizable("the interpreter in its first line, {0}, doesn't exist", interpreter)
      : localizable("a file that it requires doesn't exist");
  } finally {
    await file.close();
  }
}
