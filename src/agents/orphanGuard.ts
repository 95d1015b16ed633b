// Ends agents when the extension host dies without cleaning up. A helper process, a bare `sh` for
// all agents, holds the read end of a pipe from this process; when the pipe closes, it ends the
// agents whose process ids it was given.
import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { type ProcessBirth, WINDOWS_GUARD } from './windowsProcesses';

const IS_WINDOWS = process.platform === 'win32';

// `+ 42` and `- 42` on stdin maintain the list of process groups. When stdin closes, the script
// looks up descendants (tools may run in their own sessions), gives agents a second to exit on
// their own (their stdin has closed too), then sends SIGTERM, then SIGKILL. Every `kill` is spelt
// `-s NAME -- -PID`, the only form that dash, bash and busybox all accept.
const POSIX_SCRIPT = `
trap '' HUP INT TERM
live=' '
while read -r op pid; do
  case $op in
    +) live="$live$pid " ;;
    -) case $live in *" $pid "*) live="\${live%% $pid *} \${live#* $pid }" ;; esac ;;
  esac
done
children() { cat /proc/"$1"/task/*/children 2>/dev/null || pgrep -P "$1" 2>/dev/null; }
tree() { for one in $(children "$1"); do echo "$one"; tree "$one"; done; }
rest=' '
for pid in $live; do rest="$rest $(tree "$pid")"; done
to_all() {
  for pid in $live; do kill -s "$1" -- "-$pid" 2>/dev/null; done
  for pid in $rest; do kill -s "$1" -- "$pid" 2>/dev/null; done
}
wait_for_all() {
  n=$1
  while [ "$n" -gt 0 ]; do
    any=
    for pid in $live; do kill -s 0 -- "-$pid" 2>/dev/null && any=1; done
    for pid in $rest; do kill -s 0 -- "$pid" 2>/dev/null && any=1; done
    [ -z "$any" ] && return
    sleep 0.1
    n=$((n - 1))
  done
}
wait_for_all 10
to_all TERM
wait_for_all 20
to_all KILL
`;

/** Processes that the next start ends if they outlive this one. */
export interface OrphanList {
  add(birth: ProcessBirth): void;
  delete(pid: number): void;
}

const guarded = new Map<number, ProcessBirth>();
let helper: ChildProcess | undefined;
let list: OrphanList | undefined;

export function listGuarded(orphans: OrphanList): void {
  list = orphans;
}

/**
 * Ends a process group when this process ends, until `unguard`.
 * @param after a time before the group started, ms since 1970
 */
export function guard(pid: number, after: number, log: Log): void {
  const birth = { pid, after, before: Date.now() };
  guarded.set(pid, birth);
  list?.add(birth);
  if (helper) {
    send(addLine(birth));
    return;
  }
  try {
    helper = startHelper();
  } catch (error) {
    log.warn(`Agents would outlive a crash of this window: ${messageOf(error)}`);
    return;
  }
  const mine = helper;
  mine.on('error', (error) => log.warn(`Agents would outlive a crash of this window: ${messageOf(error)}`));
  mine.on('exit', () => {
    if (helper === mine) helper = undefined;
  });
  for (const guardedProcess of guarded.values()) send(addLine(guardedProcess));
}

/** On Windows with the start time: ids are reused. */
function addLine({ pid, after, before }: ProcessBirth): string {
  return IS_WINDOWS ? `+ ${pid} ${after} ${before}` : `+ ${pid}`;
}

export function unguard(pid: number): void {
  if (!guarded.delete(pid)) return;
  list?.delete(pid);
  send(`- ${pid}`);
  if (guarded.size > 0) return;
  helper?.stdin?.end();
  helper = undefined;
}

function startHelper(): ChildProcess {
  const options = { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] as ['pipe', 'ignore', 'ignore'] };
  const child = IS_WINDOWS
    ? spawn(process.execPath, ['-e', WINDOWS_GUARD], {
        ...options,
        windowsHide: true,
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      })
    : spawn('/bin/sh', ['-c', POSIX_SCRIPT, 'parley-guardian'], { ...options, env: { PATH: '/usr/bin:/bin' } });
  // The helper must neither keep this process alive nor affect it by exiting.
  child.unref();
  child.stdin.on('error', () => {});
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}

function send(line: string): void {
  if (helper?.stdin?.writable) helper.stdin.write(`${line}\n`);
}
