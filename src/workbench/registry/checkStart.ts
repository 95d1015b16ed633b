// Starts a program and checks that it answers `initialize` as an agent does.
import { mkdir } from 'node:fs/promises';
import type { Log } from '../../base/log';
import { checkAgent } from '../../client/connection/bareAgent';
import { Stages } from '../../client/transport/stages';
import type { ProgramStart } from '../../registry/install/installer';
import { startTimeoutMs } from '../config/settings';

export interface CheckOptions {
  /** Working directory: an empty folder, created if missing. */
  readonly folder: string;
  readonly version: string;
  readonly environment: (command: string) => Promise<Record<string, string>>;
  readonly log: Log;
}

/** @throws ParleyError with the reason and the last lines of stderr; the reason of `signal` */
export async function checkStart(start: ProgramStart, options: CheckOptions, signal: AbortSignal): Promise<void> {
  const { folder, version, environment, log } = options;
  await mkdir(folder, { recursive: true });
  const agent = { ...start, id: 'new', type: 'process', protocol: 'auto' } as const;
  const client = { name: 'parley', title: 'Parley', version };
  const services = { client, environment, log, startTimeoutMs };
  await checkAgent({ agent, cwd: folder, services, stages: new Stages(Date.now, () => {}) }, signal);
}
