// The orphan guard of Windows, which has neither process groups nor sh: a script for Node (which
// Electron is, when told).
import { LIST_ARGS, LIST_PROGRAM, TICK_MS } from './windowsProcesses';

/**
 * `+ 42 1000 1020` and `- 42` on stdin keep the list of processes, with when they were born. At the end of stdin they get a second to leave by
 * themselves (their stdin has ended too). Then those that are there end as a tree, and of the others what they have started until then.
 */
export const WINDOWS_GUARD = `
const { spawnSync } = require('child_process');
const { win32 } = require('path');
const system = (path) => win32.join(process.env.SystemRoot || 'C:\\\\Windows', 'System32', path);
const live = new Map();
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [op, pid, after, before] = line.split(' ');
  if (op === '+') live.set(+pid, { after: after - ${TICK_MS}, before: +before }); else live.delete(+pid);
}).on('close', () => {
  const ended = Date.now();
  if (live.size > 0) setTimeout(() => end(ended), 1000);
});
function end(ended) {
  const isBetween = (time, birth, end) => birth !== undefined && time >= birth.after && time <= end;
  const { stdout } = spawnSync(system(${JSON.stringify(LIST_PROGRAM)}), ${JSON.stringify(LIST_ARGS)}, { windowsHide: true, encoding: 'utf8' });
  for (const line of (stdout || '').split('\\n')) {
    const [pid, parent, time = ''] = line.trim().split(' ');
    const started = Date.parse(time.replace(/([.]\\d{3})\\d+/, '$1'));
    const own = live.get(+pid);
    if (isBetween(started, own, own?.before) || isBetween(started, live.get(+parent), ended))
      spawnSync(system('taskkill.exe'), ['/pid', pid, '/T', '/F'], { windowsHide: true });
  }
}
`;
