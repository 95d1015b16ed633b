// Which ports a process listens on, as the system knows it (Linux).
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * The TCP ports on which a process listens, in ascending order.
 * @throws Error if the system does not say
 */
export function listeningPorts(pid: number): readonly number[] {
  const sockets = new Set<string>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1];
      if (inode !== undefined) sockets.add(inode);
    } catch {
      // It was closed between the listing and the reading.
    }
  }
  const ports = new Set<number>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTEN && sockets.has(inode)) ports.add(Number.parseInt(local.split(':')[1] ?? '', 16));
    }
  }
  return [...ports].sort((a, b) => a - b);
}

const LISTEN = '0A';
