// Runs git isolated from the user's environment and configuration.

import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { Pace } from '../../base/pace';
import { succeeds } from '../../base/within';

const IS_WINDOWS = process.platform === 'win32';
const MAX_OUTPUT = 256 * 1024 * 1024;
const MAX_STDERR = 4096;
/** Time for git to clean up after SIGTERM, in milliseconds. */
const TERM_MS = 2000;
/** Environment variables passed to git; none that git itself reads. */
const PASSED_VARIABLES = ['PATH', 'Path', 'SystemRoot', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR', 'DEVELOPER_DIR'];

export interface Git {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface GitRun {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Added to {@link Git.env}; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: Buffer;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxOutput?: number;
  /** Ends git after `maxOutput` and returns that much, instead of failing. */
  readonly cuts?: true;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly isCut: boolean;
  readonly stderr: string;
}

/**
 * Looks only in the absolute folders of `PATH`; git gets nothing else from `env` but what it needs
 * to start.
 */
export async function findGit(env: NodeJS.ProcessEnv): Promise<Git | undefined> {
  const path = env.PATH ?? env.Path ?? '';
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const program = join(folder, IS_WINDOWS ? 'git.exe' : 'git');
    if (await isProgram(program)) return { program, env: cleanEnvironment(env) };
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await access(path, constants.X_OK);
  } catch {
    return false;
  }
  // On macOS, this is a stub that opens a dialog unless the developer tools are installed.
  if (process.platform !== 'darwin' || path !== '/usr/bin/git') return true;
  return succeeds(access('/Library/Developer/CommandLineTools')).then(
    async (found) => found || succeeds(access('/Applications/Xcode.app/Contents/Developer')),
  );
}

function cleanEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const name of PASSED_VARIABLES) {
    const value = env[name];
    if (value !== undefined) clean[name] = value;
  }
  return {
    ...clean,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** To start a process blocks for a few milliseconds. */
const starts = new Pace();

/**
 * Kills git, and waits for its exit, on abort, timeout and too large output.
 * @throws ParleyError `git-aborted`, `git-timeout`, `git-output`, or `git-failed` if it can't be
 * started; not for exit codes
 */
export async function runGit(git: Git, run: GitRun): Promise<GitResult> {
  const turn = starts.turn();
  if (turn) await turn;
  return new Promise((resolve, reject) => {
    if (run.signal?.aborted) return reject(aborted());
    const child = spawn(git.program, [...run.args], {
      cwd: run.cwd,
      env: { ...git.env, ...run.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const output: Buffer[] = [];
    const maxOutput = run.maxOutput ?? MAX_OUTPUT;
    let size = 0;
    let stderr = '';
    let failure: ParleyError | undefined;
    let isCut = false;
    let killTimer: ReturnType<typeof setTimeout> | undefined;
    const kill = (): void => {
      child.kill('SIGTERM');
      killTimer ??= setTimeout(() => child.kill('SIGKILL'), TERM_MS);
    };
    const end = (why: ParleyError): void => {
      if (failure) return;
      failure = why;
      output.length = 0;
      kill();
    };
    const onAbort = (): void => end(aborted());
    run.signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(
      () => end(new ParleyError('git-timeout', localizable('Git took longer than {0} s.', run.timeoutMs / 1000))),
      run.timeoutMs,
    );
    const settle = (): void => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      run.signal?.removeEventListener('abort', onAbort);
    };
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (failure || isCut) return;
      if (size <= maxOutput) output.push(chunk);
      else if (run.cuts) {
        isCut = true;
        output.push(chunk.subarray(0, chunk.length - (size - maxOutput)));
        kill();
      } else end(new ParleyError('git-output', localizable('Git printed too much.')));
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += chunk.toString('utf8', 0, MAX_STDERR - stderr.length);
    });
    // Git may exit before it has read all input; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.on('error', (cause) => {
      settle();
      reject(new ParleyError('git-failed', localizable("Git couldn't be started."), { cause }));
    });
    child.on('close', (code) => {
      settle();
      if (failure) reject(failure);
      else resolve({ code: code ?? -1, stdout: Buffer.concat(output), isCut, stderr });
    });
    child.stdin.end(run.input);
  });
}

function aborted(): ParleyError {
  return new ParleyError('git-aborted', localizable('Canceled.'));
}

/** Like {@link runGit}, but also throws ParleyError `git-failed` for an exit code. */
export async function mustRunGit(git: Git, run: GitRun): Promise<Buffer> {
  const { code, stdout, stderr } = await runGit(git, run);
  if (code === 0) return stdout;
  throw new ParleyError('git-failed', localizable('Git failed: {0}', `${run.args[0]}: ${stderr.trim() || code}`));
}
