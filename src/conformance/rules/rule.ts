// A rule of the protocol or of a proposal, and how an agent keeps it.
import { redact } from '../../base/redact';
import type { Call, Life } from '../wire/life';
import type { Turn } from '../wire/turns';
import type { WireLine } from '../wire/wireLog';

export type ProtocolVersion = 1 | 2;

/**
 * `not-offered`: the agent does not advertise what the rule is about. `not-shown`: nothing on the
 * wire showed whether the agent keeps the rule.
 */
export type Verdict = 'conforms' | 'breaks' | 'not-offered' | 'not-shown';

export interface Finding {
  readonly verdict: Verdict;
  /** A phrase for people; may contain text of the agent. */
  readonly found: string;
  /** The lines that show it. */
  readonly lines: readonly WireLine[];
}

/** The parts of the protocol that are judged, in the order of the report. */
export const GROUPS = [
  'wire',
  'initialize',
  'new',
  'prompt',
  'cancel',
  'permission',
  'list',
  'load',
  'resume',
  'close',
  'session/ready',
  'session/status',
  'turn_complete',
  'prompt lifecycle',
] as const;
export type Group = (typeof GROUPS)[number];

export interface Rule {
  /** Stable: the group and a word, such as `cancel.reason`. */
  readonly id: string;
  readonly group: Group;
  /** What an agent has to do. */
  readonly rule: string;
  /** Where that is written. */
  readonly place: string | Readonly<Record<ProtocolVersion, string>>;
  /** Absent: both. */
  readonly version?: ProtocolVersion;
  judge(seen: Seen): Finding;
}

/** What an agent says it can do. */
export interface Offers {
  readonly ready: boolean;
  readonly status: boolean;
  readonly turnComplete: boolean;
  readonly load: boolean;
  readonly resume: boolean;
  readonly list: boolean;
  readonly close: boolean;
}

/** The wire of a check, read. */
export interface Seen {
  readonly version: ProtocolVersion;
  readonly lives: readonly Life[];
  readonly turns: readonly Turn[];
  readonly offers: Offers;
  /** Without it, nothing is known of what the agent offers. */
  readonly isInitialized: boolean;
  /** Requests of the client, of all processes. */
  calls(method: string): readonly Call[];
  /** Requests of the agent, of all processes. */
  questions(method: string): readonly Call[];
}

export function conforms(found: string, ...lines: readonly (WireLine | undefined)[]): Finding {
  return { verdict: 'conforms', found, lines: present(lines) };
}

export function breaks(found: string, ...lines: readonly (WireLine | undefined)[]): Finding {
  return { verdict: 'breaks', found, lines: present(lines) };
}

export function notOffered(what: string): Finding {
  return { verdict: 'not-offered', found: `${what} is not advertised`, lines: [] };
}

export function notShown(why: string): Finding {
  return { verdict: 'not-shown', found: why, lines: [] };
}

/**
 * Judges each of some cases.
 * @param judge returns undefined for a case that shows nothing
 * @returns the first break; else the first case that conforms; else what else was found; else `none`
 */
export function each<T>(cases: readonly T[], judge: (one: T) => Finding | undefined, none: Finding): Finding {
  const findings = cases.flatMap((one) => judge(one) ?? []);
  const first =
    findings.find(({ verdict }) => verdict === 'breaks') ??
    findings.find(({ verdict }) => verdict === 'conforms') ??
    findings[0];
  if (!first) return none;
  const times = findings.filter(({ verdict }) => verdict === first.verdict).length;
  return first.verdict === 'conforms' && times > 1 ? { ...first, found: `${first.found} (${times} times)` } : first;
}

/** Returns the finding for a request that lacks its answer; undefined if none is due. */
export function unanswered(
  { method, line, answer, late }: Call,
  { ended }: Pick<Life, 'ended'> = {},
): Finding | undefined {
  if (answer && !late) return undefined;
  if (late) return breaks(`${method} had no answer in time`, line, late, answer);
  return ended && breaks(`the agent ended before it answered ${method}`, line, ended);
}

/** Returns a value of the agent as a short text. Secrets go first: the rest of a cut one would stay. */
export function shown(value: unknown): string {
  const text = redact(JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function present(lines: readonly (WireLine | undefined)[]): readonly WireLine[] {
  return lines.filter((line) => line !== undefined).sort((one, other) => one.n - other.n);
}
