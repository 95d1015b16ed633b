// Explains why a process did not start. The names of system errors are of little use to people, and
// ENOENT is misleading.
import { open } from 'node:fs/promises';
import { messageOf, ParleyError } from '../base/errors';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'the system does not allow to execute it',
  EPERM: 'the system does not allow to execute it',
  ENOEXEC: 'it is not a program for this system',
  EBADARCH: 'it is a program for another kind of processor',
  ELOOP: 'its path is a circle of links',
  E2BIG: 'its arguments and environment are too long',
  ENAMETOOLONG: 'its arguments and environment are too long',
  EAGAIN: 'this machine cannot run more processes',
  ENOMEM: 'this machine is out of memory',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ETXTBSY: 'its file is being written just now',
  ERR_INVALID_ARG_VALUE: 'an argument or a variable holds a character that is not allowed',
};

/**
 * The error to show for what `spawn` threw or emitted.
 * @param command the absolute path that was started
 */
export async function spawnError(error: unknown, command: string): Promise<ParleyError> {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = code === 'ENOENT' ? await whyMissing(command) : (REASONS[code] ?? messageOf(error));
  return new ParleyError('agent-spawn-failed', `${command} could not be started: ${reason}.`, {
    hint: 'Check the agent in the setting parley.agents, and try the command in a terminal.',
    cause: error,
  });
}

/** The file was there a moment ago: mostly it is a script whose interpreter is missing. */
async function whyMissing(command: string): Promise<string> {
  const file = await open(command).catch(() => undefined);
  if (!file) return 'it does not exist';
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(256), position: 0 });
    const interpreter = /^#!\s*(.+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]?.trim();
    return interpreter
      ? `the program that its first line names, ${interpreter}, does not exist`
      : 'a file that it needs to run does not exist';
  } finally {
    await file.close();
  }
}
