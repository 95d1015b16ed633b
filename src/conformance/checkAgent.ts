// Checks whether an agent keeps the protocol: opens sessions, sends a few short prompts, and judges
// the wire. Never rejects because of the agent; its failures are part of the report.
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../base/errors';
import { at } from '../base/untrusted';
import { judgeWire, type RuleVerdict } from './judge';
import type { ProtocolVersion } from './rules/rule';
import { type CheckOptions, DEFAULT_LIMITS, DEFAULT_PROMPTS } from './run/checkOptions';
import { runVersion } from './run/runVersion';
import { type WireLine, WireLog } from './wire/wireLog';

export interface VersionReport {
  readonly version: ProtocolVersion;
  readonly verdicts: readonly RuleVerdict[];
  readonly stopped?: string;
  readonly lines: readonly WireLine[];
}

export interface ConformanceReport {
  /** As the agent names itself; untrusted. */
  readonly agent: string;
  readonly versions: readonly VersionReport[];
}

/** @throws the reason of `signal`, with nothing left running */
export async function checkAgent(options: CheckOptions, signal: AbortSignal): Promise<ConformanceReport> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-check-')));
  const versions: VersionReport[] = [];
  let agent = '';
  try {
    for (const offer of options.versions) {
      const judgedVersions = versions.map(({ version }) => version);
      const { report, name } = await checkVersion(options, offer, judgedVersions, folder, signal);
      signal.throwIfAborted();
      agent ||= name;
      if (report) versions.push(report);
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  return { agent, versions };
}

async function checkVersion(
  options: CheckOptions,
  offer: ProtocolVersion,
  judgedVersions: readonly ProtocolVersion[],
  folder: string,
  signal: AbortSignal,
): Promise<{ report?: VersionReport; name: string }> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const log = new WireLog(limits.maxChars);
  const stop = new AbortController();
  let stopped: string | undefined;
  const stopCheck = (why: string): void => {
    stopped ??= why;
    stop.abort();
  };
  const timer = setTimeout(() => stopCheck(`the check took longer than ${limits.whole / 1000} s`), limits.whole);
  log.onLine(() => {
    if (log.isFull) stopCheck(`the agent sent more than ${limits.maxChars} characters`);
  });
  let version: ProtocolVersion | undefined;
  let name = '';
  try {
    const run = await runVersion({
      options,
      offer,
      judgedVersions,
      prompts: { ...DEFAULT_PROMPTS, ...options.prompts },
      limits,
      log,
      folder,
      signal: AbortSignal.any([signal, stop.signal]),
    });
    version = run.version;
    name = nameOf(run.description);
    stopped ??= run.stopped;
  } catch (error) {
    signal.throwIfAborted();
    stopped ??= `the agent could not be started: ${messageOf(error)}`;
  } finally {
    clearTimeout(timer);
  }
  const spoken = version ?? offer;
  // The agent speaks only a version that was judged already.
  if (judgedVersions.length > 0 && (judgedVersions.includes(spoken) || refusedVersion(log))) return { name };
  const { lines } = log;
  return {
    name,
    report: { version: spoken, verdicts: judgeWire(lines, spoken), lines, stopped },
  };
}

function refusedVersion({ lines }: WireLog): boolean {
  const answer = lines.find(({ dir, message }) => dir === 'received' && message?.method === undefined);
  const code = at(answer?.message, 'error', 'code');
  return code === -32022 || code === -32602;
}

function nameOf(description: unknown): string {
  const info = at(description, 'agentInfo') ?? at(description, 'info');
  const [title, version] = [at(info, 'title') ?? at(info, 'name'), at(info, 'version')];
  return [title, version].filter((part) => typeof part === 'string').join(' ');
}
